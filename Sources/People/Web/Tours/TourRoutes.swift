internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Synchronization
internal import Tours

/// The rangers' pages of tours: list, editor, preview, visits. docs/tours.md.
package final class TourRoutes: Sendable {
    static let rangers: Set<Role> = [.ranger, .administrator]
    /// Larger than what else is handed in.
    package static let bodyBytesMaxByPath = [
        "/tour-media": TourMedium.videoBytesMax, "/tour-track": GPXTrack.bytesMax,
    ]
    static let draftsMax = 1_000

    let access: AccessControl
    let assets: AssetFiles
    let base: BaseMap
    /// Read when it is first needed.
    private let coarse = Mutex<CoarseMap?>(nil)

    package init(access: AccessControl, assets: AssetFiles, base: BaseMap) {
        self.access = access
        self.assets = assets
        self.base = base
    }

    package func add(to router: inout Router) {
        router.add("GET", "/tours") { [self] in list($0) }
        router.add("POST", "/tours") { [self] in begin($0) }
        router.add("GET", "/tours/{tour}") { [self] in edit($0) }
        router.add("GET", "/tours/{tour}/preview") { [self] in preview($0) }
        router.add("GET", "/tours/{tour}/visits") { [self] in visits($0) }
        addCalls(to: &router)
    }

    // MARK: Pages

    private func list(_ request: Request) -> Response {
        access.page(request, for: TourRoutes.rangers) { caller, connection in
            let drafts = try TourStore.drafts(most: TourRoutes.draftsMax, on: connection)
            return page(t("Tours"), caller, TourView.list(drafts, caller, notice: nil), crumb: nil)
        }
    }

    private func begin(_ request: Request) -> Response {
        access.form(request, for: TourRoutes.rangers) { caller, fields, connection in
            let area = TourRoutes.trimmed(fields["area"] ?? "")
            let tour = Tour(area: area)
            guard !area.isEmpty, (try? TourText.decode(TourRoutes.bytes(tour))) == tour else {
                let drafts = try TourStore.drafts(most: TourRoutes.draftsMax, on: connection)
                let said = t("Name the area, in at most \(Tour.areaBytesMax) bytes.")
                return page(t("Tours"), caller, TourView.list(drafts, caller, notice: said), crumb: nil, status: 422)
            }
            let id = TourRoutes.newID(area)
            guard
                try TourStore.add(
                    id, area: area, draft: TourRoutes.text(tour), by: caller.account, on: connection)
            else {
                return .problem(503, type: "busy", detail: "There is a tour of that id already. Try again.")
            }
            return .seeOther("/tours/\(id)")
        }
    }

    private func edit(_ request: Request) -> Response {
        access.page(request, for: TourRoutes.rangers) { caller, connection in
            guard let draft = try self.draft(request, on: connection) else { return TourRoutes.unknown }
            let near = try TourStore.lastChanged(besides: draft.tour, most: 5, on: connection)
                .lazy.compactMap { try? TourText.decode(Array($0.draft.utf8)).corners }.first
            return page(
                draft.area, caller, TourView.editor(draft, mark: caller.mark, near: near, base),
                script: "nature/tours.js")
        }
    }

    private func preview(_ request: Request) -> Response {
        access.page(request, for: TourRoutes.rangers) { caller, connection in
            guard let draft = try self.draft(request, on: connection) else { return TourRoutes.unknown }
            let types = try TourStore.mediaTypes(of: draft.tour, on: connection)
            let tour = try TourText.decode(Array(draft.draft.utf8))
            return page(
                draft.area, caller, TourView.preview(draft, tour, types, base), script: "nature/tour-preview.js")
        }
    }

    private func visits(_ request: Request) -> Response {
        access.page(request, for: TourRoutes.rangers) { caller, connection in
            guard let draft = try self.draft(request, on: connection) else { return TourRoutes.unknown }
            let days = try TourEventStore.days(of: draft.tour, most: 2_000, on: connection)
            let tour = try TourText.decode(Array(draft.draft.utf8))
            let titles = Dictionary(tour.waypoints.map { ($0.id, $0.title) }) { first, _ in first }
            return page(t("\(draft.area): visits"), caller, TourView.visits(draft, days, titles))
        }
    }

    // MARK: What they share

    func draft(
        _ request: Request, isLocked: Bool = false, on connection: Connection
    ) throws -> TourStore.Draft? {
        guard let id = request.parameters["tour"] ?? request.query["tour"], VehicleID.isValid(id.utf8) else {
            return nil
        }
        return try TourStore.draft(id, isLocked: isLocked, on: connection)
    }

    /// - Parameters:
    ///   - script: of a page with a map.
    private func page(
        _ title: String, _ caller: PageCaller, _ main: HTML, script: String? = nil,
        crumb: PageHeading.Crumb? = (t("Tours"), "/tours"),
        status: Int = 200
    ) -> Response {
        let hasMap = script != nil
        var page = PageShell(caller: caller, assets: assets).page(
            title, at: "/tours", heading: PageHeading(title, crumb: crumb),
            styles: (hasMap ? BaseMap.styles : []) + ["nature/tours.css"],
            scripts: script.map { BaseMap.scripts + ["nature/tour-map.js", $0] } ?? [], main: main)
        page.status = status
        return page
    }

    /// The base of trails where the operator has no tiles.
    var coarseMap: CoarseMap? {
        coarse.withLock { coarse in
            if coarse == nil { coarse = CoarseMap(geoJSON: assets.content("natural-earth.json")) }
            return coarse
        }
    }

    static let unknown = Response.problem(404, type: "not-found", detail: "There is no such tour. /tours lists them.")

    static func text(_ tour: Tour) -> String { TourText.encode(tour).rendered() }
    static func bytes(_ tour: Tour) -> [UInt8] { Array(text(tour).utf8) }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// `hill-walk-3fa2c1`: readable, and nobody else's.
    private static func newID(_ area: String) -> String {
        let words = area.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-")
        return (words.isEmpty ? "tour" : String(words.prefix(40))) + "-" + Hex.text(Secrets.random(3))
    }
}
