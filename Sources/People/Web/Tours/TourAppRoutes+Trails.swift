internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage
internal import Tours

/// Trail tours in a browser: the content of `/v1/tours`, by area, with a map. No log-in, and without script only the interactive map is
/// missing.
extension TourAppRoutes {
    /// The beginning of a package holds its texts and its trail.
    private static let beginParts = 3

    func addTrails(to router: inout Router) {
        router.add("GET", "/trail-tours") { [self] in trails($0) }
        router.add("GET", "/trail-tours/{tour}") { [self] in trail($0) }
    }

    private func trails(_ request: Request) -> Response {
        let after = (request.query["after"] ?? "").isEmpty ? nil : request.query["after"]
        if let after, !VehicleID.isValid(after.utf8) { return TourAppRoutes.noTrail }
        return answered {
            let most = TourAppRoutes.listMax / 2
            let tours = try pool.withConnection { try TourVersionStore.list(after: after, most: most, on: $0) }
            let items: [HTML] = tours.map { tour in
                """
                <li><h2><a href="/trail-tours/\(tour.tour)">\(tour.area)</a></h2>
                <p class="soft">\(t(tour.waypoints, one: "\(tour.waypoints) waypoint", many: "\(tour.waypoints) waypoints")), version \(tour.version) of \(UTC.dateText(tour.publishedMs)), \(TourAppRoutes.size(tour.bytes))</p>
                <p>\(TourAppRoutes.download(tour.tour, tour.version, tour.bytes, of: tour.area))</p></li>
                """
            }
            let next: HTML =
                tours.count == most
                ? "<p><a href=\"/trail-tours?after=\(tours.last!.tour)\" rel=\"next\">More tours</a></p>" : ""
            return PublicShell(assets: assets).page(
                t("Trail tours"), styles: ["nature/surveys.css"],
                main: """
                    <h1>Trail tours</h1>
                    <p>Download a tour to your phone: map, texts and pictures work without a network.</p>
                    \(items.isEmpty ? "<section class=\"card\">\(HTML.emptyState(.tour, t("No tours yet"), .t("A tour shows here once a ranger publishes it.")))</section>" : "<ul class=\"trails\">\(items.joined())</ul>")
                    \(next)
                    """
            ).with("Cache-Control", "no-cache")
        }
    }

    private static let noTrail = Response.problem(
        404, type: "not-found", detail: "There is no such tour. /trail-tours lists what was published.")

    private static func size(_ bytes: Int64) -> String {
        Decimal.text(max(1, Decimal.divided(bytes, by: 100_000)), decimals: 1) + " MB"
    }

    private static func download(_ tour: String, _ version: Int, _ bytes: Int64, of area: String) -> HTML {
        "<a class=\"btn\" href=\"/v1/tours/\(tour)/versions/\(version)/package\" aria-label=\"Download \(area), \(size(bytes))\">Download, \(size(bytes))</a>"
    }

    private func trail(_ request: Request) -> Response {
        guard let tour = TourAppRoutes.tour(request) else { return TourAppRoutes.noTrail }
        return answered {
            guard
                let newest = try pool.withConnection({
                    try TourVersionStore.newest(tour, parts: TourAppRoutes.beginParts, on: $0)
                })
            else { return TourAppRoutes.noTrail }
            let document = try JSONValue(Array(newest.document.utf8))
            let waypoints = (document["waypoints"]?.items ?? []).compactMap { item -> Waypoint? in
                guard let place = Position(degrees: item["latitude"]?.double, item["longitude"]?.double) else {
                    return nil
                }
                return Waypoint(
                    id: item["id"]?.text ?? "", place: place, title: item["title"]?.text ?? "",
                    text: item["text"]?.text ?? "")
            }
            let page = TrailView(
                tour: tour, area: document["area"]?.text ?? tour, text: document["text"]?.text ?? "",
                lengthM: document["walk"]?["length_m"]?.integer ?? 0,
                minutes: document["walk"]?["walking_min"]?.integer ?? 0, waypoints: waypoints,
                corners: ["south_west", "north_east"].compactMap {
                    TourAppRoutes.place(document["corners"]?[$0], isLongitudeFirst: false)
                },
                line: TourAppRoutes.line(newest.begin),
                download: TourAppRoutes.download(
                    tour, newest.version, newest.package.bytes, of: document["area"]?.text ?? tour),
                about: t("Version \(newest.version) of \(UTC.dateText(newest.package.publishedMs))"))
            return PublicShell(assets: assets).page(
                page.area, styles: BaseMap.styles + ["nature/tours.css", "nature/surveys.css"],
                scripts: BaseMap.scripts + ["nature/tour-map.js", "nature/tour-preview.js"], main: page.html(base)
            ).with("Cache-Control", "no-cache")
        }
    }

