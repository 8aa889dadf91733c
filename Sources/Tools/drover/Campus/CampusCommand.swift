import App
import Codecs
import ExternalServices
import Fleet
import Formats
import Foundation
import Postgres
import Reports
import Routing
import Settings
import Storage
import Telemetry

extension Command {
    static let campus = Command(
        name: "campus", operands: "publish CAMPUS FILE | list | likelihoods CAMPUS | measure CAMPUS",
        summary:
            "Where a campus lies and how its rides are dispatched: says so to the workers, lists what they know, what a campus learned by place, or measures ways for it.",
        options: [
            .init("--from", "LAT,LON", "measure: a pickup"), .init("--to", "LAT,LON", "measure: its drop-off"),
            .init("--by", "NAME", "who says it (default: the login's name, or operator)"),
            .init("--format", "F", "list, likelihoods: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover campus publish north campus-north.json",
        run: { arguments in
            let operands = arguments.operands
            switch operands.first {
            case "publish" where operands.count == 3:
                return try publish(campusID(operands[1]), file: operands[2], arguments)
            case "list" where operands.count == 1: return try list(arguments)
            case "likelihoods" where operands.count == 2: return try likelihoods(campusID(operands[1]), arguments)
            case "measure" where operands.count == 2: return try measure(campusID(operands[1]), arguments)
            default:
                throw UsageError("say `publish CAMPUS FILE`, `list`, `likelihoods CAMPUS` or `measure CAMPUS`")
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
        let fields: [JSONValue.Field]
        do {
            fields = try FlatJSON.fields(text, bytesMax: 200_000)
        } catch {
            throw Failure("\(file): \(error)")
        }
        let keys = CampusSettings.Key.allCases.map(\.rawValue) + CampusSettings.TableKey.allCases.map(\.rawValue)
        let known = Set(["name", "boundary", "time_zone"] + keys)
        if let (key, _) = fields.first(where: { !known.contains($0.key) }) {
            throw Failure("\(file): `\(key)` is no setting of a campus: \(known.sorted().joined(separator: ", "))")
        }
        for (key, value) in fields {
            guard case .text(let text) = value else { continue }
            if let table = CampusSettings.TableKey(rawValue: key) {
                do throws(DayHours.Fault) { try table.check(text) } catch { throw Failure("\(file): \(key): \(error)") }
            }
            guard key != "time_zone" || TimeZoneName(text) != nil else {
                throw Failure("\(file): time_zone: `\(text)` is no time zone: write one like America/New_York")
            }
        }
        let said = try ActionPush.head(arguments)
        let head: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text("campus")), ("id", .text(said.id)), ("campus", .text(id)),
            ("ts", .integer(said.ts)), ("by", .text(said.by)),
        ]
        let value = Array(JSONValue.object(head + fields).rendered().utf8)
        let decoded: RideRecords.Decoded
        do {
            decoded = try unsafe TickOrRecord(value, key: Array(id.utf8), RideRecords.decode)
        } catch {
            throw Failure("\(file): \(error), or is out of its range; docs/dispatch.md has the ranges")
        }
        guard case .record(let record) = decoded else { throw Failure("\(file): no campus") }
        try ActionPush(settings: SettingsSource.load(arguments), topic: Topic.dispatch).pushChecked(record)
        return .done
    }

    private static func list(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let output = try QueryOutput(vehicleReader(arguments).query(Home.reportQueries()["campuses"]))
        Out.result(render(output))
        return .done
    }

    /// Measures a way by hand before a pickup is pushed: whether the service knows the campus's roads.
    private static func measure(_ id: String, _ arguments: Arguments) throws -> ExitCode {
        func place(_ option: String) throws -> Position {
            guard let text = arguments.text(option), let place = Position(text: text) else {
                throw UsageError("\(option) is a place like 38.89871,-77.04861")
            }
            return place
        }
        let pickup = RideRecord.Pickup(
            request: "none", rider: "none", passengers: 1, from: try place("--from"), to: try place("--to"))
        let settings = try SettingsSource.load(arguments)
        guard !settings.text("travel.url").isEmpty else { throw Failure("travel.url is not set") }
        guard
            var record = try settings.campusTravel(settings.outsideDatabase()).measured(
                campus: id, pickup: pickup, nowMs: Clock.nowMs()),
            case .travel(let travel) = record.kind
        else {
            throw Failure("\(id): nothing was measured in time; `drover outside travel` says what ails the service")
        }
        record.by = try ActionPush.head(arguments).by
        Out.note("\(travel.ms.count { $0 != nil }) of \(travel.ms.count) ways are measured by \(travel.source)")
        try ActionPush(settings: settings, topic: Topic.dispatch).push(record)
        return .done
    }

    /// As of the last record of the campus.
    private static func likelihoods(_ id: String, _ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let settings = try SettingsSource.load(arguments)
        let connection = try SchemaConnection.connect(settings.readerConninfo)
        guard let known = try RideStore.likelihoods(of: id, on: connection) else {
            throw Failure("\(id): there is no such campus; see `drover campus list`")
        }
        let rows = known.likelihoods.entries(nowMs: known.nowMs).map { entry -> [FieldValue] in
            let middle = known.area.position(entry.cell.middle)
            return [
                .timestampMs(known.nowMs), .number(Double(middle.latitude) / 1e7),
                .number(Double(middle.longitude) / 1e7), .number(entry.counts.waits),
                .number(entry.counts.cancelled), .number(entry.cancel), .number(entry.counts.offers),
                .number(entry.counts.refused), .number(entry.override),
            ]
        }
        let columns = [
            "as_of", "latitude_deg", "longitude_deg", "waits", "cancelled", "cancel_likelihood", "offers", "refused",
            "override_likelihood",
        ]
        Out.result(render(QueryOutput(columns: columns, rows: rows)))
        return .done
    }
}
