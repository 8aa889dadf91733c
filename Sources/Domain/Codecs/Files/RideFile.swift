internal import Basics
public import Fleet
internal import Formats

/// Campus days from files: JSON lines as they go to `drover.dispatch`, or CSV of rides as another system recorded them.
public enum RideFile {
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// Counted from 1; 0: the whole file.
        public let line: Int
        public let reason: String
        public var description: String { line == 0 ? reason : "line \(line): \(reason)" }
    }

    public struct Faults: Error, Equatable, Sendable { public let all: [Fault] }

    private static let recordsMax = 5_000_000
    private static let faultsMax = 1_000

    /// JSON when its first character is a brace.
    /// - Parameter campus: whose rides a CSV file has; of JSON lines the only one allowed; nil: as the lines say.
    /// - Returns: the records of each campus in the order of their times.
    public static func read(_ bytes: [UInt8], campus: String?) -> Result<[RideRecord], Faults> {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let first = text.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        guard let first else { return .failure(Faults(all: [Fault(line: 0, reason: "is empty")])) }
        if first == 0x7B { return readLines(text, campus: campus) }
        guard let campus else {
            return .failure(Faults(all: [Fault(line: 0, reason: "is CSV: say whose rides they are, --campus C")]))
        }
        return readRides(bytes, campus: campus)
    }

    // MARK: JSON lines

    private static func readLines(_ text: ArraySlice<UInt8>, campus: String?) -> Result<[RideRecord], Faults> {
        var (records, faults): ([RideRecord], [Fault]) = ([], [])
        var lastMs: [String: Int64] = [:]
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            do throws(Fault) {
                let record = try record(Array(line), line: index + 1, campus: campus)
                // A campus's own settings have no time.
                if case .campus = record.kind {
                } else {
                    if let last = lastMs[record.campus], record.ts < last {
                        throw Fault(line: index + 1, reason: "`ts` is before that of the line above it of this campus")
                    }
                    lastMs[record.campus] = record.ts
                }
                records.append(record)
            } catch {
                faults.append(error)
            }
            if records.count > recordsMax { return .failure(Faults(all: [tooMany])) }
            if faults.count >= faultsMax { break }
        }
        return faults.isEmpty ? .success(records) : .failure(Faults(all: faults))
    }

    private static func record(_ line: [UInt8], line number: Int, campus: String?) throws(Fault) -> RideRecord {
        let decoded: RideRecords.Decoded
        do {
            let fields = try FlatJSON.fields(line, bytesMax: RideRecords.bytesMax)
            guard case .text(let said)? = fields.first(where: { $0.key == "campus" })?.value else {
                throw DecodeError.keyMissing("campus")
            }
            decoded = try unsafe TickOrRecord(line, key: Array(said.utf8), RideRecords.decode)
        } catch {
            throw Fault(line: number, reason: "\(error)")
        }
        guard case .record(let record) = decoded else {
            throw Fault(line: number, reason: "ticks do not come from files")
        }
        if case .decision = record.kind {
            throw Fault(line: number, reason: "a decision is made by the workers, not brought by a file")
        }
        if let campus, record.campus != campus {
            throw Fault(line: number, reason: "`campus` is not the one that was named")
        }
        return record
    }

    private static var tooMany: Fault { Fault(line: 0, reason: "has more than \(recordsMax) records; split it") }

    // MARK: CSV

    private static let needed = [
        "request", "rider", "passengers", "from_latitude_deg", "from_longitude_deg", "to_latitude_deg",
        "to_longitude_deg", "requested_at",
    ]
    private static let optional = [
        "from_address", "to_address", "description", "picked_up_at", "dropped_off_at", "cancelled_at",
    ]
    private static let textBytesMax = 1_000

    private static func readRides(_ bytes: [UInt8], campus: String) -> Result<[RideRecord], Faults> {
        var lines = CSVRecords(bytes)
        let names = (lines.next()?.fields ?? []).map { String(decoding: $0, as: UTF8.self).lowercased() }
        var faults: [Fault] = []
        for name in needed where !names.contains(name) {
            faults.append(Fault(line: 1, reason: "the column `\(name)` is missing"))
        }
        for name in needed + optional where names.count(where: { $0 == name }) > 1 {
            faults.append(Fault(line: 1, reason: "the column `\(name)` stands twice"))
        }
        guard faults.isEmpty else { return .failure(Faults(all: faults)) }
        var (records, seen): ([RideRecord], [String: Int]) = ([], [:])
        while let line = lines.next() {
            if line.isBlank { continue }
            do throws(Fault) {
                let row = try cells(line, names)
                let ride = try ride(row, campus: campus)
                if let first = seen.updateValue(line.line, forKey: row["request"]!) {
                    throw Fault(line: line.line, reason: "the request stands in line \(first) already")
                }
                records += ride
            } catch {
                faults.append(Fault(line: line.line, reason: error.reason))
            }
            if records.count > recordsMax { return .failure(Faults(all: [tooMany])) }
            if faults.count >= faultsMax { break }
        }
        if records.isEmpty && faults.isEmpty { faults.append(Fault(line: 0, reason: "holds no ride")) }
        guard faults.isEmpty else { return .failure(Faults(all: faults)) }
        // Records of one time keep the order of the lines.
        let order = records.indices.sorted { (records[$0].ts, $0) < (records[$1].ts, $1) }
        return .success(order.map { records[$0] })
    }

    private static func cells(_ record: CSVRecords.Record, _ names: [String]) throws(Fault) -> [String: String] {
        guard !record.isQuoteOpen, record.fields.count == names.count else {
            throw Fault(line: 0, reason: "has \(record.fields.count) whole fields, the header has \(names.count)")
        }
        var cells: [String: String] = [:]
        for (name, field) in zip(names, record.fields) {
            guard let text = String(validating: field, as: UTF8.self), !field.contains(0) else {
                throw Fault(line: 0, reason: "`\(name)` is not text in UTF-8")
            }
            if !text.isEmpty { cells[name] = text }
        }
        return cells
    }

    /// The statements of one ride's rider and driver.
    private static func ride(_ row: [String: String], campus: String) throws(Fault) -> [RideRecord] {
        func cell(_ name: String) throws(Fault) -> String {
            guard let text = row[name] else { throw Fault(line: 0, reason: "`\(name)` is missing") }
            return text
        }
        func id(_ name: String) throws(Fault) -> String {
            let text = try cell(name)
            guard VehicleID.isValid(text.utf8) else {
                throw Fault(line: 0, reason: "`\(name)` must be 1 to 64 letters, digits, -, _ or .")
            }
            return text
        }
        func place(_ name: String) throws(Fault) -> Position {
            let text = try cell(name + "_latitude_deg") + "," + cell(name + "_longitude_deg")
            guard let place = Position(text: text) else {
                throw Fault(line: 0, reason: "`\(name)_latitude_deg` and `\(name)_longitude_deg` are no place")
            }
            return place
        }
        func time(_ name: String) throws(Fault) -> Int64? {
            guard let text = row[name] else { return nil }
            guard let ms = UTC.parse(text), UTC.plausible.contains(ms) else {
                throw Fault(line: 0, reason: "`\(name)` must be a time with its zone, like 2026-11-21T08:00:00Z")
            }
            return ms
        }
        guard let passengers = Int(try cell("passengers")), (1...100).contains(passengers) else {
            throw Fault(line: 0, reason: "`passengers` must be 1 to 100")
        }
        let request = try id("request")
        var pickup = RideRecord.Pickup(
            request: request, rider: try id("rider"), passengers: passengers, from: try place("from"),
            to: try place("to"))
        pickup.fromAddress = row["from_address"]
        pickup.toAddress = row["to_address"]
        pickup.description = row["description"]
        for text in [pickup.fromAddress, pickup.toAddress, pickup.description]
        where (text?.utf8.count ?? 0) > textBytesMax {
            throw Fault(line: 0, reason: "an address or description is longer than \(textBytesMax) bytes")
        }
        guard let requestedMs = try time("requested_at") else {
            throw Fault(line: 0, reason: "`requested_at` is missing")
        }
        let later: [(String, Int64?, RideRecord.Kind)] = [
            ("picked-up", try time("picked_up_at"), .done(request: request, isPickup: true)),
            ("dropped-off", try time("dropped_off_at"), .done(request: request, isPickup: false)),
            ("cancelled", try time("cancelled_at"), .cancel(request: request)),
        ]
        var (records, lastMs) = ([(requestedMs, "requested", RideRecord.Kind.pickup(pickup))], requestedMs)
        for case (let word, let ms?, let kind) in later {
            guard ms >= lastMs else { throw Fault(line: 0, reason: "its times are not in order") }
            records.append((ms, word, kind))
            lastMs = ms
        }
        return records.map { ms, word, kind in
            // The same row gives the same ids.
            RideRecord(id: String("\(request)-\(word)".suffix(64)), campus: campus, ts: ms, by: "import", kind: kind)
        }
    }
}
