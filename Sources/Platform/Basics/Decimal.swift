/// Decimal text and scaled integers. Values are read from text straight into integers, so no binary fraction ever
/// stands between a logger's file and a sum that must be equal to the last digit.
public enum Decimal {
    /// `"-12.3456"` with three decimals is -12346 (half away from zero). Accepts surrounding blanks, a sign and an
    /// exponent; nil for anything else, for more than 17 digits and for values beyond ±9·10^14.
    public static func scaled(_ text: some Sequence<UInt8>, decimals: Int) -> Int64? {
        var reader = DecimalReader()
        for byte in text { guard reader.accept(byte) else { return nil } }
        return reader.value(decimals: decimals)
    }

    /// The shortest plain text of a scaled integer: 12300 with three decimals is "12.3", 0 is "0".
    public static func text(_ scaled: Int64, decimals: Int) -> String {
        var digits = String(scaled.magnitude)
        if digits.utf8.count <= decimals {
            digits = String(repeating: "0", count: decimals + 1 - digits.utf8.count) + digits
        }
        let cut = digits.index(digits.endIndex, offsetBy: -decimals)
        var fraction = digits[cut...]
        while fraction.last == "0" { fraction = fraction.dropLast() }
        let sign = scaled < 0 ? "-" : ""
        return sign + digits[..<cut] + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// `numerator / denominator` rounded half away from zero. Precondition: the denominator is positive.
    public static func divided(_ numerator: Int64, by denominator: Int64) -> Int64 {
        precondition(denominator > 0)
        let half = denominator / 2
        return numerator >= 0 ? (numerator + half) / denominator : (numerator - half) / denominator
    }

    /// A floating value as a scaled integer; nil when it is not finite or too large to be exact.
    public static func scaled(_ value: Double, decimals: Int) -> Int64? { scaled(value, by: powerOfTen(decimals)) }

    /// The same for a power of ten at hand.
    @inlinable
    public static func scaled(_ value: Double, by scale: Int64) -> Int64? {
        let product = value * Double(scale)
        guard product.magnitude < 9.0e15 else { return nil }
        // The same as `rounded(.toNearestOrAwayFromZero)`, which calls the C library: both steps are exact.
        let whole = Int64(product)
        let fraction = product - Double(whole)
        return fraction >= 0.5 ? whole + 1 : fraction <= -0.5 ? whole - 1 : whole
    }

    public static func powerOfTen(_ exponent: Int) -> Int64 {
        var power: Int64 = 1
        for _ in 0..<exponent { power *= 10 }
        return power
    }
}

/// The states of reading one decimal number, byte by byte.
struct DecimalReader {
    private enum State { case start, signed, whole, point, fraction, exponentStart, exponentSigned, exponent, end }
    private var state = State.start
    private var negative = false
    private var mantissa: Int64 = 0
    private var digits = 0
    private var fractionDigits = 0
    private var exponent = 0
    private var exponentNegative = false

    /// False when the byte cannot continue a number.
    mutating func accept(_ byte: UInt8) -> Bool {
        switch (state, byte) {
        case (.start, 0x20), (.start, 0x09), (.end, 0x20), (.end, 0x09):
            return true
        case (.whole, 0x20), (.whole, 0x09), (.fraction, 0x20), (.fraction, 0x09), (.exponent, 0x20), (.exponent, 0x09),
            (.point, 0x20), (.point, 0x09):
            guard digits > 0 else { return false }
            state = .end
            return true
        case (.start, 0x2B), (.start, 0x2D):
            negative = byte == 0x2D
            state = .signed
            return true
        case (.start, 0x30...0x39), (.signed, 0x30...0x39), (.whole, 0x30...0x39):
            state = .whole
            return digit(byte)
        case (.start, 0x2E), (.signed, 0x2E), (.whole, 0x2E):
            state = .point
            return true
        case (.point, 0x30...0x39), (.fraction, 0x30...0x39):
            state = .fraction
            fractionDigits += 1
            return digit(byte)
        case (.whole, 0x45), (.whole, 0x65), (.point, 0x45), (.point, 0x65), (.fraction, 0x45), (.fraction, 0x65):
            guard digits > 0 else { return false }
            state = .exponentStart
            return true
        case (.exponentStart, 0x2B), (.exponentStart, 0x2D):
            exponentNegative = byte == 0x2D
            state = .exponentSigned
            return true
        case (.exponentStart, 0x30...0x39), (.exponentSigned, 0x30...0x39), (.exponent, 0x30...0x39):
            state = .exponent
            exponent = exponent * 10 + Int(byte - 0x30)
            return exponent < 100
        default:
            return false
        }
    }

    /// Digits beyond the 17th only matter when they stand before the point; after it they are below any scale of ours.
    private mutating func digit(_ byte: UInt8) -> Bool {
        if digits >= 17 {
            guard state == .fraction else { return false }
            fractionDigits -= 1
            return true
        }
        mantissa = mantissa * 10 + Int64(byte - 0x30)
        if mantissa > 0 || digits > 0 { digits += 1 } else { digits = max(digits, 1) }
        return true
    }

    func value(decimals: Int) -> Int64? {
        switch state {
        case .whole, .fraction, .exponent, .end: break
        case .point: if digits == 0 { return nil }
        case .start, .signed, .exponentStart, .exponentSigned: return nil
        }
        var shift = decimals - fractionDigits + (exponentNegative ? -exponent : exponent)
        var value = mantissa
        while shift > 0, value != 0 {
            let (next, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            value = next
            shift -= 1
        }
        if shift < 0 {
            guard shift > -18 else { return 0 }
            value = Decimal.divided(value, by: Decimal.powerOfTen(-shift))
        }
        guard value <= 900_000_000_000_000_000 else { return nil }
        return negative ? -value : value
    }
}
