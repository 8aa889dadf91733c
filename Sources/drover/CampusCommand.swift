import Fleet
import Foundation
import Observe
import Postgres
import Reports
import Settings
import Wire

extension Command {
    static let campus = Command(
        name: "campus", operands: "publish CAMPUS FILE | list",
        summary:
            "Where a campus lies and how its rides are dispatched: says so to the workers, or lists what they know.",
        options: [
            .init("--by", "NAME", "who says it (default: the login's name)"),
            .init("--format", "F", "list: table or json (default table)"),
        ] + SettingsSource.options,
        example: "drover campus publish north campus-north.json",
        run: { arguments in
            let operands = arguments.operands
            switch operands.first {
            case "publish" where operands.count == 3:
                return try publish(campusID(operands[1]), file: operands[2], arguments)
            case "list" where operands.count == 1: return try list(arguments)
            default: throw UsageError("say `publish CAMPUS FILE` or `list`")
            }
        })

    static func campusID(_ text: String) throws -> String {
        guard VehicleID.isValid(text.utf8) else {
            throw UsageError("`\(text)`: a campus's id is 1 to 64 letters, digits, -, _ or .")
        }
        return text
    }

    /// The file is the record without what every record has: docs/dispatch.md.
    private static func publish(_ id: String, file: String, _ arguments: Arguments) throws -> ExitCode {
        let text = try Files.read(file)
        let fields: [FlatJSON.Field]
        do {
            fields = try FlatJSON.fields(text, bytesMax: 200_000)
        } catch {
            throw Failure("\(file): \(error)")
        }
        let known = Set(["name", "boundary"] + CampusSettings.Key.allCases.map(\.rawValue))
        if let (key, _) = fields.first(where: { !known.contains($0.key) }) {
            throw Failure("\(file): `\(key)` is no setting of a campus: \(known.sorted().joined(separator: ", "))")
        }
        let said = try ActionPush.head(arguments)
        let head: [(String, JSONValue)] = [
            ("schema", .integer(1)), ("kind", .text("campus")), ("id", .text(said.id)), ("campus", .text(id)),
            ("ts", .integer(said.ts)), ("by", .text(said.by)),
        ]
        let body = fields.map { field -> (String, JSONValue) in
            switch field.value {
            case .null: (field.key, .null)
            case .bool(let flag): (field.key, .bool(flag))
            case .number(let number): (field.key, .number(number))
            case .text(let text): (field.key, .text(text))
            }
        }
        let value = Array(JSONValue.object(head + body).rendered().utf8)
        let decoded: RideRecords.Decoded
        do {
            decoded = try unsafe value.withUnsafeBytes { value in
                try unsafe Array(id.utf8).withUnsafeBytes { try unsafe RideRecords.decode(value, key: $0) }
            }
        } catch {
            throw Failure("\(file): \(error), or is out of its range; docs/dispatch.md has the ranges")
        }
        guard case .record(let record) = decoded else { throw Failure("\(file): no campus") }
        try ActionPush(settings: SettingsSource.load(arguments), topic: Topic.dispatch).push(record)
        return .done
    }

    private static func list(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let output = try QueryOutput(vehicleReader(arguments).query(Home.reportQueries()["campuses"]))
        Out.result(render(output))
        return .done
    }
}
