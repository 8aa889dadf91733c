import Fleet
import Observe
import Postgres
import Reports
import Settings

/// `drover vehicle scan` and `scans`: a car's trouble codes, asked for and as they are stored.
extension Command {
    static func scan(_ arguments: Arguments) throws -> ExitCode {
        let car = try vehicleID(arguments)
        let waitS = try arguments.integer("--wait", in: 1...3_600) ?? 60
        let settings = try SettingsSource.load(arguments)
        let action = try ActionPush.action(
            arguments, vehicle: car, kind: .scanRequest(untilMs: Clock.nowMs() + waitS * 1_000))
        try ActionPush(settings: settings, topic: Topic.cars).push(action)
        let connection = try Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url"))
        let patience = Stopwatch()
        while patience.seconds < Double(waitS) {
            let rows = try connection.query(
                """
                SELECT is_done, answer, is_lamp_on, not_ready, vin FROM drover.health_scan
                WHERE vehicle = $1 AND scan_id = $2 AND scanned_at IS NOT NULL
                """, [.text(car.text), .text(action.id)])
            if let row = rows.first {
                let text = "\(car): \(try row.text("answer")!)"
                guard try row.bool("is_done")! else { throw Failure(text) }
                Out.result(text)
                if let isOn = try row.bool("is_lamp_on") { Out.result("malfunction lamp: \(isOn ? "on" : "off")") }
                let notReady = try row.textArray("not_ready")?.compactMap { $0 } ?? []
                if !notReady.isEmpty { Out.result("monitors not finished: \(notReady.joined(separator: ", "))") }
                if let vin = try row.text("vin") { Out.result("VIN: \(vin)") }
                return .done
            }
            guard !StopFlag.wait(timeoutMs: 100) else { break }
        }
        throw Failure("\(car): no gateway has answered within \(waitS) s. Is `drover gateway` up? See its log")
    }

    static func scans(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        let limit = try arguments.integer("--limit", in: 1...1_000_000) ?? 100
        let output = try QueryOutput(
            try vehicleReader(arguments).query(
                Home.reportQueries()["health_scans"], [.text(try vehicleID(arguments).text), .int8(limit)]))
        Out.result(format(output))
        return .done
    }
}
