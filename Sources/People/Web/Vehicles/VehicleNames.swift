internal import Alerts
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports

extension VehicleKind {
    /// As a form or an address names it: a machine where it says nothing of a car.
    init(named text: String?) { self = text.flatMap { VehicleKind(rawValue: $0) } ?? .machine }
}

/// Ids are completed where a form asks for one, by part of id, name or model (`names.js`).
enum VehicleNames {
    private static let rowsMax: Int64 = 20

    /// For an input with `list="vehicles"`.
    /// - Parameter kind: nil: both.
    static func list(kind: VehicleKind?) -> HTML {
        "<datalist id=\"vehicles\" data-names=\"/vehicle-names?kind=\(kind?.rawValue ?? "")&amp;search=\"></datalist>"
    }

    static func found(
        _ request: Request, _ caller: PageCaller, _ queries: ReportQueries, on connection: Connection
    ) throws -> Response {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        guard !asked("search").isEmpty else {
            return .problem(400, type: "search", detail: "`search` must be a part of an id, a name or a model.")
        }
        let kind = VehicleKind(rawValue: asked("kind"))
        let rows = try connection.query(
            queries["vehicles"],
            [
                .text(""), .text(asked("search")), .text(kind?.rawValue ?? ""),
                .textArray(caller.audience.seen.map(\.rawValue)),
                .bool(false), .text(""), .int8(rowsMax),
            ])
        let names = try rows.map { row in
            let about = [try row.text("name"), try row.text("model")].compactMap { $0 }.joined(separator: ", ")
            return JSONValue.object([("name", .text(try row.text("vehicle")!)), ("about", .text(about))])
        }
        return .json(JSONValue.object([("names", .list(names))]).rendered())
    }
}
