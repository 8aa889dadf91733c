public import Fleet
internal import Formats

/// A campus's roster as its registrar hands it out: CSV (RFC 4180; commas, semicolons or tabs) in UTF-8, with a header.
public enum RosterFile {
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// Counted from 1, the header included; 0: the whole file.
        public let line: Int
        /// Names no value of a person.
        public let reason: String
        public var description: String { line == 0 ? reason : "line \(line): \(reason)" }
    }

    public struct Roster: Equatable, Sendable {
        public var people: [RosterEntry] = []
        /// Header columns that are ignored.
        public var unusedColumns: [String] = []
    }

    public static let bytesMax = 32 << 20
    public static let peopleMax = 200_000
    private static let nameBytesMax = 200
    private static let columns = ["id", "role", "name", "mail"]

    /// All of the file, or every fault of it in the order of its lines.
    public static func read(_ bytes: [UInt8]) -> Result<Roster, Faults> {
        if let fault = faultOfWhole(bytes) { return .failure(Faults([Fault(line: 0, reason: fault)])) }
        var lines = CSVRecords(bytes)
        guard let header = lines.next() else { return .failure(Faults([Fault(line: 0, reason: "is empty")])) }
        let names = header.fields.map { text($0)?.lowercased() ?? "" }
        var (roster, faults): (Roster, [Fault]) = (Roster(), [])
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() {
            if !columns.contains(name) {
                roster.unusedColumns.append(name)
            } else if places.updateValue(place, forKey: name) != nil {
                faults.append(Fault(line: 1, reason: "the column `\(name)` stands twice"))
            }
        }
        for name in columns where places[name] == nil {
            faults.append(Fault(line: 1, reason: "the column `\(name)` is missing; id, role, name and mail are needed"))
        }
        guard faults.isEmpty else { return .failure(Faults(faults)) }
        var seen: [String: Int] = [:]
        while let record = lines.next() {
            if record.isBlank { continue }
            do throws(Reason) {
                let person = try entry(record, places, columnCount: names.count)
                if let first = seen.updateValue(record.line, forKey: person.id) {
                    throw Reason("the id stands in line \(first) already")
                }
                roster.people.append(person)
            } catch {
                faults.append(Fault(line: record.line, reason: error.text))
            }
            if roster.people.count > peopleMax || faults.count > peopleMax {
                return .failure(Faults([Fault(line: 0, reason: "has more than \(peopleMax) people")]))
            }
        }
        if roster.people.isEmpty && faults.isEmpty {
            faults.append(Fault(line: 0, reason: "holds nobody: there is no line after the header"))
        }
        return faults.isEmpty ? .success(roster) : .failure(Faults(faults))
    }

    public struct Faults: Error, Equatable, Sendable {
        public let all: [Fault]
        init(_ all: [Fault]) { self.all = all }
    }

    private struct Reason: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static func faultOfWhole(_ bytes: [UInt8]) -> String? {
        if bytes.count > bytesMax { return "is larger than \(bytesMax) bytes" }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16; save it as CSV in UTF-8"
        }
        if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "is a spreadsheet; save it as CSV in UTF-8" }
        return nil
    }

    private static func entry(
        _ record: CSVRecords.Record, _ places: [String: Int], columnCount: Int
    ) throws(Reason) -> RosterEntry {
        if record.isQuoteOpen { throw Reason("a quotation mark is not closed, or text follows one") }
        guard record.fields.count == columnCount else {
            throw Reason("has \(record.fields.count) fields, the header has \(columnCount)")
        }
        func cell(_ name: String) throws(Reason) -> String {
            guard let text = text(record.fields[places[name]!]) else {
                throw Reason("`\(name)` is not UTF-8; save the file as CSV in UTF-8")
            }
            return text
        }
        let (id, role, name, mail) = (try cell("id"), try cell("role"), try cell("name"), try cell("mail"))
        guard VehicleID.isValid(id.utf8) else { throw Reason("`id` must be 1 to 64 letters, digits, -, _ or .") }
        guard let role = PersonRole(rawValue: role) else {
            throw Reason("`role` must be one of " + PersonRole.allCases.map(\.rawValue).joined(separator: ", "))
        }
        if let fault = faultOfName(name) { throw Reason("`name` " + fault) }
        guard MailAddress.isValid(mail) else { throw Reason("`mail` is no plain mail address in ASCII") }
        return RosterEntry(id: id, role: role, name: name, mail: mail)
    }

    /// Names come back out in pages, mail and spreadsheets: nothing that ends a line, turns text around or is a
    /// formula.
    private static func faultOfName(_ name: String) -> String? {
        guard (1...nameBytesMax).contains(name.utf8.count) else { return "must be 1 to \(nameBytesMax) bytes" }
        if let first = name.first, "=+-@".contains(first) { return "begins like a formula" }
        let isHidden = name.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
            default: false
            }
        }
        return isHidden ? "holds characters that cannot be seen" : nil
    }

    /// Without spaces around it; nil: not UTF-8.
    private static func text(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var trimmed = text[...]
        while let first = trimmed.first, first == " " || first == "\t" { trimmed.removeFirst() }
        while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
        return String(trimmed)
    }
}
