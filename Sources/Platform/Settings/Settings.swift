internal import Basics

/// Everything wrong with the settings, in one go.
package struct SettingsError: Error, CustomStringConvertible {
    package let faults: [String]
    package init(faults: [String]) { self.faults = faults }
    package var description: String { faults.joined(separator: "\n") }
}

/// One place where settings come from, with a name that messages can show.
package struct SettingSource: Sendable {
    package enum Origin: Sendable { case file, environment, other }

    package let name: String
    package let origin: Origin
    /// By dotted key.
    package internal(set) var values: [String: String]
    /// Where a value stands in the file, counted from 1.
    package internal(set) var lines: [String: Int] = [:]
    /// Problems found while reading, each with its place.
    package internal(set) var faults: [String] = []
    /// No: the file could be read up to a fault of its syntax only.
    package internal(set) var isWhole = true

    package init(_ name: String, _ values: [String: String], origin: Origin = .other) {
        self.name = name
        self.values = values
        self.origin = origin
    }

    /// The variables that are settings, or look as if they were meant to be: `DROVER_` and the name of a group. With `_FILE`
    /// behind it a variable names a file whose first line is the value: so containers are given secrets.
    package init(environment: [String: String], read: (_ path: String) throws -> [UInt8]) {
        self.init("environment", [:], origin: .environment)
        let groups = Set(SettingRow.table.map { "DROVER_" + $0.group.uppercased() + "_" })
        let known = Dictionary(uniqueKeysWithValues: SettingRow.table.map { ($0.variable, $0.key) })
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) {
            if let key = known[variable] {
                values[key] = value
            } else if variable.hasSuffix("_FILE"), let key = known[String(variable.dropLast(5))] {
                readValue(key, variable, value, read)
            } else if groups.contains(where: { variable.hasPrefix($0) }) {
                let near = Nearest.word(to: variable, of: known.keys.sorted())
                faults.append(
                    "environment: \(variable): is not a setting. " + (near.map { "Did you mean \($0)? " } ?? "")
                        + "`drover settings` lists them")
            }
        }
    }

    private mutating func readValue(
        _ key: String, _ variable: String, _ path: String, _ read: (_ path: String) throws -> [UInt8]
    ) {
        guard values[key] == nil else {
            faults.append("environment: \(variable): \(variable.dropLast(5)) is set, too. Set one of them")
            return
        }
        do {
            let line = try read(path).prefix { $0 != 0x0A && $0 != 0x0D }
            guard !line.isEmpty else {
                faults.append("environment: \(variable): is \(path), whose first line is empty. Write the value there")
                return
            }
            values[key] = String(decoding: line, as: UTF8.self)
        } catch {
            faults.append("environment: \(variable): \(error)")
        }
    }

    /// The setting's place, for the beginning of a message.
    func place(_ key: String) -> String {
        switch origin {
        case .file: return lines[key].map { "\(name): line \($0): \(key)" } ?? "\(name): \(key)"
        case .environment: return "\(name): " + (SettingRow.of(key)?.variable ?? key)
        case .other: return "\(name): \(key)"
        }
    }
}

