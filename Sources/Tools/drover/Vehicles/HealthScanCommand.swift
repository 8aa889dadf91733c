import App
import Codecs
import Fleet
import Postgres
import Reports
import Settings
import Storage
import Telemetry

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
            if let answer = try DeviceStore.answer(toScan: action.id, of: car, on: connection) {
                let text = "\(car): \(answer.text)"
                guard answer.isDone else { throw Failure(text) }
                Out.result(text)
                try showCodes(answer, settings)
                if let isOn = answer.isLampOn { Out.result("malfunction lamp: \(isOn ? "on" : "off")") }
                if !answer.notReady.isEmpty {
                    Out.result("monitors not finished: \(answer.notReady.joined(separator: ", "))")
                }
                if let vin = answer.vin { Out.result("VIN: \(vin)") }
                return .done
            }
            guard !StopFlag.wait(timeoutMs: 100) else { break }
        }
        throw Failure("\(car): no gateway has answered within \(waitS) s. Is `drover gateway` up? See its log")
    }

    /// The codes with their meanings, each once.
    private static func showCodes(_ answer: DeviceStore.ScanAnswer, _ settings: Settings) throws {
        var codes: [TroubleCode] = []
        for text in answer.stored + answer.pending + answer.permanent {
            guard let code = TroubleCode(text: text.utf8), !codes.contains(code) else { continue }
            codes.append(code)
        }
        guard !codes.isEmpty else { return }
        let folder = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
        Out.result(OBDTables.codes(codes, try folder.meanings(make: answer.make)).text())
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
