internal import Fleet
package import Formats
package import Postgres

/// Which machines bear a code that somebody read or typed: their serial number, their name, what their box calls them, or the box's own
/// serial number. Only the whole of it counts, so that nobody feels their way to what they may not see.
package struct MachineCode: Sendable {
    /// Longer ones stand on no machine.
    package static let bytesMax = 64
    private static let foundMax: Int64 = 5
    /// Latest readings that are looked at for a box's serial number.
    private static let machinesMax: Int64 = 5_000

    package let vehicle: String
    package let name, model: String?

    private init(_ row: Row) throws {
        vehicle = try row.text("vehicle")!
        name = try row.text("name")
        model = try row.text("model")
    }

    package static func find(
        _ code: String, _ queries: ReportQueries, on connection: Connection
    ) throws -> [MachineCode] {
        let asked: [Parameter] = [.text(code.lowercased()), .int8(foundMax)]
        let named = try connection.query(queries["field_machines"], asked).map(MachineCode.init)
        guard named.isEmpty else { return named }
        return try connection.query(queries["field_serials"], asked + [.int8(machinesMax)]).map(MachineCode.init)
    }

    package var json: JSONValue {
        .object([("vehicle", .text(vehicle)), ("name", .optional(name)), ("model", .optional(model))])
    }
}
