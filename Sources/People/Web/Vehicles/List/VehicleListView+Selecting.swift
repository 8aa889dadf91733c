internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// What is done with machines of the list: with one, or with those that are selected.
extension VehicleListView {
    var mayConnect: Bool { !caller.roles.isDisjoint(with: FleetRoutes.keepers) }

    private var hasMachines: Bool { rows.contains { $0.kind == .machine } }

    /// The forms that check boxes and buttons of the rows belong to. That of the check boxes asks for a page or a file.
    var bulk: HTML {
        guard hasMachines else { return "" }
        let here = address(["page": page == 1 ? "" : String(page)])
        let asked: HTML = here == "/vehicles" ? "?said=asked" : "&amp;said=asked"
        let connect: HTML = """
            <form id="connect" method="post" action="/vehicles" hidden>\(FormView.hidden(CSRFGuard.field, caller.mark))\
            \(FormView.hidden("id", AlertAction.newID()))<input type="hidden" name="next" value="\(here)\(asked)"></form>
            """
        let marks: HTML = """
            <input type="hidden" name="next" value="\(here)">\
            <button class="btn small" formaction="/vehicles/marks">\(HTML.icon(.tag))Class and tags</button>
            """
        return """
            <form class="bulk" id="bulk" method="get" action="/vehicles/stickers"><b id="selected">Selected machines</b>
            \(own == nil ? "" : marks)
            <label for="paper">Stickers on</label><select class="box" id="paper" name="paper">\(StickerSheet.Paper.options(caller))</select>\
            <button class="btn small">\(HTML.icon(.qr))QR stickers</button>
            <span class="grow"></span><button class="btn small ghost" type="reset" hidden>Clear</button></form>
            \(mayConnect ? connect : "")
            """
    }

    func select(_ row: VehicleListRow) -> HTML {
        guard row.kind == .machine else { return hasMachines ? "<span class=\"check-gap\"></span>" : "" }
        return """
            <input type="checkbox" class="check" name="vehicle" value="\(row.vehicle)" form="bulk" aria-label="Select \(row.name ?? row.vehicle)">
            """
    }

    /// For all boxes of the page; a script shows it.
    var all: HTML {
        "<input type=\"checkbox\" class=\"check\" id=\"all\" aria-label=\"Select all machines on this page\" hidden> "
    }

    /// Stickers of all that is listed.
    var stickers: HTML {
        guard hasMachines, kind != .car, state.isEmpty else { return "" }
        let all = address(["kind": "", "sort": "", "disabled": ""], of: "/vehicles/stickers")
        let start: HTML = all == "/vehicles/stickers" ? "\(all)?paper=" : "\(all)&amp;paper="
        // The usual one first.
        let usual = StickerSheet.Paper.standard(caller)
        let papers = [usual] + StickerSheet.Paper.allCases.filter { $0 != usual }
        let links: [HTML] = papers.map { "<a href=\"\(start)\($0.rawValue)\">\(HTML.icon(.qr))\($0.words)</a>" }
        return """
            <details class="menu end hide-phone"><summary class="btn small">\(HTML.icon(.qr))QR stickers</summary>\
            <div class="pop"><div class="eyebrow">A PDF of all that is listed, on</div>\(links.joined())</div></details>
            """
    }

    func connect(_ row: VehicleListRow) -> HTML {
        guard mayConnect, row.kind == .machine, !row.isDisabled else { return "" }
        return """
            <button class="btn small icon ghost" form="connect" formaction="/vehicles/\(encoded: row.vehicle)/download" \
            data-connect="\(row.vehicle)" aria-label="Connect to \(row.name ?? row.vehicle)" title="Connect: download now">\(HTML.icon(.plug))</button>
            """
    }

    func classCell(_ row: VehicleListRow) -> HTML {
        guard let ownClass = row.ownClass else { return "<td class=\"off\"></td>" }
        return "<td data-l=\"\(t("Class"))\"><a href=\"/vehicles?class=\(encoded: ownClass)\">\(ownClass)</a></td>"
    }
}

/// The words of their own that a dealer has given machines.
struct DealerWords {
    private static let wordsMax: Int64 = 200

    let classes: [String]
    let tags: [String]

    init(_ queries: ReportQueries, on connection: Connection) throws {
        let rows = try connection.query(queries["dealer_words"], [.int8(DealerWords.wordsMax)])
        func words(_ what: String) throws -> [String] {
            try rows.filter { try $0.text("what") == what }.compactMap { try $0.text("word") }
        }
        (classes, tags) = (try words("class"), try words("tag"))
    }

    /// Of the list's form.
    func filters(_ ownClass: String, _ ownTag: String) -> HTML {
        func choice(_ name: String, _ label: HTML, _ any: String, _ words: [String], _ chosen: String) -> HTML {
            guard !words.isEmpty || !chosen.isEmpty else { return "" }
            // A word that no machine has any more is still what is asked for.
            let known = words.contains(chosen) || chosen.isEmpty ? words : words + [chosen]
            return """
                <label><span class="sr">\(label)</span><select class="box" name="\(name)">\
                \(HTML.options([("", any)] + known.map { ($0, $0) }, chosen))</select></label>
                """
        }
        return choice("class", .t("Class"), t("Class: any"), classes, ownClass)
            + choice("own", .t("My tag"), t("My tag: any"), tags, ownTag)
    }

    /// Only the dealer sees it.
    static func tag(_ text: String) -> HTML {
        "<a class=\"tag own\" title=\"Only you see it\" href=\"/vehicles?own=\(encoded: text)\">\(HTML.icon(.tag))\(text)</a>"
    }
}

extension VehicleView.About {
    /// A dealer's class and tags in one line; nil: none.
    var ownWords: String? {
        let words = [ownClass].compactMap { $0 } + ownTags
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
