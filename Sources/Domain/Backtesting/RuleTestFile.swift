internal import Alerts
internal import Basics
internal import Fleet
internal import Settings

/// Why a file of rule tests cannot be read: file, line, fault, and what is accepted.
package struct RuleTestFault: Error, Equatable, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
}

/// A file of rule tests (docs/machines.md):
///
///     given: {model: 8R Tractor, start: "2026-09-14T06:00:00Z"}
///     tests:
///       - name: fuel
///         when:
///           - {at: +0m, fuel_level_gal: 49.9}
///         then:
///           - {alert: Fuel Level, opened: +0m}
package enum RuleTestFile {
    package static func read(_ bytes: [UInt8], name: String) throws(RuleTestFault) -> [RuleTest] {
        let root: YAMLNode
        do throws(SettingsError) { root = try YAML.read(bytes, name: name) } catch {
            throw RuleTestFault(description: "\(error)")
        }
        let file = RuleTestReader(name: name)
        let parts = try file.map(root, ["given", "tests"])
        let given = try parts["given"].map { node throws(RuleTestFault) in try file.given(node, RuleTestReader.Given())
        }
        guard let tests = parts["tests"] else { throw file.fault(root, "`tests` is missing") }
        var read: [RuleTest] = []
        for node in try file.list(tests) { read.append(try file.test(node, given ?? RuleTestReader.Given())) }
        return read
    }
}

/// The parts of a file, each with what it accepts.
private struct RuleTestReader {
    struct Given {
        var model: String?
        var startMs: Int64?
        var vehicle = VehicleID("m-1")!
        var isReporting = false
        /// The default values of each reading.
        var values: [MachineParameter: YAMLNode] = [:]
    }

    private static let keys = MachineParameter.ofMachines.map(\.row.key)

    let name: String

    func fault(_ node: YAMLNode, _ text: String) -> RuleTestFault {
        RuleTestFault(description: "\(name):\(node.line): \(text)")
    }

