import Alerts
import App
import Backtesting
import Codecs
import Fleet
import Pipeline
import Reports

extension Command {
    static let alerts = Command(
        name: "alerts", operands: "FILE.jsonl… --thresholds DIR [options]",
        summary:
            "Alerts that a file of machines' readings raises, judged as by the worker. Needs no server. Stored ones: `drover alert`.",
        options: [
            .init(
                "--thresholds", "DIR", "folder with tractors.xml and one XML file a model (default Deploy/thresholds)"),
            .init("--format", "F", "table, csv or json (default table)"),
        ],
        example: "drover alerts Tests/Fixtures/machines/readings.jsonl --thresholds Deploy/thresholds",
        run: runAlerts)

    private static func runAlerts(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: AlertsOutput.formats, standard: "table")
        let rules = RuleTimeline(
            always: try Rules.load(arguments.text("--thresholds") ?? Home.path("Deploy/thresholds")))
        var (readings, ok): ([VehicleID: [MachineReading]], Bool) = ([:], true)
        for path in try arguments.files() {
            do {
                for reading in try read(path, &ok) { readings[reading.vehicle, default: []].append(reading) }
            } catch {
                Out.note("\(error)")
                ok = false
            }
        }
        var episodes: [Episode] = []
        for (_, readings) in readings.sorted(by: { $0.key < $1.key }) {
            episodes += MachineBacktest.episodes(readings.unioned(), rules: rules, clockMs: nil)
        }
        Out.result(format(AlertsOutput(episodes)))
        return ok ? .done : .failed
    }

    /// Lines that are no reading are said with their number; the others count.
    private static func read(_ path: String, _ ok: inout Bool) throws -> [MachineReading] {
        let decoder = RecordDecoder()
        var readings: [MachineReading] = []
        for (index, line) in try Files.read(path).split(separator: 0x0A).enumerated() {
            do throws(DecodeError) {
                guard case .machine(let reading, _) = try decoder.decode(line: Array(line), isMachine: true) else {
                    throw .kindUnknown
                }
                readings.append(reading)
            } catch {
                Out.note("\(path): line \(index + 1): \(error)")
                ok = false
            }
        }
        return readings
    }
}