    private static func place(_ pair: JSONValue?, isLongitudeFirst: Bool) -> Position? {
        guard let pair = pair?.items, pair.count == 2 else { return nil }
        let (first, second) = (pair[0].double, pair[1].double)
        return isLongitudeFirst ? Position(degrees: second, first) : Position(degrees: first, second)
    }

    /// The trail as the package's map has it.
    private static func line(_ begin: [UInt8]) -> [Position] {
        guard let map = StoredArchive.file("map.geojson", in: begin),
            let tree = try? JSONValue(map, valuesMax: 1_000_000),
            let trail = tree["features"]?.items?.first(where: { $0["properties"]?["kind"]?.text == "trail" })
        else { return [] }
        return (trail["geometry"]?["coordinates"]?.items ?? []).compactMap { place($0, isLongitudeFirst: true) }
    }
}

/// A published tour.
private struct TrailView {
    let tour, area, text: String
    let lengthM, minutes: Int64
    let waypoints: [Waypoint]
    let corners, line: [Position]
    let download: HTML
    let about: String

    func html(_ base: BaseMap) -> HTML {
        let items: [HTML] = waypoints.map { waypoint in
            """
            <li data-place="\(waypoint.place.text)"><h2>\(waypoint.title)</h2>
            \(TourView.paragraphs(waypoint.text))</li>
            """
        }
        let frame = corners.map(\.text).joined(separator: " ")
        let trail = line.map(\.text).joined(separator: " ")
        return """
            <h1>\(area)</h1>
            <p><a href="/trail-tours">All trail tours</a></p>
            \(TourView.paragraphs(text))
            <p class="soft">\(about): \(waypoints.count) waypoints, \(Decimal.text(Decimal.divided(lengthM, by: 10), decimals: 2)) km in straight lines, about \(minutes) min without stops.</p>
            <p>\(download)</p>
            <div id="player" class="card player" hidden><p id="player-said" role="status"></p>
            <p class="tools"><button type="button" class="btn" id="player-back">Previous stop</button>
            <button type="button" class="btn primary" id="player-on">Next stop</button>
            <button type="button" class="btn" id="player-follow">Follow me</button></p></div>
            <noscript>\(drawing)</noscript>
            <div id="map" class="map" role="region" aria-label="Map of the tour; the list has its waypoints" data-frame="\(frame)" data-line="\(trail)" \(base.attributes)></div>
            <ol id="waypoints" class="waypoints">
            \(items.joined(separator: "\n"))
            </ol>
            """
    }

    /// The trail and the waypoints in their frame, north up, for browsers without scripts.
    private var drawing: HTML {
        guard corners.count == 2 else { return "" }
        let (south, west) = (Double(corners[0].latitude), Double(corners[0].longitude))
        let (north, east) = (Double(corners[1].latitude), Double(corners[1].longitude))
        guard north > south, east > west else { return "" }
        func at(_ place: Position) -> String {
            let x = (Double(place.longitude) - west) / (east - west) * 300
            let y = (north - Double(place.latitude)) / (north - south) * 150
            return "\(Int(x.rounded())) \(Int(y.rounded()))"
        }
        let path = line.enumerated().map { ($0.offset == 0 ? "M" : "L") + at($0.element) }.joined()
        let dots = waypoints.map { waypoint -> HTML in
            let place = at(waypoint.place).split(separator: " ").map(String.init)
            return "<circle cx=\"\(place[0])\" cy=\"\(place[1])\" r=\"4\"/>"
        }
        return
            "<svg class=\"trail\" viewBox=\"0 0 300 150\" role=\"img\" aria-label=\"The trail with its waypoints, north is up\"><path d=\"\(path)\"/>\(dots.joined())</svg>"
    }
}