    func map(_ node: YAMLNode, _ accepted: [String]) throws(RuleTestFault) -> [String: YAMLNode] {
        guard case .map(let entries) = node.value else {
            throw fault(node, "must be a map of \(accepted.joined(separator: ", "))")
        }
        for entry in entries where !accepted.contains(entry.key) {
            throw fault(entry.node, "`\(entry.key)` is not one of \(accepted.joined(separator: ", "))")
        }
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.node) })
    }

    func list(_ node: YAMLNode) throws(RuleTestFault) -> [YAMLNode] {
        guard case .list(let items) = node.value else { throw fault(node, "must be a list, a line with `- ` an item") }
        return items
    }

    private func text(_ node: YAMLNode) throws(RuleTestFault) -> String {
        guard case .text(let text) = node.value else { throw fault(node, "must be a text or a number") }
        return text
    }

    private func time(_ node: YAMLNode, from startMs: Int64) throws(RuleTestFault) -> Int64 {
        let text = try text(node)
        guard let ms = RuleTestTime.parse(text, from: startMs) else {
            throw fault(node, "`\(text)` is not \(RuleTestTime.accepted)")
        }
        return ms
    }

    private func flag(_ node: YAMLNode) throws(RuleTestFault) -> Bool {
        switch try text(node) {
        case "true": return true
        case "false": return false
        case let other: throw fault(node, "`\(other)` is neither true nor false")
        }
    }

    func given(_ node: YAMLNode, _ standard: Given) throws(RuleTestFault) -> Given {
        let parts = try map(node, ["model", "start", "vehicle", "reporting"] + RuleTestReader.keys)
        var given = standard
        if let model = parts["model"] { given.model = try text(model) }
        // Counted from nothing, only a date is a time.
        if let start = parts["start"] { given.startMs = try time(start, from: 0) }
        if let reporting = parts["reporting"] { given.isReporting = try flag(reporting) }
        if let vehicle = parts["vehicle"] {
            guard let id = VehicleID(try text(vehicle)) else {
                throw fault(vehicle, "must be 1 to 64 letters, digits, -, _ or .")
            }
            given.vehicle = id
        }
        for parameter in MachineParameter.ofMachines {
            if let node = parts[parameter.row.key] { given.values[parameter] = node }
        }
        return given
    }

    func test(_ node: YAMLNode, _ standard: Given) throws(RuleTestFault) -> RuleTest {
        let parts = try map(node, ["name", "given", "when", "then"])
        let given = try parts["given"].map { part throws(RuleTestFault) in try self.given(part, standard) } ?? standard
        guard let name = parts["name"] else { throw fault(node, "`name` is missing") }
        guard let model = given.model, let startMs = given.startMs else {
            throw fault(node, "`given` must name a model and a start")
        }
        guard let when = parts["when"], let then = parts["then"] else {
            throw fault(node, "`when` and `then` must be there; [] stands for nothing")
        }
        var (facts, expected): ([RuleTest.Fact], [RuleTest.Expectation]) = ([], [])
        for (index, node) in try list(when).enumerated() { facts.append(try fact(node, index, model, startMs, given)) }
        for node in try list(then) { expected.append(try expectation(node, startMs)) }
        return RuleTest(
            name: try text(name), place: "\(self.name):\(node.line)", model: model, vehicle: given.vehicle,
            startMs: startMs, facts: facts, expected: expected)
    }

    // MARK: When

    private func fact(
        _ node: YAMLNode, _ index: Int, _ model: String, _ startMs: Int64, _ given: Given
    ) throws(RuleTestFault) -> RuleTest.Fact {
        let parts = try map(node, ["at", "tick", "service", "model", "reporting"] + RuleTestReader.keys)
        if let tick = parts["tick"] {
            _ = try map(node, ["tick"])
            return .tick(try time(tick, from: startMs))
        }
        if let service = parts["service"] {
            let parts = try map(node, ["service", "engine_hours_h"])
            guard let hours = parts["engine_hours_h"] else {
                throw fault(node, "a service needs `engine_hours_h`, the hours at which it was done")
            }
            return .service(
                ServiceLog.Entry(
                    doneMs: try time(service, from: startMs), atHours: try stored(hours, .engineHours, startMs),
                    id: "s-\(index)"))
        }
        guard let at = parts["at"] else { throw fault(node, "must begin with `at`, `tick` or `service`") }
        var reading = MachineReading(
            vehicle: given.vehicle, ts: try time(at, from: startMs), id: "r-\(index)",
            model: try parts["model"].map { node throws(RuleTestFault) in try text(node) } ?? model)
        reading.isReporting =
            try parts["reporting"].map { node throws(RuleTestFault) in try flag(node) } ?? given.isReporting
        for parameter in MachineParameter.ofMachines {
            guard let node = parts[parameter.row.key] ?? given.values[parameter] else { continue }
            if case .text("none") = node.value { continue }
            reading.values[parameter] = try stored(node, parameter, startMs)
        }
        return .reading(reading)
    }

    private func stored(
        _ node: YAMLNode, _ parameter: MachineParameter, _ startMs: Int64
    ) throws(RuleTestFault) -> Int64 {
        let value: Int64?
        switch parameter.row.kind {
        case .flag: value = try flag(node) ? 1 : 0
        case .time: value = try time(node, from: startMs)
        case .count: value = Int64(try text(node))
        case .number: value = Decimal.scaled(try text(node).utf8, decimals: 3)
        }
        guard let value, parameter.row.isPossible(value) else {
            throw fault(node, "`\(try text(node))` is no possible value of \(parameter.row.key)")
        }
        return value
    }

    // MARK: Then

    private func expectation(_ node: YAMLNode, _ startMs: Int64) throws(RuleTestFault) -> RuleTest.Expectation {
        guard case .map(let entries) = node.value, let first = entries.first,
            ["alert", "rule"].contains(first.key)
        else { throw fault(node, "must begin with `alert` or `rule`") }
        let isRule = first.key == "rule"
        let name = try text(first.node)
        guard ThresholdField.table.contains(where: { $0.names[0] == name }) else {
            throw fault(
                first.node,
                "`\(name)` is not one of \(ThresholdField.table.map { $0.names[0] }.joined(separator: ", "))")
        }
        let keys = isRule ? Threshold.elementNames : RuleTest.alertKeys
        _ = try map(node, [first.key] + keys)
        var said: [String: String] = [:]
        for entry in entries.dropFirst() {
            let text = try text(entry.node)
            if !isRule, RuleTest.timeKeys.contains(entry.key), text != "none" {
                said[entry.key] = RuleTestTime.text(try time(entry.node, from: startMs), from: startMs)
            } else {
                // 49.90 is 49.9.
                said[entry.key] = Decimal.scaled(text.utf8, decimals: 3).map { Decimal.text($0, decimals: 3) } ?? text
            }
        }
        guard !isRule else { return RuleTest.Expectation(name: name, isRule: true, said: said) }
        guard said["opened"] != nil, said["opened"] != "none" else {
            throw fault(node, "`opened` is missing: when the alert opened")
        }
        // Absent keys have their usual value.
        said["resolved"] = said["resolved"] ?? "none"
        said["state"] = said["state"] ?? (said["resolved"] == "none" ? "open" : "resolved")
        said["severity"] = said["severity"] ?? "warning"
        return RuleTest.Expectation(name: name, isRule: false, said: said)
    }
}
