import Presentation
import Testing

/// A page in another language: texts come from its catalogue, and nothing else changes.
@Suite struct LanguageTests {
    static let two = "nplurals=2; plural=(n != 1);"

    static func catalogue(_ entries: String, plural: String = two) throws -> Catalogue {
        try Catalogue(
            po: """
                msgid ""
                msgstr ""
                "Content-Type: text/plain; charset=UTF-8\\n"
                "Plural-Forms: \(plural)\\n"

                \(entries)
                """)
    }

    static func read(_ texts: KeyValuePairs<String, String>) throws -> Language {
        func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
        let entries = texts.map { "msgid \(quoted($0.key))\nmsgstr \(quoted($0.value))\n" }
        return Language(tag: "xx", try catalogue(entries.joined(separator: "\n")))
    }

    static func inLanguage<R>(_ language: Language, _ body: () -> R) -> R {
        Language.$current.withValue(language, operation: body)
    }

    // MARK: Texts

    @Test func englishIsAsItStands() {
        #expect(t("Saved") == "Saved")
        #expect(t("\("a") of \(3), 100 % of %1") == "a of 3, 100 % of %1")
        #expect(HTML.t("\("<b>") & co").markup == "&lt;b&gt; &amp; co")
        #expect(Language.currentTag == "en")
    }

    @Test func valuesFollowTheTranslation() throws {
        let language = try Self.read(["%1 of %2": "%2:sta %1", "Saved": "Tallennettu", "%1 % full": "%1 % täynnä"])
        Self.inLanguage(language) {
            #expect(t("\(3) of \("abc")") == "abc:sta 3")
            #expect(t("Saved") == "Tallennettu")
            #expect(t("Not there") == "Not there")
            // What a value says is no text and no place of another value.
            #expect(t("\("Saved") of \("%1")") == "%1:sta Saved")
            #expect(t("\(40) % full") == "40 % täynnä")
            #expect(Language.currentTag == "xx")
        }
        #expect(t("Saved") == "Saved")
    }

    static let plurals: [(name: String, rule: String, forms: [String], of: [Int: String])] = [
        ("Finnish", two, ["%1 rivi", "%1 riviä"], [0: "0 riviä", 1: "1 rivi", 2: "2 riviä", 21: "21 riviä"]),
        (
            "Polish",
            "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
            ["%1 wiersz", "%1 wiersze", "%1 wierszy"],
            [1: "1 wiersz", 2: "2 wiersze", 5: "5 wierszy", 12: "12 wierszy", 22: "22 wiersze"]
        ),
        (
            "Russian",
            "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
            ["%1 строка", "%1 строки", "%1 строк"], [1: "1 строка", 11: "11 строк", 21: "21 строка", 103: "103 строки"]
        ),
        (
            "Arabic",
            "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
            ["a %1", "b %1", "c %1", "d %1", "e %1", "f %1"],
            [0: "a 0", 1: "b 1", 2: "c 2", 7: "d 7", 11: "e 11", 100: "f 100", 110: "d 110"]
        ),
        ("Japanese", "nplurals=1; plural=0;", ["%1行"], [0: "0行", 1: "1行", 7: "7行"]),
    ]

    @Test(arguments: plurals.indices) func numbersTakeTheirForm(row: Int) throws {
        let (name, rule, forms, wanted) = Self.plurals[row]
        let lines = forms.enumerated().map { "msgstr[\($0)] \"\($1)\"" }.joined(separator: "\n")
        let entry = "msgid \"%1 row\"\nmsgid_plural \"%1 rows\"\n\(lines)\n"
        let language = Language(tag: "xx", try Self.catalogue(entry, plural: rule))
        for (count, text) in wanted {
            let said = Self.inLanguage(language) { t(count, one: "\(count) row", many: "\(count) rows") }
            #expect(said == text, "\(name)")
        }
        #expect(t(1, one: "\(1) row", many: "\(1) rows") == "1 row")
        #expect(t(0, one: "\(0) row", many: "\(0) rows") == "0 rows")
    }

    // MARK: HTML

