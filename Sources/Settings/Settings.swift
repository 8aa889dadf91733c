internal import Fleet

/// Everything wrong with the settings, in one go.
public struct SettingsError: Error, CustomStringConvertible {
    public let faults: [String]
    public init(faults: [String]) { self.faults = faults }
    public var description: String { faults.joined(separator: "\n") }
}

/// Checked settings. Later sources win: built-in defaults, the YAML file, `DROVER_…` variables, options of a command.
public struct Settings: Sendable {
    private var values: [String: String]

    /// `sources` from weakest to strongest: a name that messages can show, and its values by dotted key.
    public init(sources: [(name: String, values: [String: String])]) throws {
        var (values, faults): ([String: String], [String]) = ([:], [])
        for row in SettingRow.table { values[row.key] = row.standard }
        for source in sources {
            for (key, text) in source.values.sorted(by: { $0.key < $1.key }) {
                guard let row = SettingRow.table.first(where: { $0.key == key }) else {
                    faults.append("\(source.name): \(key): is not a setting. `drover check --settings-help` lists them")
                    continue
                }
                if let fault = Settings.fault(text, row.kind) {
                    faults.append("\(source.name): \(key): \(fault) (\(row.help))")
                } else {
                    values[key] = text
                }
            }
        }
        guard faults.isEmpty else { throw SettingsError(faults: faults) }
        self.values = values
    }

    private static func fault(_ text: String, _ kind: SettingRow.Kind) -> String? {
        switch kind {
        case .text: return text.utf8.count > 4_096 ? "is longer than 4096 bytes" : nil
        case .integer(let range):
            guard let value = Int64(text) else { return "is `\(text)`, must be a whole number" }
            return range.contains(value) ? nil : "is \(value), must be \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words):
            return words.contains(text) ? nil : "is `\(text)`, must be \(words.joined(separator: " or "))"
        case .thousandths(let range):
            guard let value = Decimal.scaled(text.utf8, decimals: 3) else { return "is `\(text)`, must be a number" }
            let (least, most) = (
                Decimal.text(range.lowerBound, decimals: 3), Decimal.text(range.upperBound, decimals: 3)
            )
            return range.contains(value) ? nil : "is \(text), must be \(least) to \(most)"
        }
    }

    public func text(_ key: String) -> String {
        guard let value = values[key] else { preconditionFailure("\(key) is not in the settings table") }
        return value
    }
    /// The setting, or the other one when it is empty.
    public func text(_ key: String, or other: String) -> String { text(key).isEmpty ? text(other) : text(key) }
    public func integer(_ key: String) -> Int64 { Int64(text(key))! }
    public func thousandths(_ key: String) -> Int64 { Decimal.scaled(text(key).utf8, decimals: 3)! }
}
