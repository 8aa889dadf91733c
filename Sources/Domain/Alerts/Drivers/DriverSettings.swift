internal import Basics
internal import Codecs
public import Formats

/// An account's switches, limits, units and fuel price: what it has said itself, and the standard for everything else.
/// On the log it is a JSON object of the keys of `DriverSetting`.
public struct DriverSettings: Equatable, Sendable {
    public enum Value: Equatable, Sendable {
        case flag(Bool)
        /// In thousandths of the key's unit.
        case number(Int64)
        case text(String)
    }
    public enum Units: String, Sendable { case us, metric }

    public struct Fault: Error, Equatable, CustomStringConvertible { public let description: String }

    public static let standard = DriverSettings()
    /// Judges nothing.
    public static let off: DriverSettings = {
        var settings = DriverSettings()
        settings.said[.alerts] = .flag(false)
        return settings
    }()
    static let bytesMax = 10_000

    /// The values that were given.
    public private(set) var said: [DriverSetting: Value] = [:]

    public init() {}

    /// - Throws: the first mistake, with the key and what it may be.
    public init(json bytes: [UInt8]) throws(Fault) {
        let fields: [JSONValue.Field]
        do throws(FlatJSON.Fault) {
            fields = try FlatJSON.fields(bytes, bytesMax: DriverSettings.bytesMax)
        } catch {
            throw Fault(description: "\(error)")
        }
        for (key, value) in fields {
            guard let setting = DriverSetting(rawValue: key) else {
                throw Fault(
                    description:
                        "`\(key.prefix(40))` is no setting: \(DriverSetting.allCases.map(\.rawValue).joined(separator: ", "))"
                )
            }
            switch value {
            // As if absent. (Lists and objects are refused before.)
            case .null, .list, .object: continue
            case .bool(let flag): try set(setting, .flag(flag))
            case .number(let text): try set(setting, text: text, isQuoted: false)
            case .text(let text): try set(setting, text: text, isQuoted: true)
            }
            if let twin = setting.row.twin, said[twin] != nil {
                throw Fault(description: "`\(key)` and `\(twin.rawValue)` say the same: leave one of them out")
            }
        }
        try check()
    }

    public init(text: String) throws(Fault) { try self.init(json: Array(text.utf8)) }

    /// The record's form: only the given values, in the order of the table.
    public var text: String { JSONValue.object(fields(said)).rendered() }

    /// For people: everything that holds, the standards included.
    public var whole: JSONValue { whole(DriverSetting.allCases) }

    /// The same of some.
    public func whole(_ settings: [DriverSetting]) -> JSONValue {
        var all = said
        for setting in DriverSetting.allCases where said[setting] == nil {
            if let twin = setting.row.twin, said[twin] != nil { continue }
            all[setting] = setting.row.standard
        }
        return .object(fields(all.filter { settings.contains($0.key) }))
    }

    private func fields(_ values: [DriverSetting: Value]) -> [JSONValue.Field] {
        DriverSetting.allCases.compactMap { setting in
            switch values[setting] {
            case nil: nil
            case .flag(let flag): (setting.rawValue, .bool(flag))
            case .number(let value): (setting.rawValue, .number(Decimal.text(value, decimals: 3)))
            case .text(let text): (setting.rawValue, .text(text))
            }
        }
    }

    // MARK: Setting

    /// `key=value` as a person types it; an empty value takes the standard again.
    public mutating func set(_ word: String) throws(Fault) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let setting = DriverSetting(rawValue: parts[0]) else {
            throw Fault(
                description:
                    "\(word.prefix(60)): must be KEY=VALUE with one of \(DriverSetting.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        if let twin = setting.row.twin { said[twin] = nil }
        guard !parts[1].isEmpty else {
            said[setting] = nil
            return try check()
        }
        switch (setting.row.kind, parts[1].lowercased()) {
        case (.flag, "true"), (.flag, "on"), (.flag, "yes"): said[setting] = .flag(true)
        case (.flag, "false"), (.flag, "off"), (.flag, "no"): said[setting] = .flag(false)
        case (.flag, _): throw DriverSettings.wrong(setting, "on or off")
        case (.number, _): try set(setting, text: parts[1], isQuoted: false)
        case (.choice, _), (.currency, _): try set(setting, text: parts[1], isQuoted: true)
        }
        try check()
    }

    /// The same of the installation's limits: nothing else is theirs.
    public mutating func set(limit word: String) throws(Fault) {
        let key = String(word.prefix { $0 != "=" })
        guard DriverSetting(rawValue: key)?.isLimit == true else {
            let limits = DriverSetting.limits.map(\.rawValue).joined(separator: ", ")
            throw Fault(description: "`\(key)` is no limit: \(limits)")
        }
        try set(word)
    }

    private static func wrong(_ setting: DriverSetting, _ what: String) -> Fault {
        Fault(description: "`\(setting.rawValue)` must be \(what)")
    }

    private mutating func set(_ setting: DriverSetting, _ value: Value) throws(Fault) {
        guard case .flag = setting.row.kind else { throw DriverSettings.expected(setting) }
        said[setting] = value
    }

    private static func expected(_ setting: DriverSetting) -> Fault {
        switch setting.row.kind {
        case .flag: wrong(setting, "true or false")
        case .number(let least, let most): wrong(setting, "a number from \(least) to \(most)")
        case .choice(let words): wrong(setting, words.map { "\"\($0)\"" }.joined(separator: " or "))
        case .currency: wrong(setting, "the three capital letters of a currency, like USD")
        }
    }

    private mutating func set(_ setting: DriverSetting, text: String, isQuoted: Bool) throws(Fault) {
        switch setting.row.kind {
        case .number(let least, let most):
            guard !isQuoted, let value = Decimal.scaled(text.utf8, decimals: 3), value >= least * 1_000,
                value <= most * 1_000
            else { throw DriverSettings.expected(setting) }
            said[setting] = .number(value)
        case .choice(let words):
            guard isQuoted, words.contains(text) else { throw DriverSettings.expected(setting) }
            said[setting] = .text(text)
        case .currency:
            let isCode = text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
            guard isQuoted, isCode else { throw DriverSettings.expected(setting) }
            said[setting] = .text(text)
        case .flag: throw DriverSettings.expected(setting)
        }
    }

    /// Rejects values that are valid alone but not together.
    private func check() throws(Fault) {
        if number(.voltageLowV) >= number(.voltageHighV) {
            throw Fault(description: "`voltage_low_v` must be less than `voltage_high_v`")
        }
    }

    // MARK: Reading

    public func isOn(_ setting: DriverSetting) -> Bool { value(setting) == .flag(true) }

    /// In thousandths of the key's unit; 0 when its twin is said instead.
    public func number(_ setting: DriverSetting) -> Int64 {
        if case .number(let value) = value(setting) { return value }
        return 0
    }

    public var units: Units { value(.units) == .text("metric") ? .metric : .us }
    public var fuelCurrency: String {
        if case .text(let code) = value(.fuelCurrency) { return code }
        return ""
    }

    private func value(_ setting: DriverSetting) -> Value? { said[setting] ?? setting.row.standard }
}
