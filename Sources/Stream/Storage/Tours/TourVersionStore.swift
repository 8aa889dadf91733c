package import Postgres

/// Published versions of tours and their archives, which never change.
package enum TourVersionStore {
    /// The newest version of a tour, as it is listed.
    package struct Listed: Sendable {
        package let tour, area: String
        package let version, waypoints: Int
        package let bytes: Int64
        package let digest: [UInt8]
        package let publishedMs: Int64
    }

    package struct Package: Sendable {
        package let version: Int
        /// 0: whole; else the version that it leads on from.
        package let fromVersion: Int
        package let bytes: Int64
        package let digest: [UInt8]
        package let publishedMs: Int64
    }

    /// A version to be published.
    package struct Made: Sendable {
        let version: Int
        let area, document, files: String
        let waypoints: [String]
        /// Whole, and from the version before.
        let archives: [(fromVersion: Int, content: [UInt8], digest: [UInt8])]

        package init(
            version: Int, area: String, document: String, files: String, waypoints: [String],
            archives: [(fromVersion: Int, content: [UInt8], digest: [UInt8])]
        ) {
            self.version = version
            self.area = area
            self.document = document
            self.files = files
            self.waypoints = waypoints
            self.archives = archives
        }
    }

    private static let partBytes = 1 << 20

    // MARK: Publishing

    /// Precondition: within the transaction that has locked the draft.
    package static func publish(_ made: Made, of tour: String, by account: String, on connection: Connection) throws {
        let key: [Parameter] = [.text(tour), .int4(Int32(made.version))]
        try connection.query(
            """
            INSERT INTO drover.tour_version (tour, version, area, document, files, waypoint_ids, published_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            key + [
                .text(made.area), .text(made.document), .text(made.files), .textArray(made.waypoints), .text(account),
            ])
        for archive in made.archives {
            let from = Parameter.int4(Int32(archive.fromVersion))
            try connection.query(
                "INSERT INTO drover.tour_package (tour, version, from_version, bytes, digest) VALUES ($1, $2, $3, $4, $5)",
                key + [from, .int8(Int64(archive.content.count)), .bytes(archive.digest)])
            for (number, start) in stride(from: 0, to: archive.content.count, by: partBytes).enumerated() {
                let part = Array(archive.content[start..<min(start + partBytes, archive.content.count)])
                try connection.query(
                    """
                    INSERT INTO drover.tour_package_part (tour, version, from_version, number, content)
                    VALUES ($1, $2, $3, $4, $5)
                    """, key + [from, .int4(Int32(number)), .bytes(part)])
            }
        }
    }

    /// JSON of a version's files, and the digest of its archive; nil: there is no such version.
    package static func files(
        _ tour: String, version: Int, on connection: Connection
    ) throws -> (files: String, digest: [UInt8])? {
        try connection.query(
            """
            SELECT v.files, p.digest FROM drover.tour_version v JOIN drover.tour_package p USING (tour, version)
            WHERE v.tour = $1 AND v.version = $2 AND p.from_version = 0
            """, [.text(tour), .int4(Int32(clamping: version))]
        ).first.map { (try $0.text(0)!, try $0.bytes(1)!) }
    }

    // MARK: Reading

    /// By area name.
    /// - Parameter after: the tour that the page before ended with.
    package static func list(after: String?, most: Int, on connection: Connection) throws -> [Listed] {
        try connection.query(
            """
            SELECT tour, area, version, waypoints, bytes, digest, published_at FROM drover.tour_published
            WHERE $1::text IS NULL
                OR (sorted_area, tour) > (SELECT o.sorted_area, o.tour FROM drover.tour_published o WHERE o.tour = $1)
            ORDER BY sorted_area, tour LIMIT $2
            """, [.text(after), .int8(most)]
        ).map { row in
            Listed(
                tour: try row.text("tour")!, area: try row.text("area")!, version: try row.int("version")!,
                waypoints: try row.int("waypoints")!, bytes: Int64(try row.int("bytes")!),
                digest: try row.bytes("digest")!, publishedMs: try row.timestampMs("published_at")!)
        }
    }

    /// Newest version first, of each the whole archive first.
    package static func packages(of tour: String, most: Int, on connection: Connection) throws -> [Package] {
        try connection.query(
            """
            SELECT p.version, p.from_version, p.bytes, p.digest, v.published_at
            FROM drover.tour_package p JOIN drover.tour_version v USING (tour, version)
            WHERE p.tour = $1 ORDER BY p.version DESC, p.from_version LIMIT $2
            """, [.text(tour), .int8(most)]
        ).map(Package.init)
    }

    package static func package(
        _ tour: String, version: Int, fromVersion: Int, on connection: Connection
    ) throws -> Package? {
        try connection.query(
            """
            SELECT p.version, p.from_version, p.bytes, p.digest, v.published_at
            FROM drover.tour_package p JOIN drover.tour_version v USING (tour, version)
            WHERE p.tour = $1 AND p.version = $2 AND p.from_version = $3
            """, [.text(tour), .int4(Int32(clamping: version)), .int4(Int32(clamping: fromVersion))]
        ).first.map(Package.init)
    }

    /// Nil: past the end.
    package static func part(
        _ number: Int, of package: Package, tour: String, on connection: Connection
    ) throws -> [UInt8]? {
        try connection.query(
            """
            SELECT content FROM drover.tour_package_part
            WHERE tour = $1 AND version = $2 AND from_version = $3 AND number = $4
            """,
            [
                .text(tour), .int4(Int32(package.version)), .int4(Int32(package.fromVersion)), .int4(Int32(number)),
            ]
        ).first.map { try $0.bytes(0)! }
    }

    /// The newest version: its tour.json, and the begin of its archive, at most `parts` MiB.
    package static func newest(
        _ tour: String, parts: Int, on connection: Connection
    ) throws -> (version: Int, document: String, package: Package, begin: [UInt8])? {
        guard let package = try packages(of: tour, most: 1, on: connection).first else { return nil }
        let key: [Parameter] = [.text(tour), .int4(Int32(package.version))]
        guard
            let document = try connection.query(
                "SELECT document FROM drover.tour_version WHERE tour = $1 AND version = $2", key
            ).first?.text(0)
        else { return nil }
        var begin: [UInt8] = []
        for number in 0..<parts {
            guard let part = try part(number, of: package, tour: tour, on: connection) else { break }
            begin += part
        }
        return (package.version, document, package, begin)
    }

    /// Ids of the waypoints of versions; those that are not there are left out.
    package static func waypoints(
        of versions: [(tour: String, version: Int)], on connection: Connection
    ) throws -> [String: [Int: Set<String>]] {
        var found: [String: [Int: Set<String>]] = [:]
        for row in try connection.query(
            """
            SELECT v.tour, v.version, v.waypoint_ids FROM drover.tour_version v
            WHERE (v.tour, v.version) IN (SELECT * FROM unnest($1::text[], $2::int[]))
            """, [.textArray(versions.map(\.tour)), .int4Array(versions.map { Int32(clamping: $0.version) })])
        {
            found[try row.text(0)!, default: [:]][try row.int(1)!] = Set(try row.textArray(2)!.compactMap { $0 })
        }
        return found
    }
}

extension TourVersionStore.Package {
    fileprivate init(_ row: Row) throws {
        version = try row.int("version")!
        fromVersion = try row.int("from_version")!
        bytes = Int64(try row.int("bytes")!)
        digest = try row.bytes("digest")!
        publishedMs = try row.timestampMs("published_at")!
    }
}
