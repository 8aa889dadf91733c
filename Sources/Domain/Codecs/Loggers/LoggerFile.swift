internal import Basics
public import Fleet
internal import Formats

/// Why a file cannot be read as a car logger's recording.
public enum LoggerError: Error, Equatable, Sendable, CustomStringConvertible {
    case empty
    case notText
    case noTimeColumn(found: [String])
    case noSignalColumn(found: [String])
    case startNeeded(String)
    case mappingLine(Int)

    public var description: String {
        switch self {
        case .empty: "holds no header and no row"
        case .notText: "is not a text file; a car logger's file is CSV with a header line"
        case .noTimeColumn(let found):
            "has no column with the time in its first line (found: \(found.joined(separator: ", "))). "
                + "Known names: time, timestamp, ts, t_s, t_ms. Name yours in a mapping file (--mapping FILE)"
        case .noSignalColumn(let found):
            "has no column that is known, such as speed_kmh, rpm or maf_gps (found: \(found.joined(separator: ", "))). "
                + "Name yours in a mapping file (--mapping FILE)"
        case .startNeeded(let why): "\(why): say when the recording began with --start 2026-11-21T08:00:00Z"
        case .mappingLine(let line):
            "line \(line): must be `column name,key[,unit]`, the key one of "
                + (["time", "seconds"] + Signal.allCases.map(\.row.key)).joined(separator: ", ")
        }
    }
}

/// A recording as read: readings in file order, and a count of everything that was not taken and why.
public struct LoggerRecording: Equatable, Sendable {
    public enum Skipped: String, CaseIterable, Sendable {
        case rowCut = "rows cut off"
        case timeUnreadable = "rows without a readable time"
        case timeImpossible = "rows with a time outside 1990 to 2100"
        case rowEmpty = "rows without any value"
        case rowRepeated = "rows that say the same again"
        case valueUnreadable = "values that are not numbers"
        case valueImpossible = "values that are physically impossible"
    }

    public var rows = 0
    public var readings: [CarReading] = []
    public var skipped: [Skipped: Int] = [:]
    /// Whether its times were counted from the file's `startMs`.
    public internal(set) var usesStart = false

    mutating func skip(_ reason: Skipped) { skipped[reason, default: 0] += 1 }
}

/// Reads the files of car loggers: columns by name and unit, times relative or absolute, wide rows or one signal a
/// row, several rows a second. Formats seen: carOBD, KIT (PLX KIWI), enviroCar, and our canonical CSV whose columns
/// are `ts` and the wire's keys.
public struct LoggerFile {
    /// When the recording began, for files whose times are relative or a clock without a date.
    public var startMs: Int64?
    /// The date of a clock without one, taken from the file's name.
    var dateMs: Int64?
    public var extraColumns: [String: LoggerColumn] = [:]

    public init(fileName: String, startMs: Int64? = nil) {
        self.startMs = startMs
        dateMs = UTC.parse(String(fileName.prefix(10)))
    }

    public func read(_ bytes: [UInt8]) throws(LoggerError) -> LoggerRecording {
        guard !bytes.prefix(4096).contains(0) else { throw .notText }
        var lines = CSVLines(bytes)
        guard let header = lines.next(), !header.fields.allSatisfy(\.isEmpty) else { throw .empty }
        let layout = try layout(
            header.fields.map { String(decoding: $0, as: UTF8.self) }, commaIsPoint: lines.delimiter == 0x3B)
        var clock = LoggerClock(layout.timeKind, startMs: startMs, dateMs: dateMs)
        var recording = LoggerRecording()
        while let row = lines.next() {
            if row.fields.count == 1, row.fields[0].isEmpty { continue }
            recording.rows += 1
            try decode(row.fields, isCut: row.isCut, layout, &clock, &recording)
        }
        recording.usesStart = clock.usesStart
        return recording
    }

    private func decode(
        _ fields: [ArraySlice<UInt8>], isCut: Bool, _ layout: LoggerLayout, _ clock: inout LoggerClock,
        _ recording: inout LoggerRecording
    ) throws(LoggerError) {
        // A trailing comma more or less is a habit of loggers; fewer fields than that is a row cut off.
        guard fields.count >= layout.columns.count - 1, !(isCut && fields.count < layout.columns.count) else {
            return recording.skip(.rowCut)
        }
        guard let ts = try clock.ms(fields[layout.timeIndex]) else { return recording.skip(.timeUnreadable) }
        guard UTC.plausible.contains(ts) else { return recording.skip(.timeImpossible) }
        var reading = CarReading(ts: ts)
        layout.read(fields, into: &reading, &recording)
        guard !reading.isEmpty else { return recording.skip(.rowEmpty) }
        clock.separate(&reading)
        if recording.readings.last == reading { return recording.skip(.rowRepeated) }
        recording.readings.append(reading)
    }

    private func layout(_ headers: [String], commaIsPoint: Bool) throws(LoggerError) -> LoggerLayout {
        let columns = headers.map { LoggerColumns.column($0, extra: extraColumns) }
        let shown = headers.prefix(12).map {
            String($0.unicodeScalars.filter { $0.value >= 32 }.prefix(40).map(Character.init))
        }
        let times = columns.indices.filter { if case .time = columns[$0] { true } else { false } }
        // The engine's own counter is the last resort: it counts whole seconds and stops with the engine.
        guard let time = times.first(where: { columns[$0] != .time(.engineRunSeconds) }) ?? times.first,
            case .time(let kind) = columns[time]
        else { throw .noTimeColumn(found: shown) }
        let layout = LoggerLayout(columns: columns, timeIndex: time, timeKind: kind, commaIsPoint: commaIsPoint)
        guard layout.hasSignals else { throw .noSignalColumn(found: shown) }
        return layout
    }
}
