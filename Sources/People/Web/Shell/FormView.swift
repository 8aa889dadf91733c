internal import Basics
internal import Crypto
internal import Presentation

/// A page around a form, and the form's fields.
enum FormView {
    struct Notice {
        let text: String
        let isFault: Bool
        static func fault(_ text: String) -> Notice { Notice(text: text, isFault: true) }
        static func done(_ text: String) -> Notice { Notice(text: text, isFault: false) }
    }

    enum Field {
        /// A value of a choice, and how people read it.
        typealias Option = (value: String, text: String)

        case hidden(name: String, value: String)
        case input(name: String, label: String, type: String, value: String, autocomplete: String)
        case optional(name: String, label: String, value: String, autocomplete: String)
        case newPassword(name: String, label: String)
        case check(name: String, label: String)
        case choice(name: String, label: String, of: [Option], chosen: String)
        /// One of some, each with the address of its picture.
        case pictures(
            name: String, label: String, of: [(value: String, text: String, picture: String?)], chosen: String)
        /// Some lines of text.
        case lines(name: String, label: String, value: String)
        /// Some of a set of boxes, all of one name.
        case boxes(name: String, label: String, of: [Option], chosen: Set<String>)
    }

    /// - Parameter head: what else stands in the head.
    static func page(_ title: String, _ notice: Notice?, _ body: HTML, head: HTML = "") -> HTML {
        HTML.page(
            title: "Drover: \(title.lowercased())", head: head,
            body: "<main class=\"narrow\">\n\(main(title, notice, body))\n</main>")
    }

    /// The content of `main`.
    static func main(_ title: String, _ notice: Notice?, _ body: HTML) -> HTML {
        "<h1>\(title)</h1>\n\(notice.map(HTML.notice))\n\(body)"
    }

    /// - Parameter id: sets the ids of fields of several forms of one page apart.
    static func form(_ action: String, _ fields: [Field], _ button: String, id: String = "") -> HTML {
        """
        <form class="fields" method="post" action="\(action)">
        \(fields.map { html($0, id) }.joined(separator: "\n"))
        <button>\(button)</button>
        </form>

        """
    }

    private static func html(_ field: Field, _ form: String) -> HTML {
        switch field {
        case .hidden(let name, let value): hidden(name, value)
        case .input(let name, let label, let type, let value, let fill):
            text(name, label, type, value, fill, " required", form)
        case .optional(let name, let label, let value, let fill): text(name, label, "text", value, fill, "", form)
        case .newPassword(let name, let label):
            text(
                name, label, "password", "", "new-password", " required minlength=\"\(Password.length.lowerBound)\"",
                form)
        case .check(let name, let label):
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\"> \(label)</label>"
        case .choice(let name, let label, let values, let chosen):
            choice(name, label, values, chosen, form)
        case .pictures(let name, let label, let values, let chosen): pictures(name, label, values, chosen)
        case .lines(let name, let label, let value):
            "<label for=\"\(form)-\(name)\">\(label)</label>\n<textarea id=\"\(form)-\(name)\" name=\"\(name)\" rows=\"6\" autocomplete=\"off\">\(value)</textarea>"
        case .boxes(let name, let label, let values, let chosen):
            boxes(name, label, values, chosen)
        }
    }

    private static func boxes(
        _ name: String, _ label: String, _ values: [(value: String, text: String)], _ chosen: Set<String>
    ) -> HTML {
        let boxes: [HTML] = values.map { value, text in
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"\(value)\"\(" checked", if: chosen.contains(value))> \(text)</label>"
        }
        return "<fieldset><legend>\(label)</legend>\(boxes.joined())</fieldset>"
    }

    private static func choice(
        _ name: String, _ label: String, _ values: [(value: String, text: String)], _ chosen: String, _ form: String
    ) -> HTML {
        let id = form.isEmpty ? name : "\(form)-\(name)"
        let options = HTML.options(values.map { ($0.value, $0.text) }, chosen)
        return
            "<label for=\"\(id)\">\(label)</label>\n<select id=\"\(id)\" name=\"\(name)\">\(options)</select>"
    }

    private static func pictures(
        _ name: String, _ label: String, _ values: [(value: String, text: String, picture: String?)], _ chosen: String
    ) -> HTML {
        let choices: [HTML] = values.map { value, text, picture in
            let picture: HTML? = picture.map { "<img src=\"\($0)\" alt=\"\"> " }
            return
                "<label class=\"check\"><input type=\"radio\" name=\"\(name)\" value=\"\(value)\"\(value == chosen ? " checked" : "")> \(picture)\(text)</label>"
        }
        return "<fieldset class=\"pictures\"><legend>\(label)</legend>\(choices.joined())</fieldset>"
    }

    private static func text(
        _ name: String, _ label: String, _ type: String, _ value: String, _ fill: String, _ more: HTML,
        _ form: String
    ) -> HTML {
        let id = form.isEmpty ? name : "\(form)-\(name)"
        // One id a page: two forms of the account's page have a field `password`-like each, with names of their own.
        return
            "<label for=\"\(id)\">\(label)</label>\n<input id=\"\(id)\" name=\"\(name)\" type=\"\(type)\" value=\"\(value)\" autocomplete=\"\(fill)\" maxlength=\"254\"\(more)>"
    }

    static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    static func time(_ ms: Int64) -> String { String(UTC.text(ms).prefix(16).replacing("T", with: " ")) }
}
