import App
import Basics
import Codecs
import Fleet
import Formats
import Postgres
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let audit = Command(
        name: "audit", operands: "[verify | head] [options]",
        summary:
            "Who did what: log-ins, roles, rules, exports, tokens, whose data was looked at. `verify` finds the first entry that "
            + "was changed, removed, put in or moved; `head` prints what it takes to find a log that was cut or made anew.",
        options: [
            .init("--account", "ID", "only what this account did, or what was done to it"),
            .init("--action", "NAME", "only of this kind (docs/audit.md); several times for several"),
            .init("--since", "TIME", "only from then on (2026-11-21 or 2026-11-21T08:00:00Z)"),
            .init("--until", "TIME", "only before then"),
            .init("--after", "N", "only entries behind number N, the oldest first"),
            .init("--limit", "N", "at most so many (default 100: the last)"),
            .init("--json", nil, "a line of JSON an entry, for others to collect"),
            .init("--follow", nil, "go on with what comes, until Ctrl-C"),
            .init("--anchor", "HEAD", "verify: what `drover audit head` printed once must still be in it"),
        ] + SettingsSource.options,
        example: "drover audit --action log_in_failed --since 2026-11-21 --json",
        run: { arguments in
            // The owner's: nobody else may read the tables.
            func connect() throws -> Connection {
                try Connection(conninfo: SettingsSource.load(arguments).ownerConninfo)
            }
            switch arguments.operands {
            case []: try list(auditFilter(arguments), arguments, on: connect())
            case ["head"]: Out.result(text(try AuditQueries.head(on: connect())))
            case ["verify"]:
                let anchor = try auditAnchor(arguments)
                return try verify(anchor, on: connect())
            default: throw UsageError("say nothing (it lists), `verify` or `head`")
            }
            return .done
        })

    private static func text(_ head: AuditQueries.Head) -> String { "\(head.sequence):\(Hex.text(head.hash))" }

    private static func auditAnchor(_ arguments: Arguments) throws -> AuditCheck.Anchor? {
        try arguments.text("--anchor").map { text in
            guard let anchor = AuditCheck.Anchor(text) else {
                throw UsageError("--anchor \(text): must be what `drover audit head` printed, NUMBER:HASH or the hash")
            }
            return anchor
        }
    }

    private static func verify(_ anchor: AuditCheck.Anchor?, on connection: Connection) throws -> ExitCode {
        do {
            let outcome = try AuditCheck.run(anchor, on: connection)
            Out.result("\(outcome.entries) entries fit, to \(text(outcome.head))")
            return .done
        } catch let fault as AuditCheck.Fault {
            throw Failure(
                "\(fault). Somebody with the rights of the database's owner did it: compare with what was collected elsewhere "
                    + "and with a backup")
        }
    }

    private static func auditFilter(_ arguments: Arguments) throws -> AuditQueries.Filter {
        func time(_ name: String) throws -> Int64? {
            try arguments.text(name).map { text in
                guard let ms = UTC.parse(text) else {
                    throw UsageError("\(name) \(text): must be a time like 2026-11-21 or 2026-11-21T08:00:00Z")
                }
                return ms
            }
        }
        var filter = AuditQueries.Filter()
        filter.account = arguments.text("--account")
        filter.actions = try arguments.texts("--action").map { name in
            guard AuditAction(rawValue: name) != nil else {
                throw UsageError(
                    "--action \(name): must be one of \(AuditAction.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return name
        }
        filter.sinceMs = try time("--since")
        filter.untilMs = try time("--until")
        filter.after = try arguments.integer("--after", in: 0...Int64.max)
        return filter
    }

    // MARK: The list

    private static func list(
        _ filter: AuditQueries.Filter, _ arguments: Arguments, on connection: Connection
    ) throws {
        var filter = filter
        let limit = try arguments.integer("--limit", in: 1...1_000_000) ?? 100
        let (isJSON, follows) = (arguments.has("--json"), arguments.has("--follow"))
        if follows { Signals.install() }
        var entries = try AuditQueries.entries(filter, newest: filter.after == nil, limit: limit, on: connection)
        show(entries, isJSON: isJSON || follows)
        while follows {
            filter.after = entries.last?.sequence ?? filter.after ?? 0
            guard !StopFlag.wait(timeoutMs: entries.count == limit ? 0 : 1_000) else { return }
            let next = try AuditQueries.entries(filter, newest: false, limit: limit, on: connection)
            if !next.isEmpty { show(next, isJSON: true) }
            entries = next.isEmpty ? entries.suffix(1) : next
        }
    }

    private static func show(_ entries: [AuditEntry], isJSON: Bool) {
        guard !isJSON else { return entries.forEach { Out.result($0.json.rendered()) } }
        var table = Table(["entry", "at", "action", "by", "about", "from", "detail"])
        table.rows = entries.map { entry in
            [
                String(entry.sequence), UTC.text(entry.atUs / 1_000), entry.action, entry.actor?.shown,
                entry.subject?.shown, entry.remote?.shown, entry.detail == "{}" ? nil : entry.detail,
            ]
        }
        Out.result(table.text())
    }
}

extension AuditEntry.Name {
    fileprivate var shown: String { said ?? "erased-\(Hex.text(digest.prefix(4)))" }
}
