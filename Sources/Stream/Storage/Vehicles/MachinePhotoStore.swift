package import Postgres

/// One photo a machine, for whoever knows the machine.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum MachinePhotoStore {
    /// As the table has it.
    package static let bytesMax = 512 << 10

    package struct Photo: Sendable {
        package let mediaType: String
        package let content: [UInt8]

        package init(mediaType: String, content: [UInt8]) {
            (self.mediaType, self.content) = (mediaType, content)
        }
    }

    /// What its page needs of it.
    package struct Known: Sendable {
        /// The digest of the photo; nil: there is none.
        package let photo: String?
        /// It is theirs to take, replace and take away.
        package let isTheirs: Bool
    }

    package static func known(_ vehicle: String, on connection: Connection) throws -> Known {
        let row = try connection.query(
            """
            SELECT (SELECT p.photo FROM drover.machine_photo p WHERE p.vehicle = $1), drover.may_photograph($1)
            """, [.text(vehicle)])[0]
        return Known(photo: try row.text(0), isTheirs: try row.bool(1) ?? false)
    }

    package static func photo(of vehicle: String, on connection: Connection) throws -> Photo? {
        try connection.query(
            "SELECT media_type, content FROM drover.machine_photo WHERE vehicle = $1", [.text(vehicle)]
        ).first.map { Photo(mediaType: try $0.text(0)!, content: try $0.bytes(1)!) }
    }

    /// False: it is not theirs.
    package static func keep(
        _ photo: Photo, digest: String, of vehicle: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.keep_machine_photo($1, $2, $3, $4)",
            [.text(vehicle), .text(digest), .text(photo.mediaType), .bytes(photo.content)])[0].bool(0) ?? false
    }

    /// False: it is not theirs.
    package static func remove(of vehicle: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.keep_machine_photo($1, NULL, NULL, NULL)", [.text(vehicle)])[0].bool(0)
            ?? false
    }
}
