internal import Basics

/// One value of a parameter (PID) of mode 01; mode 02 has the same. A parameter with several values has several rows.
public struct OBDRow: Sendable {
    public let pid: UInt8
    /// As in topic records, with its unit: the signal's where there is one.
    public let key: String
    public let name: String
    public let unit: String
    /// Data bytes of the whole parameter.
    public let bytes: Int
    /// With A for the first data byte, B for the second, …; empty where the value is no number.
    public let formula: String
    public let source: Source
    public let kind: Kind

    public enum Source: String, Sendable {
        case j1979 = "SAE J1979"
        /// The digital annex, to which parameters are added.
        case j1979DA = "SAE J1979-DA"
    }

    public enum Kind: Sendable {
        case number(OBDScale)
        /// A byte, and what its values mean.
        case choice(at: Int, [UInt8: String])
        /// A byte of which each bit says that something is there, the highest bit first; nil: not used.
        case flags(at: Int, [String?])
        /// Which of the next 32 parameters the car has.
        case supported
        case readiness
        case troubleCode
    }
}

/// A number out of data bytes: `(raw × times + plus) / over`, exact up to the last rounding.
public struct OBDScale: Equatable, Sendable {
    /// The offset of its first byte, and its length, big-endian.
    let at: Int
    let width: Int
    var isSigned = false
    let times: Int64
    let plus: Int64
    let over: Int64
    /// Decimals shown: enough to be exact where the formula allows it.
    public let decimals: Int

    func raw(_ data: ArraySlice<UInt8>) -> Int64 {
        let part = data.dropFirst(at).prefix(width)
        precondition(part.count == width)
        let value = part.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return isSigned && value >= Int64(1) << (8 * width - 1) ? value - Int64(1) << (8 * width) : value
    }

    /// The value × 10^decimals, rounded half away from zero.
    public func scaled(_ raw: Int64, decimals: Int) -> Int64 {
        Decimal.divided((raw * times + plus) * Decimal.powerOfTen(decimals), by: over)
    }

    public func text(_ raw: Int64) -> String { Decimal.text(scaled(raw, decimals: decimals), decimals: decimals) }

    var rawRange: ClosedRange<Int64> {
        let all = Int64(1) << (8 * width)
        return isSigned ? -all / 2...all / 2 - 1 : 0...all - 1
    }

    /// The smallest and the greatest value that the bytes can hold.
    public var range: (least: String, most: String) { (text(rawRange.lowerBound), text(rawRange.upperBound)) }
}
