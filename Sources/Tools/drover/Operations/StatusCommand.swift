import App
import Codecs
import Fleet
import Formats
import Ingest
import Postgres
import Reports
import Settings
import Storage
import Trips

extension Command {
    static let status = Command(
        name: "status", operands: "[options]",
        summary: "How the installation is: what is behind, waits or was refused, and what to do about it.",
        options: [.init("--format", "F", "table or json (default table)")] + SettingsSource.options,
        example: "drover status --set postgres.owner_url='dbname=drover user=drover_owner'",
        run: { arguments in
            let format = try arguments.one(
                "--format", of: ["table": StatusLine.table, "json": StatusLine.json], standard: "table")
            let settings = try SettingsSource.load(arguments)
            let connection = try Connection(
                conninfo: settings.ownerConninfo, applicationName: "drover-status")
            let reads = try connection.transaction(Connection.beginSnapshot) { try StatusQueries(on: connection) }
            let lag: Result<Int64, any Error> = Result { try Offsets(settings, connection).lag() }
            var topics: TopicState?
            // Where the broker is away the lag says so.
            if case .success = lag {
                topics = try Topics.standing(
                    settings.kafka(clientID: "drover-status"), settings.topicShape, timeoutMs: 5_000)
            }
            let known = try Home.migration()
            var lines = StatusLine.all(reads, lag: lag, topics: topics, knownMigration: known)
            if topics != nil {
                let standing = try TopicsStatus(settings, clientID: "drover-status", on: connection)
                lines.insert(StatusLine(standing), at: 2)
            }
            lines.append(try StatusLine(TripRulesStatus(on: connection), settings.tripRules()))
            Out.result(format(lines))
            return lines.contains { $0.remedy != nil } ? .failed : .done
        })
}

/// One thing that an operator wants to know.
struct StatusLine {
    let what, value: String
    /// The remedy; nil: it is as it should be.
    var remedy: String?

    /// A worker that runs has a tick every few seconds.
    private static let clockLateMs: Int64 = 60_000
    private static let waitingLateMs: Int64 = 600_000
    private static let outboxLateMs: Int64 = 60_000

    /// A line about something that the login does not see, and that may be ill: the owner's login sees all.
    private static func unseen(_ what: String) -> StatusLine {
        StatusLine(
            what: what, value: "not seen: this login may not read all of it",
            remedy: "drover status as the owner (postgres.owner_url)")
    }

    init(what: String, value: String, remedy: String? = nil) {
        self.what = what
        self.value = value
        self.remedy = remedy
    }

    init(_ standing: TopicsStatus) {
        what = "what decides"
        value = standing.faults.isEmpty ? "as it was" : "\(standing.faults.count) topics are not read"
        remedy = standing.faults.isEmpty ? nil : standing.faults.joined(separator: "; ")
    }

    init(_ standing: TripRulesStatus, _ rules: TripRules) {
        what = "trip rules"
        let difference = standing.difference(rules)
        value = difference ?? (standing.partitions.isEmpty ? "none in force yet" : "as the settings say")
        remedy = difference == nil ? nil : TripRulesStatus.remedy
    }

    static func all(
        _ reads: StatusQueries, lag: Result<Int64, any Error>,
        topics: TopicState?, knownMigration: Int
    ) -> [StatusLine] {
        [database(reads, knownMigration), behind(lag)]
            + (topics.map { [StatusLine(what: "copies of topics", value: "\($0.copies)", remedy: $0.remedy)] } ?? [])
            + Topics.readings.map { written($0, reads) } + waiting(reads) + refused(reads) + resting(reads)
            + [
                counted("vehicles to judge again", reads.rejudging), counted("open alerts", reads.openAlerts),
                counted("vehicles silent for a day", reads.silentVehicles),
            ]
    }

    private static func database(_ reads: StatusQueries, _ knownMigration: Int) -> StatusLine {
        StatusLine(
            what: "database", value: "migration \(reads.migration), \(reads.bytes / 1_000_000) MB",
            remedy: reads.migration < knownMigration
                ? "drover migrate: this program knows \(knownMigration)"
                : reads.migration > knownMigration ? "this program is older than its database" : nil)
    }

    private static func behind(_ lag: Result<Int64, any Error>) -> StatusLine {
        switch lag {
        case .success(let records): StatusLine(what: "records behind", value: "\(records)")
        case .failure(let error):
            StatusLine(what: "records behind", value: "unknown: \(error)", remedy: "is the broker there? drover check")
        }
    }

