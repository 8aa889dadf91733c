package import Settings

/// How an adapter behaves on the wire.
package enum AdapterPeer: String, CaseIterable, Sendable {
    case answers, silent, closes, garbage, babble, slow, stopped
    case noData = "no_data"
    case unableToConnect = "unable_to_connect"
    case busError = "bus_error"
    case unknown
    case latePrompt = "late_prompt"
}

/// Adapters of one kind in a scenario.
package struct AdapterGroup: Equatable, Sendable {
    package let name: String
    var weight = 1
    package var peer = AdapterPeer.answers
    var latencyMs: Int64 = 40
    var spaces = true
    var units = 1
    /// PIDs of mode 01; those that tell which there are come by themselves.
    var pids: Set<UInt8> = [0x01, 0x04, 0x05, 0x0C, 0x0D, 0x0F, 0x10, 0x11, 0x1F, 0x2F, 0x42]
    var stored: [UInt16] = []
    var pending: [UInt16] = []
    var permanent: [UInt16] = []
    /// The engine runs this long of each period, minutes; nil: always.
    var ignition: Ignition?
    var values: [String: Wave] = [:]

    init(name: String) { self.name = name }

    struct Ignition: Equatable, Sendable {
        let onMin: Int64
        let ofMin: Int64
    }
}

/// A scenario file for adapters: which cars there are and what happens to them.
package struct AdapterScenario: Equatable, Sendable {
    package var groups: [AdapterGroup] = []

    /// - Throws: `SettingsError` with every fault.
    package init(yaml: [UInt8], name: String) throws(SettingsError) {
        let values = try YAML.flatten(yaml, name: name)
        var (faults, groups): ([String], [String: AdapterGroup]) = ([], [:])
        for (key, text) in values.sorted(by: { $0.key < $1.key }) {
            let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            var fault: String? = "is not known; there is adapters.NAME.…"
            if path.count >= 3, path[0] == "adapters" {
                fault = groups[path[1], default: AdapterGroup(name: path[1])].set(Array(path[2...]), text)
            }
            if let fault { faults.append("\(name): \(key): \(fault)") }
        }
        self.groups = groups.values.sorted { $0.name < $1.name }
        if groups.isEmpty { faults.append("\(name): has no adapters: write adapters.NAME.weight: 1") }
        guard faults.isEmpty else { throw SettingsError(faults: faults) }
    }

    /// Groups by their weights, in turn.
    func group(of index: Int) -> AdapterGroup {
        var place = index % groups.reduce(0) { $0 + $1.weight }
        for group in groups {
            place -= group.weight
            if place < 0 { return group }
        }
        preconditionFailure("weights are at least 1")
    }
}

extension AdapterGroup {
    /// Sets a value. Returns what is wrong, or nil.
    mutating func set(_ path: [String], _ text: String) -> String? {
        switch (path.count, path[0]) {
        case (1, "weight"): return Scenario.set(text, 1...100_000) { weight = Int($0) }
        case (1, "latency_ms"): return Scenario.set(text, 0...10_000) { latencyMs = $0 }
        case (1, "units"): return Scenario.set(text, 1...8) { units = Int($0) }
        case (1, "spaces"): return Scenario.set(text, 0...1) { spaces = $0 == 1 }
        case (1, "peer"):
            guard let peer = AdapterPeer(rawValue: text) else {
                return "is `\(text)`, must be one of \(AdapterPeer.allCases.map(\.rawValue).joined(separator: ", "))"
            }
            self.peer = peer
        case (1, "pids"):
            let words = text.split(separator: " ")
            let numbers = words.compactMap { UInt8($0, radix: 16) }.filter { $0 % 0x20 != 0 && $0 < 0x60 }
            guard numbers.count == words.count else { return "is `\(text)`, must be parameters like `01 0C 0D 42`" }
            pids = Set(numbers)
        case (1, "stored"), (1, "pending"), (1, "permanent"):
            let words = text.split(separator: " ")
            let codes = words.compactMap { AdapterGroup.code(String($0)) }
            guard codes.count == words.count else { return "is `\(text)`, must be trouble codes like `P0133 U0100`" }
            switch path[0] {
            case "stored": stored = codes
            case "pending": pending = codes
            default: permanent = codes
            }
        case (1, "ignition"):
            let words = text.split(separator: " ")
            guard words.count == 4, words[1] == "of", words[3] == "min", let on = Int64(words[0]),
                let of = Int64(words[2]), (1...100_000).contains(of), (0...of).contains(on)
            else { return "is `\(text)`, must be like `20 of 60 min`" }
            ignition = Ignition(onMin: on, ofMin: of)
        case (2, "values"):
            guard EmulatedAdapter.standard[path[1]] != nil || EmulatedAdapter.driven.contains(path[1]) else {
                let keys = EmulatedAdapter.standard.keys.sorted() + EmulatedAdapter.driven.sorted()
                return "is no value; there are \(keys.joined(separator: ", "))"
            }
            guard let wave = Wave(text) else {
                return "is `\(text)`, must be `85`, `80 .. 99 over 40 min` or `193 to 150 over 120 min`"
            }
            values[path[1]] = wave
        default:
            return "is not known; an adapter has weight, peer, latency_ms, spaces, units, pids, stored, pending, "
                + "permanent, ignition, values.…"
        }
        return nil
    }

    /// P0133 as its two bytes (SAE J2012), on our own: the gateway's decoder is judged by it.
    private static func code(_ text: String) -> UInt16? {
        guard text.count == 5, let system = "PCBU".firstIndex(of: text.first!),
            let digits = UInt16(text.dropFirst(), radix: 16), digits < 0x4000
        else { return nil }
        return UInt16("PCBU".distance(from: "PCBU".startIndex, to: system)) << 14 | digits
    }
}
