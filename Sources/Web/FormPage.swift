internal import Fleet
internal import Reports
internal import Secrets

/// A page around a form, and the form's fields. Everything from outside is escaped.
enum FormPage {
    struct Notice {
        let text: String
        let isFault: Bool
        static func fault(_ text: String) -> Notice { Notice(text: text, isFault: true) }
        static func done(_ text: String) -> Notice { Notice(text: text, isFault: false) }
    }

    enum Field {
        case hidden(String, String)
        case input(String, String, String, String, String)
        case optional(String, String, String, String)
        case newPassword(String, String)
        case check(String, String)
        case choice(String, String, [(value: String, text: String)], String)
        /// One of some, each with the address of its picture.
        case pictures(String, String, [(value: String, text: String, picture: String?)], String)
        /// Some lines of text.
        case lines(String, String, String)
        /// Some of a set of boxes, all of one name.
        case boxes(String, String, [(value: String, text: String)], Set<String>)
    }

    static func page(_ title: String, _ notice: Notice?, _ body: String) -> String {
        HTMLText.page(
            title: "Drover: \(title.lowercased())",
            body: "<main class=\"narrow\">\n\(main(title, notice, body))\n</main>")
    }

    /// What stands in `main`.
    static func main(_ title: String, _ notice: Notice?, _ body: String) -> String {
        let said = notice.map {
            "<p role=\"\($0.isFault ? "alert" : "status")\" class=\"\($0.isFault ? "critical" : "soon")\">"
                + HTMLText.escaped($0.text) + "</p>"
        }
        return "<h1>\(HTMLText.escaped(title))</h1>\n\(said ?? "")\n\(body)"
    }

    /// - Parameter id: sets the ids of fields of several forms of one page apart.
    static func form(_ action: String, _ fields: [Field], _ button: String, id: String = "") -> String {
        "<form class=\"fields\" method=\"post\" action=\"\(action)\">\n"
            + fields.map { html($0, id) }.joined(separator: "\n")
            + "\n<button>\(HTMLText.escaped(button))</button>\n</form>\n"
    }

    private static func html(_ field: Field, _ form: String) -> String {
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
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\"> \(HTMLText.escaped(label))</label>"
        case .choice(let name, let label, let values, let chosen):
            choice(name, label, values, chosen, form)
        case .pictures(let name, let label, let values, let chosen): pictures(name, label, values, chosen)
        case .lines(let name, let label, let value):
            "<label for=\"\(HTMLText.escaped(form))-\(name)\">\(HTMLText.escaped(label))</label>\n<textarea id=\"\(HTMLText.escaped(form))-\(name)\" name=\"\(name)\" rows=\"6\" "
                + "autocomplete=\"off\">\(HTMLText.escaped(value))</textarea>"
        case .boxes(let name, let label, let values, let chosen):
            "<fieldset><legend>\(HTMLText.escaped(label))</legend>"
                + values.map {
                    "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"\($0.value)\""
                        + "\(chosen.contains($0.value) ? " checked" : "")> \(HTMLText.escaped($0.text))</label>"
                }.joined() + "</fieldset>"
        }
    }

    private static func choice(
        _ name: String, _ label: String, _ values: [(value: String, text: String)], _ chosen: String, _ form: String
    ) -> String {
        let id = HTMLText.escaped(form.isEmpty ? name : "\(form)-\(name)")
        let options = values.map { value, text in
            "<option value=\"\(HTMLText.escaped(value))\"\(value == chosen ? " selected" : "")>\(HTMLText.escaped(text))</option>"
        }
        return "<label for=\"\(id)\">\(HTMLText.escaped(label))</label>\n<select id=\"\(id)\" name=\"\(name)\">"
            + options.joined() + "</select>"
    }

    private static func pictures(
        _ name: String, _ label: String, _ values: [(value: String, text: String, picture: String?)], _ chosen: String
    ) -> String {
        let choices = values.map { value, text, picture in
            let picture = picture.map { "<img src=\"\(HTMLText.escaped($0))\" alt=\"\"> " } ?? ""
            return "<label class=\"check\"><input type=\"radio\" name=\"\(name)\" value=\"\(HTMLText.escaped(value))\""
                + "\(value == chosen ? " checked" : "")> \(picture)\(HTMLText.escaped(text))</label>"
        }
        return "<fieldset class=\"pictures\"><legend>\(HTMLText.escaped(label))</legend>\(choices.joined())</fieldset>"
    }

    private static func text(
        _ name: String, _ label: String, _ type: String, _ value: String, _ fill: String, _ more: String,
        _ form: String
    ) -> String {
        let id = HTMLText.escaped(form.isEmpty ? name : "\(form)-\(name)")
        // One id a page: two forms of the account's page have a field `password`-like each, with names of their own.
        return
            "<label for=\"\(id)\">\(HTMLText.escaped(label))</label>\n<input id=\"\(id)\" name=\"\(name)\" type=\"\(type)\" "
            + "value=\"\(HTMLText.escaped(value))\" autocomplete=\"\(fill)\" maxlength=\"254\"\(more)>"
    }

    static func hidden(_ name: String, _ value: String) -> String {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTMLText.escaped(value))\">"
    }

    static func time(_ ms: Int64) -> String { String(UTC.text(ms).prefix(16).replacing("T", with: " ")) }
}
