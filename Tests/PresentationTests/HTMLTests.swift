import Presentation
import Testing

/// What is forgotten is escaped; only literals of ours are not.
@Suite struct HTMLTests {
    static let hostile = "<script>\"'&"
    static let harmless = "&lt;script&gt;&quot;&#39;&amp;"

    @Test func literalsStand() {
        #expect(("<p class=\"a\">it's</p>" as HTML).markup == "<p class=\"a\">it's</p>")
        #expect(HTML().isEmpty)
    }

    @Test func textsAreEscaped() {
        let page: HTML = "<p title=\"\(Self.hostile)\">\(Self.hostile)</p>"
        #expect(page.markup == "<p title=\"\(Self.harmless)\">\(Self.harmless)</p>")
        #expect(HTML(Self.hostile).markup == Self.harmless)
        #expect(HTML("grüße 日本 👍").markup == "grüße 日本 👍")
    }

    @Test func htmlIsNotEscapedAgain() {
        let name: HTML = "<b>\(Self.hostile)</b>"
        let page: HTML = "<p>\(name)</p>"
        #expect(page.markup == "<p><b>\(Self.harmless)</b></p>")
    }

    @Test(arguments: [true, false]) func partsMayBeMissing(isThere: Bool) {
        let part: HTML? = isThere ? "<br>" : nil
        #expect(("a\(part)b" as HTML).markup == (isThere ? "a<br>b" : "ab"))
        #expect(
            ("a\("<i>\(Self.hostile)</i>", if: isThere)b" as HTML).markup
                == (isThere ? "a<i>\(Self.harmless)</i>b" : "ab"))
    }

    /// Where a literal stands between the parentheses it is HTML, as everywhere; a text beside it is none.
    @Test func choicesOfLiteralsAreHTML() {
        for isChosen in [true, false] {
            let option: HTML = "<option\(isChosen ? " selected=\"\"" : "")>\(isChosen ? Self.hostile : "none")</option>"
            let wanted = isChosen ? "<option selected=\"\">\(Self.harmless)</option>" : "<option>none</option>"
            #expect(option.markup == wanted)
        }
        let name: String? = Self.hostile
        #expect(("\(name ?? "<none>")" as HTML).markup == Self.harmless)
        #expect(("\(name.map { "<b>\($0)</b>" } ?? "")" as HTML).markup == "<b>\(Self.harmless)</b>")
    }

    @Test func listsAreJoined() {
        let items: [HTML] = ["a", Self.hostile].map { "<li>\($0)</li>" }
        #expect(items.joined().markup == "<li>a</li><li>\(Self.harmless)</li>")
        #expect(
            ("<ul>\(items.joined(separator: "\n"))</ul>" as HTML).markup
                == "<ul><li>a</li>\n<li>\(Self.harmless)</li></ul>")
        #expect([HTML]().joined(separator: ", ").isEmpty)
        #expect(("<br>" + HTML(Self.hostile)).markup == "<br>\(Self.harmless)")
    }

    @Test func numbersAndPartsOfAddresses() {
        let link: HTML = "<a href=\"/x/\(encoded: "a/b?c=\"d\"&é")?n=\(-5)&amp;m=\(Int64.max)\">"
        #expect(link.markup == "<a href=\"/x/a%2Fb%3Fc%3D%22d%22%26%C3%A9?n=-5&amp;m=9223372036854775807\">")
    }

    @Test func tablesEscapeWhatTheyAreGiven() {
        let table = HTML.table(
            caption: Self.hostile, headers: [.text(Self.hostile), .word("b")],
            rows: [[.text(Self.hostile), "<i>b</i>"], [.text(nil), nil]], empty: "", narrow: .cards)
        #expect(!table.markup.contains("<script>"))
        #expect(table.markup.contains("<td data-l=\"\(Self.harmless)\">\(Self.harmless)</td>"))
        #expect(table.markup.contains(#"<td class="nowrap" data-l="b"><i>b</i></td>"#))
        #expect(table.markup.contains("<td data-l=\"\(Self.harmless)\">–</td>"))
        let empty = HTML.table(caption: "c", headers: [], rows: [], empty: Self.hostile)
        #expect(
            empty.markup
                == "<section class=\"card\"><header><h2>c</h2></header><p class=\"empty\">\(Self.harmless)</p></section>"
        )
    }

    @Test func pagesEscapeTheirTitle() {
        let page = HTML.page(title: Self.hostile, body: "<p>b</p>")
        #expect(page.markup.contains("<title>\(Self.harmless)</title>"))
        #expect(page.markup.contains("<body>\n<p>b</p>\n</body>"))
    }
}
