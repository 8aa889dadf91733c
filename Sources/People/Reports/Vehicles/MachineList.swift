package import Alerts
internal import Basics
internal import Codecs
internal import Fleet
package import Formats
package import Postgres

/// The list of machines, page by page.
package struct MachineList {
    /// After which row a page begins. As text `0.8R-0001`: not disabled, and the vehicle.
    package struct Place: Equatable, Sendable {
        private let isDisabled: Bool
        private let vehicle: String

        package static let first = Place(isDisabled: false, vehicle: "")

        private init(isDisabled: Bool, vehicle: String) { (self.isDisabled, self.vehicle) = (isDisabled, vehicle) }

        package init?(_ text: String) {
            guard text.hasPrefix("0.") || text.hasPrefix("1."), let vehicle = VehicleID(String(text.dropFirst(2)))
            else { return nil }
            self.init(isDisabled: text.hasPrefix("1"), vehicle: vehicle.text)
        }

        fileprivate init(_ row: Row) throws {
            self.init(isDisabled: try row.bool("is_disabled")!, vehicle: try row.text("vehicle")!)
        }

        package var text: String { (isDisabled ? "1." : "0.") + vehicle }
        fileprivate var parameters: [Parameter] { [.bool(isDisabled), .text(vehicle)] }
    }

    package let machines: JSONValue
    /// Where the next page begins; nil: this is the last one.
    package let next: Place?

    package init(
        tag: String, search: String, after place: Place, limit: Int64, role: Audience, _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        let rows = try connection.query(
            queries["vehicles"],
            [.text(tag), .text(search), .text("machine"), .textArray(role.seen.map(\.rawValue))] + place.parameters
                + [.int8(limit)])
        machines = .list(try rows.map { try MachineList.json($0, role) })
        next = Int64(rows.count) == limit ? try Place(rows[rows.count - 1]) : nil
    }

    private static func json(_ row: Row, _ role: Audience) throws -> JSONValue {
        let known: [JSONValue.Field] = [
            ("vehicle", .text(try row.text("vehicle")!)), ("name", .optional(try row.text("name"))),
            ("model", .optional(try row.text("model"))),
            ("tags", .list(try row.textArray("tags")!.compactMap { $0 }.map { .text($0) })),
            ("is_disabled", .bool(try row.bool("is_disabled")!)),
            ("last_updated", .optional(try row.timestampMs("last_reading_at").map(UTC.text))),
            ("open_alerts", .integer(Int64(try row.int("open_alerts")!))),
            ("worst_severity", .optional(try row.text("worst_severity"))),
        ]
        let own =
            role == .dealer
            ? MachineDetail.own(
                try row.text("own_class"), try row.textArray("own_tags")!.compactMap { $0 }) : []
        return .object(known + own + UnmonitoredReason.fields(try UnmonitoredReason(row)))
    }
}
