import Fleet
import Observe
import Postgres
import Reports
import Settings
import Wire

/// `drover vehicle scan` and `scans`: a car's trouble codes, asked for and as they are stored.
extension Command {
    static func scan(_ arguments: Arguments) throws -> ExitCode {
        let car = try vehicleID(arguments)
        let waitS = try arguments.integer("--wait", in: 1...3_600) ?? 60
        let settings = try SettingsSource.load(arguments)
        let action = try ActionPush.action(
            arguments, vehicle: car, kind: .scanRequest(untilMs: Clock.nowMs() + waitS * 1_000))
        try ActionPush(settings: settings, topic: Topic.cars).push(action)
        let connection = try Connection(conninfo: settings.readerConninfo)
        let patience = Stopwatch()
        while patience.seconds < Double(waitS) {
            let rows = try connection.query(
                """
                SELECT is_done, answer, is_lamp_on, not_ready, s.vin, stored, pending, permanent, make
                FROM drover.health_scan s LEFT JOIN (SELECT vehicle, make FROM drover.registration WHERE kind = 'car') r USING (vehicle)
                WHERE vehicle = $1 AND scan_id = $2 AND scanned_at IS NOT NULL
                """, [.text(car.text), .text(action.id)])
            if let row = rows.first {
                let text = "\(car): \(try row.text("answer")!)"
                guard try row.bool("is_done")! else { throw Failure(text) }
                Out.result(text)
                try showCodes(row, settings)
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

    /// The codes with their meanings, each once.
    private static func showCodes(_ row: Row, _ settings: Settings) throws {
        var codes: [TroubleCode] = []
        for column in ["stored", "pending", "permanent"] {
            for text in try row.textArray(column) ?? [] {
                guard let code = text.flatMap({ TroubleCode(text: $0.utf8) }), !codes.contains(code) else { continue }
                codes.append(code)
            }
        }
        guard !codes.isEmpty else { return }
        let folder = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
        Out.result(OBDTables.codes(codes, try folder.meanings(make: row.text("make"))).text())
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
