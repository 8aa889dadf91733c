package import Postgres

/// A dealer's own class and tags of machines that were confirmed to them, through `drover.mark_machines`. Nobody else reads them; they end
/// with the dealership.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum DealerMarkStore {
    /// As the table and the function have them.
    package static let tagsMax = 20
    package static let bytesMax = 64
    package static let machinesMax = 500

    package struct Change: Equatable, Sendable {
        /// Nil: it stays; empty: none.
        package var ownClass: String?
        /// The tags come to those that are there, else they replace them.
        package var keepsTags: Bool
        package var tags: [String]
        package var lessTags: [String]

        package init(ownClass: String?, keepsTags: Bool, tags: [String], lessTags: [String] = []) {
            self.ownClass = ownClass
            self.keepsTags = keepsTags
            self.tags = tags
            self.lessTags = lessTags
        }
    }

    package enum Outcome: String, Sendable {
        case done
        /// One of the machines was not confirmed to them, or not any more: nothing was changed.
        case notYours = "not yours"
        /// One of the machines would have more than it may.
        case tags
        case tooMany = "too many"
    }

    /// The machine was confirmed to who asks.
    package static func mayMark(_ vehicle: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT $1::text IN (SELECT drover.seen_partly('machine'))", [.text(vehicle)])[0].bool(0)
            ?? false
    }

    /// All of the machines, or none.
    package static func change(_ vehicles: [String], _ change: Change, on connection: Connection) throws -> Outcome {
        let word = try connection.query(
            "SELECT drover.mark_machines($1, $2, $3, $4, $5, $6)",
            [
                .textArray(vehicles), .bool(change.ownClass == nil), .text(change.ownClass ?? ""),
                .bool(change.keepsTags), .textArray(change.tags), .textArray(change.lessTags),
            ])[0].text(0)!
        guard let outcome = Outcome(rawValue: word) else {
            throw StoredRowFault(description: "mark_machines: \(word)")
        }
        return outcome
    }
}
