internal import Basics
package import Settings

/// How a value moves over time: it stays, goes there and back, or falls (rises) and begins again.
/// In thousandths; a pure function of time.
package struct Wave: Equatable, Sendable {
    enum Shape: Equatable, Sendable { case constant, thereAndBack, again }

    let shape: Shape
    let from: Int64
    let to: Int64
    let periodMs: Int64

    static func constant(_ value: Int64) -> Wave { Wave(shape: .constant, from: value, to: value, periodMs: 1) }

    /// `85`, `80 .. 99 over 40 min` (there and back), `193 to 150 over 120 min` (then from the start again).
    package init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let first = words.first, let from = Decimal.scaled(first.utf8, decimals: 3) else { return nil }
        if words.count == 1 {
            self = .constant(from)
            return
        }
        guard words.count == 6, [words[3], words[5]] == ["over", "min"],
            let to = Decimal.scaled(words[2].utf8, decimals: 3),
            let minutes = Int64(words[4]), (1...1_000_000).contains(minutes)
        else { return nil }
        switch words[1] {
        case "..": shape = .thereAndBack
        case "to": shape = .again
        default: return nil
        }
        self.from = from
        self.to = to
        periodMs = minutes * 60_000
    }

    private init(shape: Shape, from: Int64, to: Int64, periodMs: Int64) {
        self.shape = shape
        self.from = from
        self.to = to
        self.periodMs = periodMs
    }

    /// - Parameter shift: where in its period this box is, 0 to 999 thousandths.
    package func value(atMs ts: Int64, shift: Int64) -> Int64 {
        var place = (ts + periodMs / 1_000 * shift) % periodMs
        if shape == .thereAndBack { place = place * 2 <= periodMs ? place * 2 : (periodMs - place) * 2 }
        return from + (to - from) * place / periodMs
    }
}

/// How a box behaves on the wire.
package enum Peer: String, CaseIterable, Sendable {
    case answers, silent, closes, truncated, slow, endless
    case wrongLength = "wrong_length"
    case random
}

/// Boxes of one kind in a scenario.
package struct BoxGroup: Equatable, Sendable {
    package let name: String
    var weight = 1
    var model = "8R Tractor"
    var firmware = "4.11.2"
    package var peer = Peer.answers
    var structureBytes = 288
    /// A connection is closed after so many bytes of answers; 0: never.
    var cutAfterBytes = 0
    /// Where it goes up and down; nil: it stands somewhere in Iowa.
    var field: EmulatedField?
    /// Values by the wire's keys, and `engine_running`. Times are minutes before the reading.
    var values: [String: Wave] = [:]

    init(name: String) { self.name = name }
}

/// A scenario file: which boxes there are and what happens to them.
package struct Scenario: Equatable, Sendable {
    var intervalMs: Int64 = 60_000
    /// How many readings a box keeps.
    var memory: Int64 = 60
    package var groups: [BoxGroup] = []

    /// - Throws: `SettingsError` with every fault.
    package init(yaml: [UInt8], name: String) throws(SettingsError) {
        let values = try YAML.flatten(yaml, name: name)
        var (faults, groups): ([String], [String: BoxGroup]) = ([], [:])
        var memoryMinutes: Int64 = 60
        for (key, text) in values.sorted(by: { $0.key < $1.key }) {
            let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            var fault: String?
            switch (path.count, path[0]) {
            case (1, "interval_s"): fault = Scenario.set(text, 1...86_400) { intervalMs = $0 * 1_000 }
            case (1, "memory_min"): fault = Scenario.set(text, 1...100_000) { memoryMinutes = $0 }
            case (3..., "boxes"):
                fault = groups[path[1], default: BoxGroup(name: path[1])].set(Array(path[2...]), text)
            default: fault = "is not known; there are interval_s, memory_min and boxes.NAME.…"
            }
            if let fault { faults.append("\(name): \(key): \(fault)") }
        }
        memory = max(1, memoryMinutes * 60_000 / intervalMs)
        self.groups = groups.values.sorted { $0.name < $1.name }
        if groups.isEmpty { faults.append("\(name): has no boxes: write boxes.NAME.weight: 1") }
        guard faults.isEmpty else { throw SettingsError(faults: faults) }
    }

    /// The number of the first box of a group.
    package func box(of group: String) -> Int? {
        var place = 0
        for each in groups {
            if each.name == group { return place }
            place += each.weight
        }
        return nil
    }

    static func set(_ text: String, _ range: ClosedRange<Int64>, _ take: (Int64) -> Void) -> String? {
        guard let value = Int64(text), range.contains(value) else {
            return "is `\(text)`, must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        }
        take(value)
        return nil
    }

    /// Groups by their weights, in turn: of 100 boxes with weights 99 and 1 exactly one is of the second.
    package func group(ofBox index: Int) -> BoxGroup {
        var place = index % groups.reduce(0) { $0 + $1.weight }
        for group in groups {
            place -= group.weight
            if place < 0 { return group }
        }
        preconditionFailure("weights are at least 1")
    }
}

extension BoxGroup {
    /// Sets a value. Returns what is wrong, or nil.
    mutating func set(_ path: [String], _ text: String) -> String? {
        switch (path.count, path[0]) {
        case (1, "weight"): return Scenario.set(text, 1...100_000) { weight = Int($0) }
        case (1, "structure_bytes"): return Scenario.set(text, 32...2_000) { structureBytes = Int($0) }
        case (1, "cut_after_bytes"): return Scenario.set(text, 0...1_000_000_000) { cutAfterBytes = Int($0) }
        case (1, "model"): model = text
        case (1, "firmware"): firmware = text
        case (1, "field"):
            guard let field = EmulatedField(text) else {
                return
                    "is `\(text)`, must be like `60.3630,25.1994 60.3630,25.2060 60.3648,25.1994 lanes 8 at 6 km/h`: a corner, "
                    + "the end of its first lane, where the last lane begins"
            }
            self.field = field
        case (1, "peer"):
            guard let peer = Peer(rawValue: text) else {
                return "is `\(text)`, must be one of \(Peer.allCases.map(\.rawValue).joined(separator: ", "))"
            }
            self.peer = peer
        case (2, "values"):
            guard EmulatedBox.standard[path[1]] != nil else {
                return "is no value; there are \(EmulatedBox.standard.keys.sorted().joined(separator: ", "))"
            }
            guard let wave = Wave(text) else {
                return "is `\(text)`, must be `85`, `80 .. 99 over 40 min` or `193 to 150 over 120 min`"
            }
            values[path[1]] = wave
        default:
            return
                "is not known; a box has weight, model, firmware, field, peer, structure_bytes, cut_after_bytes, values.…"
        }
        return nil
    }
}
