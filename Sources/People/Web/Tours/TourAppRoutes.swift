internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
package import HTTPServer
package import Ingest
internal import Storage
package import Telemetry

/// Trail tours for visitors' phones: the list, resumable packages, later reports. No log-in: docs/tours.md.
package final class TourAppRoutes: Sendable {
    /// The list's pages.
    static let listMax = 200
    static let versionsMax = 40
    let pool: ConnectionPool
    let assets: AssetFiles
    let base: BaseMap
    let uploads: UploadSender
    let cache = PackageCache()
    let budget = PushLimiter()
    let tellsPerMinute: Int
    let log: Log

    /// - Parameter tellsPerMinute: requests of one address; phones behind one address share them.
    package init(
        conninfo: String, uploads: UploadSender, assets: AssetFiles, base: BaseMap, tellsPerMinute: Int, log: Log
    ) {
        pool = ConnectionPool(conninfo: conninfo)
        self.tellsPerMinute = tellsPerMinute
        self.uploads = uploads
        self.assets = assets
        self.base = base
        self.log = log
    }

    package func add(to router: inout Router) {
        router.add("GET", "/v1/tours") { [self] in list($0) }
        router.add("GET", "/v1/tours/{tour}") { [self] in show($0) }
        router.add("GET", "/v1/tours/{tour}/versions/{version}/package") { [self] in send($0, isDelta: false) }
        router.add("GET", "/v1/tours/{tour}/versions/{version}/delta") { [self] in send($0, isDelta: true) }
        router.add("POST", "/v1/tour-visits") { [self] in acceptVisits($0) }
        addTrails(to: &router)
    }

    // MARK: Lists

    private func list(_ request: Request) -> Response {
        let most = request.query["limit"].map { Int($0) ?? 0 } ?? TourAppRoutes.listMax
        guard (1...TourAppRoutes.listMax).contains(most) else {
            return .problem(400, type: "limit", detail: "limit must be 1 to \(TourAppRoutes.listMax).")
        }
        let after = request.query["after"]
        if let after, !VehicleID.isValid(after.utf8) {
            return .problem(400, type: "after", detail: "after must be the id of a tour.")
        }
        return answered {
            let tours = try pool.withConnection { try TourVersionStore.list(after: after, most: most, on: $0) }
            let next = tours.count == most ? tours.last.map { "/v1/tours?limit=\(most)&after=\($0.tour)" } : nil
            return Response.json(
                JSONValue.object([
                    ("tours", .list(tours.map(TourAppRoutes.entry))), ("next", .optional(next)),
                ]).rendered(indent: true)
            ).conditional(request)
        }
    }

    private func show(_ request: Request) -> Response {
        guard let tour = TourAppRoutes.tour(request) else { return TourAppRoutes.unknown }
        return answered {
            let packages = try pool.withConnection {
                try TourVersionStore.packages(of: tour, most: 2 * TourAppRoutes.versionsMax, on: $0)
            }
            guard let newest = packages.first else { return TourAppRoutes.unknown }
            let versions = packages.filter { $0.fromVersion == 0 }.map { whole -> JSONValue in
                let delta = packages.first { $0.version == whole.version && $0.fromVersion > 0 }
                return .object([
                    ("version", .integer(Int64(whole.version))), ("published_at", .text(UTC.text(whole.publishedMs))),
                    ("package", TourAppRoutes.file(whole, of: tour)),
                    ("delta", delta.map { TourAppRoutes.file($0, of: tour) } ?? .null),
                ])
            }
            return Response.json(
                JSONValue.object([
                    ("tour", .text(tour)), ("newest", .integer(Int64(newest.version))), ("versions", .list(versions)),
                ]).rendered(indent: true)
            ).conditional(request)
        }
    }

    private static func entry(_ tour: TourVersionStore.Listed) -> JSONValue {
        .object([
            ("tour", .text(tour.tour)), ("area", .text(tour.area)), ("version", .integer(Int64(tour.version))),
            ("waypoints", .integer(Int64(tour.waypoints))), ("bytes", .integer(tour.bytes)),
            ("sha256", .text(Hex.text(tour.digest))), ("published_at", .text(UTC.text(tour.publishedMs))),
            ("package", .text("/v1/tours/\(tour.tour)/versions/\(tour.version)/package")),
        ])
    }

    private static func file(_ package: TourVersionStore.Package, of tour: String) -> JSONValue {
        let name = package.fromVersion == 0 ? "package" : "delta"
        var fields: [JSONValue.Field] = [
            ("path", .text("/v1/tours/\(tour)/versions/\(package.version)/\(name)")),
            ("bytes", .integer(package.bytes)), ("sha256", .text(Hex.text(package.digest))),
        ]
        if package.fromVersion > 0 { fields.append(("from_version", .integer(Int64(package.fromVersion)))) }
        return .object(fields)
    }

    // MARK: Packages

    private func send(_ request: Request, isDelta: Bool) -> Response {
        guard let tour = TourAppRoutes.tour(request), let version = request.parameters["version"].flatMap({ Int($0) }),
            (1...TourEvent.versionMax).contains(version)
        else { return TourAppRoutes.unknown }
        return answered {
            let found = try pool.withConnection { connection -> (TourVersionStore.Package, FileBody)? in
                let from = isDelta ? version - 1 : 0
                guard !isDelta || from > 0,
                    let package = try TourVersionStore.package(
                        tour, version: version, fromVersion: from, on: connection)
                else { return nil }
                let key = PackageCache.Key(tour: tour, version: version, fromVersion: from)
                return (package, try cache.file(key, package, on: connection))
            }
            guard let (package, file) = found else { return TourAppRoutes.unknown }
            let name = "\(tour)-\(isDelta ? "\(package.fromVersion)-" : "")\(version).zip"
            return .file(
                file, to: request, tag: "\"\(Hex.text(package.digest))\"",
                headers: [
                    ("Content-Type", "application/zip"),
                    ("Content-Disposition", "attachment; filename=\"\(name)\""),
                    // Of the whole file, whatever part is sent (RFC 9530, 3).
                    ("Repr-Digest", "sha-256=:\(Base64.text(package.digest)):"),
                    ("Cache-Control", "public, max-age=31536000, immutable"),
                    ("Content-Security-Policy", "default-src 'none'; sandbox"),
                ])
        }
    }

    // MARK: What they share

    static func tour(_ request: Request) -> String? {
        request.parameters["tour"].flatMap { VehicleID.isValid($0.utf8) ? $0 : nil }
    }

    static let unknown = Response.problem(
        404, type: "not-found", detail: "There is no such tour or version. /v1/tours lists what was published.")

    func answered(_ body: () throws -> Response) -> Response {
        do {
            return try body()
        } catch {
            log.error("a tour could not be served", ["error": "\(error)"])
            return .problem(
                503, type: "database", detail: "Tours cannot be looked up right now. Try again in a moment."
            ).with("Retry-After", "5")
        }
    }
}
