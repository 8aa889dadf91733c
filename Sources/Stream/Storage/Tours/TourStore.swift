package import Postgres

/// Rangers' tours: drafts and media, and what was published of them.
package enum TourStore {
    package struct Draft: Sendable {
        package let tour, area, draft, changedBy: String
        /// Counts the changes.
        package let revision: Int
        package let changedMs: Int64
        /// The newest one that was published; 0: none.
        package let version: Int
    }

    package struct Medium: Sendable {
        package let mediaType: String
        package let content: [UInt8]
        package init(mediaType: String, content: [UInt8]) { (self.mediaType, self.content) = (mediaType, content) }
    }

    package enum Kept: Sendable { case kept, full, unknown }

    /// The most media of a tour, in use or not: those not used go after a day.
    package static let mediaMax = 400
    package static let mediaBytesMax: Int64 = 512 << 20

    private static let draftColumns = """
        t.tour, t.area, t.draft, t.revision, t.changed_at, t.changed_by,
        coalesce((SELECT max(v.version) FROM drover.tour_version v WHERE v.tour = t.tour), 0) AS version
        """

    // MARK: Drafts

    /// By area name.
    package static func drafts(most: Int, on connection: Connection) throws -> [Draft] {
        try connection.query(
            "SELECT \(draftColumns) FROM drover.tour t ORDER BY t.area COLLATE \"und-x-icu\", t.tour LIMIT $1",
            [.int8(most)]
        ).map(Draft.init)
    }

    /// The last changed first.
    package static func lastChanged(besides tour: String, most: Int, on connection: Connection) throws -> [Draft] {
        try connection.query(
            "SELECT \(draftColumns) FROM drover.tour t WHERE t.tour <> $1 ORDER BY t.changed_at DESC, t.tour LIMIT $2",
            [.text(tour), .int8(most)]
        ).map(Draft.init)
    }

    /// - Parameter isLocked: until the transaction ends nobody else changes or publishes it.
    package static func draft(_ tour: String, isLocked: Bool = false, on connection: Connection) throws -> Draft? {
        try connection.query(
            "SELECT \(draftColumns) FROM drover.tour t WHERE t.tour = $1 \(isLocked ? "FOR UPDATE" : "")", [.text(tour)]
        ).first.map(Draft.init)
    }

    /// False: there is one of that id.
    package static func add(
        _ tour: String, area: String, draft: String, by account: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            """
            INSERT INTO drover.tour (tour, account, area, draft, changed_by) VALUES ($1, $2, $3, $4, $2)
            ON CONFLICT (tour) DO NOTHING
            """, [.text(tour), .text(account), .text(area), .text(draft)]
        ).rowsChanged == 1
    }

    /// The new revision; nil: somebody else has changed it since `revision`, or there is none.
    /// - Parameter media: those that the draft uses.
    package static func save(
        _ tour: String, revision: Int, area: String, draft: String, media: [String], by account: String,
        on connection: Connection
    ) throws -> Int? {
        let saved = try connection.query(
            """
            UPDATE drover.tour SET area = $3, draft = $4, changed_by = $5, changed_at = now(), revision = revision + 1
            WHERE tour = $1 AND revision = $2 RETURNING revision
            """, [.text(tour), .int4(Int32(clamping: revision)), .text(area), .text(draft), .text(account)]
        ).first?.int(0)
        guard let saved else { return nil }
        try connection.query(
            """
            DELETE FROM drover.tour_medium
            WHERE tour = $1 AND NOT medium = ANY($2::text[]) AND kept_at < now() - interval '1 day'
            """, [.text(tour), .textArray(media)])
        return saved
    }

    // MARK: Media

    /// Precondition: within a transaction.
    package static func keep(
        _ medium: Medium, digest: String, of tour: String, on connection: Connection
    ) throws -> Kept {
        // Two at a time are counted one after the other.
        guard try draft(tour, isLocked: true, on: connection) != nil else { return .unknown }
        let row = try connection.query(
            "SELECT count(*), coalesce(sum(octet_length(content)), 0)::bigint FROM drover.tour_medium WHERE tour = $1",
            [.text(tour)])[0]
        let bytes = Int64(try row.int(1)!) + Int64(medium.content.count)
        guard try row.int(0)! < mediaMax, bytes <= mediaBytesMax else { return .full }
        try connection.query(
            """
            INSERT INTO drover.tour_medium (tour, medium, media_type, content) VALUES ($1, $2, $3, $4)
            ON CONFLICT (tour, medium) DO NOTHING
            """, [.text(tour), .text(digest), .text(medium.mediaType), .bytes(medium.content)])
        return .kept
    }

    package static func medium(_ digest: String, of tour: String, on connection: Connection) throws -> Medium? {
        try connection.query(
            "SELECT media_type, content FROM drover.tour_medium WHERE tour = $1 AND medium = $2",
            [.text(tour), .text(digest)]
        ).first.map { Medium(mediaType: try $0.text(0)!, content: try $0.bytes(1)!) }
    }

    /// Types by digest.
    package static func mediaTypes(of tour: String, on connection: Connection) throws -> [String: String] {
        let rows = try connection.query(
            "SELECT medium, media_type FROM drover.tour_medium WHERE tour = $1", [.text(tour)])
        return Dictionary(try rows.map { (try $0.text(0)!, try $0.text(1)!) }) { first, _ in first }
    }
}

extension TourStore.Draft {
    fileprivate init(_ row: Row) throws {
        tour = try row.text("tour")!
        area = try row.text("area")!
        draft = try row.text("draft")!
        changedBy = try row.text("changed_by")!
        changedMs = try row.timestampMs("changed_at")!
        revision = try row.int("revision")!
        version = try row.int("version")!
    }
}
