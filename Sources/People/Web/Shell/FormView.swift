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

    indirect enum Field: Sendable {
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
        /// A field with what stands around it: made by `unit`, `help`, `fault` and `attributes`.
        case dressed(Field, Dress)

        /// Behind the value: `km/h`
        func unit(_ unit: String) -> Field { dressed { $0.unit = unit } }
        /// Below it, in a few words.
        func help(_ text: String) -> Field { dressed { $0.help = text } }
        /// Why what was typed is not taken; nil: it was not asked, or is.
        func fault(_ text: String?) -> Field { text.map { text in dressed { $0.fault = text } } ?? self }
        /// Of the `input`, like ` inputmode="numeric"`.
        func attributes(_ attributes: HTML) -> Field { dressed { $0.attributes = attributes } }

        private func dressed(_ put: (inout Dress) -> Void) -> Field {
            guard case .dressed(let field, var dress) = self else {
                var dress = Dress()
                put(&dress)
                return .dressed(self, dress)
            }
            put(&dress)
            return .dressed(field, dress)
        }
    }

    /// What stands around a field.
    struct Dress: Sendable {
        var unit: String?
        var help: String?
        var fault: String?
        var attributes: HTML = ""
    }

    /// - Parameters:
    ///   - head: what else stands in the head.
    ///   - icon: of the browser's tab.
    ///   - isEntrance: with the picture of the way in beside it, where there is room.
    static func page(
        _ title: String, _ notice: Notice?, _ body: HTML, head: HTML = "", icon: String = "/assets/mark.svg",
        isEntrance: Bool = false
    ) -> HTML {
        HTML.document(
            title: "\(title) · Drover",
            // Without the content's version: these pages are made where no assets are at hand, and are seldom opened.
            head: """
                <link rel="icon" href="\(icon)">
                <link rel="stylesheet" href="/assets/tokens.css">
                <link rel="stylesheet" href="/assets/pages.css">
                \(head)
                """,
            body: """
                <header class="public"><a class="brand" href="/" aria-label="Drover, home">\(PageShell.mark)<span>Drover</span></a></header>
                <main class="main narrow">
                \(main(title, notice, body))
                </main>
                \(PublicShell.footer)
                """, bodyClass: isEntrance ? "public entrance" : "public")
    }

    /// The content of `main`.
    static func main(_ title: String, _ notice: Notice?, _ body: HTML) -> HTML {
        "<h1>\(title)</h1>\n\(notice.map(HTML.notice))\n\(body)"
    }

    /// What came of a submission, then the rest: for pages whose heading stands in the bar on top.
    static func said(_ notice: Notice?, _ body: HTML) -> HTML { "\(notice.map(HTML.notice))\n\(body)" }

    /// - Parameters:
    ///   - id: sets the ids of fields of several forms of one page apart.
    ///   - note: below the fields.
    static func form(_ action: String, _ fields: [Field], _ button: String, id: String = "", note: HTML = "") -> HTML {
        """
        <form class="fields form" method="post" action="\(action)">
        \(fields.map { html($0, id) }.joined(separator: "\n"))
        \(note)<button class="btn primary">\(button)</button>
        </form>

        """
    }

    private static func html(_ field: Field, _ form: String, _ dress: Dress = Dress()) -> HTML {
        func id(_ name: String) -> String { form.isEmpty ? name : "\(form)-\(name)" }
        switch field {
        case .dressed(let field, let dress): return html(field, form, dress)
        case .hidden(let name, let value): return hidden(name, value)
        case .input(let name, let label, let type, let value, let fill):
            return text(name, label, type, value, fill, " required", id(name), dress)
        case .optional(let name, let label, let value, let fill):
            return text(name, label, "text", value, fill, "", id(name), dress)
        case .newPassword(let name, let label):
            let least: HTML = " required minlength=\"\(Password.length.lowerBound)\""
            return text(name, label, "password", "", "new-password", least, id(name), dress)
        case .check(let name, let label):
            return "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\"> \(label)</label>"
        case .choice(let name, let label, let values, let chosen):
            let options = HTML.options(values.map { ($0.value, $0.text) }, chosen)
            return around(
                label, id(name), dress,
                "<select id=\"\(id(name))\" name=\"\(name)\"\(said(id(name), dress))>\(options)</select>")
        case .pictures(let name, let label, let values, let chosen): return pictures(name, label, values, chosen)
        case .lines(let name, let label, let value):
            return around(
                label, id(name), dress,
                "<textarea id=\"\(id(name))\" name=\"\(name)\" rows=\"6\" autocomplete=\"off\"\(said(id(name), dress))>\(value)</textarea>"
            )
        case .boxes(let name, let label, let values, let chosen): return boxes(name, label, values, chosen)
        }
    }

    /// The label above a field, and what stands around it.
    static func around(_ label: String, _ id: String, _ dress: Dress, _ field: HTML) -> HTML {
        let unit: HTML? = dress.unit.map { "<span class=\"in\">\(field)<span class=\"unit\">\($0)</span></span>" }
        let help: HTML? = dress.help.map { "<span class=\"help\" id=\"\(id)-help\">\($0)</span>" }
        let fault: HTML? = dress.fault.map { "<span class=\"err\" id=\"\(id)-fault\">\(HTML.icon(.warn))\($0)</span>" }
        return """
            <div class="fld\(" bad", if: dress.fault != nil)"><label for="\(id)">\(label)</label>\(unit ?? field)\(fault)\(help)</div>
            """
    }

    /// What screen readers say with the field.
    private static func said(_ id: String, _ dress: Dress) -> HTML {
        let ids = [dress.fault.map { _ in "\(id)-fault" }, dress.help.map { _ in "\(id)-help" }].compactMap { $0 }
        let described: HTML = ids.isEmpty ? "" : " aria-describedby=\"\(ids.joined(separator: " "))\""
        return "\(described)\(" aria-invalid=\"true\"", if: dress.fault != nil)"
    }

    private static func boxes(_ name: String, _ label: String, _ values: [Field.Option], _ chosen: Set<String>) -> HTML
    {
        let boxes: [HTML] = values.map { value, text in
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"\(value)\"\(" checked", if: chosen.contains(value))> \(text)</label>"
        }
        return "<fieldset class=\"boxes\"><legend>\(label)</legend>\(boxes.joined())</fieldset>"
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

    /// One id a page: two forms of the account's page have a field `password`-like each, with names of their own.
    private static func text(
        _ name: String, _ label: String, _ type: String, _ value: String, _ fill: String, _ more: HTML, _ id: String,
        _ dress: Dress
    ) -> HTML {
        // Of times and numbers the type says what may stand there.
        let isText = ["text", "search", "email", "password", "tel", "url"].contains(type)
        return around(
            label, id, dress,
            """
            <input id="\(id)" name="\(name)" type="\(type)" value="\(value)" autocomplete="\(fill)"\(" maxlength=\"254\"", if: isText)\(more)\(dress.attributes)\(said(id, dress))>
            """)
    }

    static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }

    static func time(_ ms: Int64) -> String { String(UTC.text(ms).prefix(16).replacing("T", with: " ")) }
}

extension PageCaller {
    /// The hidden fields of a form of theirs: its mark and what else it says.
    func hidden(_ more: [(String, String)] = []) -> HTML {
        ([(CSRFGuard.field, mark)] + more).map { FormView.hidden($0.0, $0.1) }.joined()
    }
}
