internal import Codecs
internal import Fleet

/// The parameters of mode 01 that are signals of a reading.
enum OBDSignals {
    private static let signals: [UInt8: Signal] = {
        let keys = Dictionary(uniqueKeysWithValues: Signal.allCases.map { ($0.row.key, $0) })
        return Dictionary(
            OBDTable.rows.compactMap { row in keys[row.key].map { (row.pid, $0) } },
            uniquingKeysWith: { first, _ in first })
    }()

    /// The signal and its stored value; nil when it is impossible, or the parameter is no signal.
    static func value(_ pid: UInt8, of values: [OBDValue]) -> (signal: Signal, stored: Int32)? {
        guard let signal = signals[pid],
            let scaled = values.first(where: { $0.row.key == signal.row.key })?.scaled(decimals: signal.row.decimals),
            let stored = signal.row.stored(scaled)
        else { return nil }
        return (signal, stored)
    }
}
