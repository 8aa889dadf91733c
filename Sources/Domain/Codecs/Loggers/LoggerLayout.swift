internal import Basics
internal import Fleet

/// The columns of a logger's file.
struct LoggerLayout {
    let columns: [LoggerColumn]
    let timeIndex: Int
    let timeKind: LoggerTime
    /// Files that separate by `;` write decimals with a comma.
    let commaIsPoint: Bool

    private var nameIndex: Int? { columns.firstIndex(of: .signalName) }
    private var valueIndex: Int? { columns.firstIndex(of: .signalValue) }

    var hasSignals: Bool {
        if nameIndex != nil, valueIndex != nil { return true }
        return columns.contains { if case .signal = $0 { true } else { false } }
    }

    func read(_ fields: [ArraySlice<UInt8>], into reading: inout CarReading, _ recording: inout LoggerRecording) {
        if let nameIndex, let valueIndex, valueIndex < fields.count, nameIndex < fields.count {
            let name = String(decoding: fields[nameIndex], as: UTF8.self)
            if case .signal(let signal, let unit) = LoggerColumns.column(name, extra: [:]) {
                read(fields[valueIndex], as: signal, unit, into: &reading, &recording)
            }
            return
        }
        for (column, field) in zip(columns, fields) {
            guard case .signal(let signal, let unit) = column else { continue }
            read(field, as: signal, unit, into: &reading, &recording)
        }
    }

    private func read(
        _ field: ArraySlice<UInt8>, as signal: Signal, _ unit: LoggerUnit, into reading: inout CarReading,
        _ recording: inout LoggerRecording
    ) {
        guard field.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        let text = commaIsPoint ? ArraySlice(field.map { $0 == 0x2C ? 0x2E : $0 }) : field
        guard let scaled = Decimal.scaled(text, decimals: signal.row.decimals), scaled.magnitude < 1_000_000_000_000
        else {
            return recording.skip(.valueUnreadable)
        }
        guard let stored = signal.row.stored(unit.applied(to: scaled)) else { return recording.skip(.valueImpossible) }
        reading[signal] = stored
    }
}

/// Turns a row's time text into epoch milliseconds, and keeps rows of one time stamp apart that contradict each other.
struct LoggerClock {
    private let kind: LoggerTime
    private let startMs: Int64?
    private let dateMs: Int64?
    /// A clock without a date: its first time of day, and the days that midnight has passed since.
    private var firstClockMs: Int64?
    private var lastClockMs: Int64 = 0
    private var days: Int64 = 0
    private var last: CarReading?
    private var lastStampMs: Int64?
    /// A time was worked out from `startMs`: also where the file's name has a date, which yields to it.
    private(set) var usesStart = false

    init(_ kind: LoggerTime, startMs: Int64?, dateMs: Int64?) {
        self.kind = kind
        self.startMs = startMs
        self.dateMs = dateMs
    }

    mutating func ms(_ field: ArraySlice<UInt8>) throws(LoggerError) -> Int64? {
        switch kind {
        case .relativeSeconds, .engineRunSeconds:
            guard let startMs else { throw .startNeeded("its times count from the start of the recording") }
            guard let ms = Decimal.scaled(field, decimals: 3), (0..<UTC.msPerDay * 366).contains(ms) else { return nil }
            usesStart = true
            return startMs + ms
        case .absolute:
            let text = String(decoding: field, as: UTF8.self).trimmingBlanks()
            if let clock = UTC.parseClock(text) { return try onDate(clock) }
            if let ts = UTC.parse(text) { return ts }
            return Decimal.scaled(field, decimals: 0)
        }
    }

    private mutating func onDate(_ clock: Int64) throws(LoggerError) -> Int64 {
        guard let first = firstClockMs else {
            guard startMs != nil || dateMs != nil else { throw .startNeeded("its times are a clock without a date") }
            firstClockMs = clock
            lastClockMs = clock
            usesStart = startMs != nil
            return startMs ?? dateMs! + clock
        }
        // Half a day backwards is midnight; less is a row out of order.
        if lastClockMs - clock > UTC.msPerDay / 2 { days += 1 }
        if clock - lastClockMs > UTC.msPerDay / 2, days > 0 { days -= 1 }
        lastClockMs = clock
        let elapsed = days * UTC.msPerDay + clock - first
        return (startMs ?? dateMs! + first) + elapsed
    }

    /// Loggers whose clock is coarser than their polling write several rows with one time stamp. Rows that agree or complete each other
    /// are one reading; contradicting rows were read one after the other, and are spaced by 1 ms each, in the file's order.
    mutating func separate(_ reading: inout CarReading) {
        let stamp = reading.ts
        defer { (last, lastStampMs) = (reading, stamp) }
        guard let last, lastStampMs == stamp else { return }
        reading.ts = last.ts
        var union = last
        union.formUnion(reading)
        if union.disputed { reading.ts += 1 }
    }
}