    private static func written(_ topic: String, _ reads: StatusQueries) -> StatusLine {
        guard let clocks = reads.clocks else { return unseen(topic) }
        let clockMs = clocks.first { $0.topic == topic }?.oldestMs
        let isLate = clockMs.map { reads.nowMs - $0 > clockLateMs } ?? true
        return StatusLine(
            what: topic, value: clockMs.map { "written up to \(age($0, reads.nowMs))" } ?? "no tick yet",
            remedy: isLate ? "is drover work running, and does it keep up? drover offsets show" : nil)
    }

    private static func waiting(_ reads: StatusQueries) -> [StatusLine] {
        func line(_ what: String, _ waiting: StatusQueries.Waiting?, lateMs: Int64, _ remedy: String) -> StatusLine {
            guard let waiting else { return unseen(what) }
            let isLate = waiting.oldestMs.map { reads.nowMs - $0 > lateMs } ?? false
            let since = waiting.oldestMs.map { ", the oldest from \(age($0, reads.nowMs))" } ?? ""
            return StatusLine(what: what, value: "\(waiting.count)\(since)", remedy: isLate ? remedy : nil)
        }
        return [
            line(
                "for the topics", reads.outbox, lateMs: outboxLateMs, "is drover notify running, and the broker there?"),
            line("alerts to decide about", reads.events, lateMs: outboxLateMs, "is drover notify running?"),
            line(
                "mails", reads.mail, lateMs: waitingLateMs,
                "does the mail server take mail? See the log of drover notify"),
            line("webhooks and pushes", reads.messages, lateMs: waitingLateMs, "the page Notices says why"),
            line("reports due", reads.reports, lateMs: waitingLateMs, "drover schedule runs says why"),
            line("surveys to pass on", reads.forwards, lateMs: 86_400_000, "drover sightings forwards says why"),
        ]
    }

    private static func refused(_ reads: StatusQueries) -> [StatusLine] {
        func line(_ what: String, _ count: Int?, _ remedy: String) -> StatusLine {
            guard let count else { return unseen(what) }
            return StatusLine(what: what, value: "\(count)", remedy: count > 0 ? remedy : nil)
        }
        return [
            line("refused by the broker", reads.outboxRefused, "drover.outbox says why (column refused)"),
            line("rejected records, 24 h", reads.rejectedOfDay, "drover rejected list"), quarantined(reads),
            line("refused messages, 24 h", reads.refusedOfDay, "the page Notices says of whom and why"),
            line("failed reports, 24 h", reads.reportsFailedOfDay, "drover schedule runs"),
        ]
    }

    private static func quarantined(_ reads: StatusQueries) -> StatusLine {
        guard let vehicles = reads.quarantined else { return unseen("vehicles in quarantine") }
        let names = vehicles.prefix(5).joined(separator: ", ") + (vehicles.count > 5 ? ", …" : "")
        return StatusLine(
            what: "vehicles in quarantine", value: "\(vehicles.count)" + (vehicles.isEmpty ? "" : ": \(names)"),
            remedy: vehicles.isEmpty
                ? nil : "drover quarantine list says why; when that is mended: drover quarantine retry")
    }

    private static func resting(_ reads: StatusQueries) -> [StatusLine] {
        guard let resting = reads.resting else { return [unseen("services of others")] }
        return resting.map {
            StatusLine(what: $0.service, value: "left alone: \($0.fault)", remedy: "drover outside check")
        }
    }

    private static func counted(_ what: String, _ count: Int?) -> StatusLine {
        count.map { StatusLine(what: what, value: "\($0)") } ?? unseen(what)
    }

    /// `12 s ago`, `3 h ago`
    private static func age(_ ms: Int64, _ nowMs: Int64) -> String {
        let seconds = max(0, nowMs - ms) / 1_000
        switch seconds {
        case ..<120: return "\(seconds) s ago"
        case ..<7_200: return "\(seconds / 60) min ago"
        case ..<172_800: return "\(seconds / 3_600) h ago"
        default: return "\(seconds / 86_400) days ago"
        }
    }

    static let table: @Sendable ([StatusLine]) -> String = { lines in
        var table = Table(["what", "is", "what to do"])
        for line in lines { table.rows.append([line.what, line.value, line.remedy ?? "ok"]) }
        return table.text()
    }

    static let json: @Sendable ([StatusLine]) -> String = { lines in
        JSONValue.list(
            lines.map {
                .object([("what", .text($0.what)), ("is", .text($0.value)), ("what_to_do", .optional($0.remedy))])
            }
        ).rendered(indent: true)
    }
}