/// Checked settings. Later sources win: built-in defaults, the YAML file, `DROVER_…` variables, options of a command.
package struct Settings: Sendable {
    private var values: [String: String] = [:]
    /// The source that each setting is of; none: the table.
    private var sources: [String: SettingSource] = [:]

    /// Settings with all that is wrong with them: where a value is at fault the one before it stays.
    package struct Reading: Sendable {
        public fileprivate(set) var settings = Settings()
        public fileprivate(set) var faults: [String] = []
        /// The settings of the table that are at fault.
        public fileprivate(set) var keys: Set<String> = []
    }

    private init() {}

    /// `sources` from weakest to strongest.
    package init(sources: [SettingSource]) throws(SettingsError) {
        let reading = Settings.read(sources)
        guard reading.faults.isEmpty else { throw SettingsError(faults: reading.faults) }
        self = reading.settings
    }

    package static func read(_ sources: [SettingSource]) -> Reading {
        var reading = Reading()
        for row in SettingRow.table { reading.settings.values[row.key] = row.standard }
        let keys = SettingRow.table.map(\.key)
        for source in sources {
            reading.faults += source.faults
            // In the order of the file, that people mend it from top to bottom.
            let order = source.values.sorted {
                (source.lines[$0.key] ?? 0, $0.key) < (source.lines[$1.key] ?? 0, $1.key)
            }
            for (key, text) in order {
                guard let row = SettingRow.of(key) else {
                    let near = Nearest.word(to: key, of: keys).map { "Did you mean \($0)? " } ?? ""
                    reading.faults.append("\(source.place(key)): is not a setting. \(near)`drover settings` lists them")
                    continue
                }
                if let fault = fault(text, row) {
                    reading.faults.append("\(source.place(key)): \(fault)")
                    reading.keys.insert(key)
                } else {
                    reading.settings.values[key] = text
                    reading.settings.sources[key] = source
                }
            }
        }
        return reading
    }

    /// The problem with a value by itself: the rule and what to do; nil when it is valid.
    private static func fault(_ text: String, _ row: SettingRow) -> String? {
        let remedy = "It is: \(row.help). Leave it out for \(row.standard)"
        switch row.kind {
        case .text, .connection, .secret, .file, .secretFile, .folder, .shipped, .fileToMake:
            if text.utf8.contains(0) { return "holds a zero byte, must be text" }
            return text.utf8.count > 4_096 ? "is longer than 4096 bytes" : nil
        case .integer(let range):
            let bounds = "must be \(range.lowerBound) to \(range.upperBound)"
            guard let value = Int64(text) else {
                return "is `\(text)`, must be a whole number; it \(bounds). \(remedy)"
            }
            return range.contains(value) ? nil : "is \(value), \(bounds). \(remedy)"
        case .choice(let words):
            let listed = words.map { "`\($0)`" }.joined(separator: " or ")
            return words.contains(text) ? nil : "is `\(text)`, must be \(listed). \(remedy)"
        case .thousandths(let range):
            let bounds = "must be \(SettingRow.decimal(range.lowerBound)) to \(SettingRow.decimal(range.upperBound))"
            guard let value = Decimal.scaled(text.utf8, decimals: 3) else {
                return "is `\(text)`, must be a number with a point; it \(bounds). \(remedy)"
            }
            return range.contains(value) ? nil : "is \(text), \(bounds). \(remedy)"
        }
    }

    package func text(_ key: String) -> String {
        guard let value = values[key] else { preconditionFailure("\(key) is not in the settings table") }
        return value
    }
    /// The setting, or the other one when it is empty.
    package func text(_ key: String, or other: String) -> String { text(key).isEmpty ? text(other) : text(key) }
    package func integer(_ key: String) -> Int64 { Int64(text(key))! }
    package func thousandths(_ key: String) -> Int64 { Decimal.scaled(text(key).utf8, decimals: 3)! }

    /// The setting's place and name: `drover.yaml: line 3: kafka.group`. Nil: the default applies.
    package func place(_ key: String) -> String? { sources[key]?.place(key) }
    /// The place that a setting was made in; nil: nowhere.
    package func source(_ key: String) -> SettingSource? { sources[key] }

    /// A message that begins with a setting, with its file and line in front where it has one.
    package func located(_ message: String) -> String {
        let key = String(message.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
        guard let source = sources[key], source.origin == .file else { return message }
        return source.place(key) + message.dropFirst(key.count)
    }
}

/// Suggests the known word closest to a mistyped one.
package enum Nearest {
    /// Nil: none is near enough to be meant.
    package static func word(to typed: String, of words: [String]) -> String? {
        // `brokers` at the top of a file is `kafka.brokers`, when no other group has one.
        let sameEnd = words.filter { $0.hasSuffix("." + typed) }
        if sameEnd.count == 1 { return sameEnd[0] }
        let near = words.map { ($0, distance(Array(typed.utf8), Array($0.utf8))) }.min { $0.1 < $1.1 }
        guard let (word, steps) = near, steps <= max(2, word.utf8.count / 6) else { return nil }
        return word
    }

    /// Letters put in, left out, changed, or swapped with the next (optimal string alignment).
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var (before, last, row) = ([Int](), Array(0...b.count), [Int]())
        for i in a.indices {
            row = [i + 1]
            for j in b.indices {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
                row.append(least)
            }
            before = last
            last = row
        }
        return last[b.count]
    }
}