    @Test func sentencesKeepTheirTagsAndValues() throws {
        let language = try Self.read([
            "Times in %1, %2 units. <a>Change</a>": "<a>Muuta</a>: %2, %1",
            "<b>%1</b> assigned it to <b2>%2</b2>": "<b2>%2</b2> sai sen, antoi <b>%1</b>",
            "Columns": "Sarakkeet", "Search": "Etsi", "About %1": "Tietoja: %1", "Home": "Koti",
        ])
        let (zone, units, hostile) = ("Europe/Helsinki", "metric", "<Home>\"&")
        Self.inLanguage(language) {
            let place: HTML =
                "<p class=\"soft\">\n  Times in \(zone),\n  \(units) units. <a href=\"/account?x=\(1)\">Change</a></p>"
            #expect(
                place.markup == "<p class=\"soft\">\n  <a href=\"/account?x=1\">Muuta</a>: metric, Europe/Helsinki</p>")
            let told: HTML = "<li><b>\(hostile)</b> assigned it to <b class=\"x\">\("Home")</b></li>"
            #expect(
                told.markup
                    == "<li><b class=\"x\">Home</b> sai sen, antoi <b>&lt;Home&gt;&quot;&amp;</b></li>")
            // An icon beside a word, a literal within another, attributes.
            let icon: HTML = "<svg><use/></svg>"
            let menu: HTML = """
                <summary class="btn" title="Search">\(icon)Columns</summary>
                <label for="a">Search</label> \(" title=\"About \(zone)\"", if: true)<a aria-label="About \(hostile)" data-title="Home">\("<b>Home</b>")</a>
                """
            #expect(
                menu.markup == """
                    <summary class="btn" title="Etsi"><svg><use/></svg>Sarakkeet</summary>
                    <label for="a">Etsi</label>  title="Tietoja: Europe/Helsinki"<a aria-label="Tietoja: &lt;Home&gt;&quot;&amp;" data-title="Home"><b>Koti</b></a>
                    """)
        }
    }

    @Test func dataIsNeverTranslated() throws {
        let language = try Self.read(["Home": "Koti", "Search": "Etsi", "<b>%1</b> is late": "<b>%1</b> on myöhässä"])
        let name = "Home"
        Self.inLanguage(language) {
            #expect(("<p>\(name)</p>" as HTML).markup == "<p>Home</p>")
            #expect(
                ("<p title=\"\(name)\"><b>\(name)</b> is late</p>" as HTML).markup
                    == "<p title=\"Home\"><b>Home</b> on myöhässä</p>")
            // Neither are names of classes, code, scripts, comments, or what belongs to no tag.
            #expect(("Home" as HTML).markup == "Home")
            #expect(("<code>Home</code>" as HTML).markup == "<code>Home</code>")
            #expect(
                ("<style>Home</style><!-- Home --><p>Home</p>" as HTML).markup
                    == "<style>Home</style><!-- Home --><p>Koti</p>")
            #expect(HTML(name).markup == "Home")
        }
    }

    @Test func elementsSideBySideAreTextsOfTheirOwn() throws {
        let language = try Self.read(["Home": "Koti", "Search": "Etsi"])
        Self.inLanguage(language) {
            let links: HTML = "<p><a href=\"/\">Home</a> · <a href=\"/s\"><span>Search</span></a><b>\(3)</b></p>"
            #expect(links.markup == "<p><a href=\"/\">Koti</a> · <a href=\"/s\"><span>Etsi</span></a><b>3</b></p>")
            // The other end of a tag may stand in another literal.
            let open: HTML = "<p><b>Home"
            #expect((open + "</b> <i>Search</i></p>").markup == "<p><b>Koti</b> <i>Etsi</i></p>")
            #expect((" checked>Home</label>" as HTML).markup == " checked>Koti</label>")
        }
    }

    // MARK: Files

    static let refusals: [(entry: String, says: String)] = [
        ("msgid \"%1 of %2\"\nmsgstr \"%1\"", "%2 is missing"),
        ("msgid \"%1\"\nmsgstr \"%1 %1\"", "twice"),
        ("msgid \"a\"\nmsgstr \"%1\"", "not in the English text"),
        ("msgid \"<b>a</b>\"\nmsgstr \"a\"", "<b> is missing"),
        ("msgid \"<b>a</b>\"\nmsgstr \"</b>a<b>\"", "closes another tag"),
        ("msgid \"a\"\nmsgstr \"<script>a\"", "not in the English text"),
        ("msgid \"a\"\nmsgstr \"<IMG src=x>\"", "< is not in the English text"),
        ("msgid \"<b>a</b>\"\nmsgstr \"<b>a</b><img src=x>\"", "< is not in the English text"),
        ("msgid \"a\"\nmsgstr \"a\u{F0001}\"", "private use"),
        ("msgid \"a &amp; b\"\nmsgstr \"a & b\"", "&amp;"),
        ("msgid \"a\"\nmsgstr \"a &lt; b\"", "stands for itself"),
        ("msgid \"a\"\nmsgstr \"a\\nb\"", "line break"),
        ("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"", "1 forms, must have 2"),
        ("msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"a\"\nmsgstr \"b\"", "twice"),
        ("msgid \"a\"", "no msgstr"), ("msgid \"a\nmsgstr \"b\"", "does not end"), ("msgid \"\\x\"", "no escape"),
        ("what \"a\"", "does not stand here"), ("nonsense", "not understood"),
    ]

    @Test(arguments: refusals) func whatWouldBreakAPageIsRefused(entry: String, says: String) {
        let fault = #expect(throws: Catalogue.Fault.self) { _ = try Self.catalogue(entry) }
        #expect(fault?.text.contains(says) == true, "\(String(describing: fault))")
        #expect((fault?.line ?? 0) >= 1)
    }

    @Test(arguments: [
        "nplurals=0; plural=0", "nplurals=2; plural=n", "nplurals=2; plural=(n", "nplurals=2; plural=n 1", "plural=0",
        "nplurals=2; plural=x", "nplurals=9; plural=0", "nplurals=2; plural=" + String(repeating: "(", count: 200),
        "nplurals=2; plural=" + String(repeating: "!", count: 200),
    ])
    func badRulesAreRefused(rule: String) {
        #expect(throws: Catalogue.Fault.self) { _ = try Self.catalogue("", plural: rule) }
    }

    @Test func whatIsNotTranslatedStaysEnglish() throws {
        let language = Language(
            tag: "xx",
            try Self.catalogue(
                """
                # A comment
                #, fuzzy
                msgid "Home"
                msgstr "Talo"

                msgid "Search"
                msgstr ""

                #: Sources/a.swift
                msgid ""
                "Several "
                "lines"
                msgstr ""
                "Monta "
                "riviä"

                #~ msgid "Old"
                #~ msgstr "Vanha"
                """))
        Self.inLanguage(language) {
            #expect(t("Home") == "Home" && t("Search") == "Search" && t("Old") == "Old")
            #expect(t("Several lines") == "Monta riviä")
        }
        #expect(language.count == 1)
    }

    @Test func filesAreBounded() {
        #expect(throws: Catalogue.Fault.self) { _ = try Catalogue(po: String(repeating: "#\n", count: 3 << 20)) }
        let many = (0...Catalogue.entriesMax).map { "msgid \"m\($0)\"\nmsgstr \"a\"\n" }.joined()
        #expect(throws: Catalogue.Fault.self) { _ = try Self.catalogue(many) }
    }

    @Test func scriptsGetTheirsOnly() throws {
        let language = Language(
            tag: "xx",
            try Self.catalogue(
                """
                #: Sources/a.swift
                msgid "Home"
                msgstr "Koti"

                #: Assets/map.js
                msgid "%1 row"
                msgid_plural "%1 rows"
                msgstr[0] "%1 rivi"
                msgstr[1] "%1 riviä"
                """))
        #expect(
            language.scriptTexts { "\"\($0)\"" }
                == #"{"rule":["!=","n",1],"texts":{"%1 row":["%1 rivi","%1 riviä"]}}"#)
    }
}
