internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Storage

/// The response to someone who may not write about a vehicle; `WriteAccess` decides who may.
enum WriteRefusal {
    static func response(isCar: Bool, _ vehicles: [VehicleID]) -> Response {
        .problem(
            403, type: isCar ? "not-your-car" : "not-your-machine",
            detail: isCar
                ? "Nothing of this was taken. This account may not send anything for some of these cars at these times: they "
                    + "belong to another account or fleet, or somebody else has sent readings of them first. Leave them out "
                    + "and send the rest again, or ask whoever runs Drover to make you their owner or their fleet's member."
                : "Nothing of this was taken. This account may not send anything for some of these machines: they are in no "
                    + "fleet of yours, or somebody else has sent readings of them first. Leave them out and send the rest "
                    + "again, or ask whoever runs Drover to put them into a fleet of yours.",
            more: ["vehicles": JSONValue.list(vehicles.map { .text($0.text) }).rendered()])
    }

    /// Nil: who looks at the page may say it.
    /// Precondition: `RowSecurity.apply` in this transaction.
    static func ofPage(
        _ deed: WriteAccess.Operation, isCar: Bool, _ vehicle: VehicleID, at span: ClosedRange<Int64>,
        on connection: Connection
    ) throws -> Response? {
        try WriteAccess.may(deed, isCar: isCar, vehicle, at: span, on: connection)
            ? nil : response(isCar: isCar, [vehicle])
    }
}
