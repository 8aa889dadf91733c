internal import Basics

/// Binary forms of the types we read, each from its `…_send` function in PostgreSQL's src/backend/utils/adt. Nil: not
/// this type, or damaged.
enum Decode {
    static func text(_ type: UInt32, _ bytes: [UInt8]) -> String? {
        switch type {
        case TypeID.bool, TypeID.bytea, TypeID.int2, TypeID.int4, TypeID.int8, TypeID.oid, TypeID.float4, TypeID.float8,
            TypeID.date, TypeID.timestamp, TypeID.timestamptz, TypeID.numeric:
            return nil
        case TypeID.uuid: return uuid(bytes)
        case TypeID.jsonb: return bytes.first == 1 ? String(validating: bytes.dropFirst(), as: UTF8.self) : nil
        default: return String(validating: bytes, as: UTF8.self)
        }
    }

    static func int(_ type: UInt32, _ bytes: [UInt8]) -> Int? {
        switch (type, bytes.count) {
        case (TypeID.int2, 2): Int(Int16(truncatingIfNeeded: big(bytes[...])))
        case (TypeID.int4, 4): Int(Int32(truncatingIfNeeded: big(bytes[...])))
        case (TypeID.int8, 8): Int(big(bytes[...]))
        case (TypeID.oid, 4): Int(UInt32(truncatingIfNeeded: big(bytes[...])))
        default: nil
        }
    }

    static func double(_ type: UInt32, _ bytes: [UInt8]) -> Double? {
        switch (type, bytes.count) {
        case (TypeID.float8, 8): Double(bitPattern: UInt64(bitPattern: big(bytes[...])))
        case (TypeID.float4, 4): Double(Float(bitPattern: UInt32(truncatingIfNeeded: big(bytes[...]))))
        default: int(type, bytes).map { Double($0) }
        }
    }

    static func bool(_ type: UInt32, _ bytes: [UInt8]) -> Bool? {
        type == TypeID.bool && bytes.count == 1 ? bytes[0] != 0 : nil
    }

    static func timestampMs(_ type: UInt32, _ bytes: [UInt8]) -> Int64? {
        guard type == TypeID.timestamptz || type == TypeID.timestamp, bytes.count == 8 else { return nil }
        return Timestamp.epochMs(microseconds: big(bytes[...]))
    }

    static func dateDays(_ type: UInt32, _ bytes: [UInt8]) -> Int? {
        guard type == TypeID.date, bytes.count == 4 else { return nil }
        // Dates count from 2000-01-01.
        return Int(Int32(truncatingIfNeeded: big(bytes[...]))) + 10_957
    }

    /// numeric_send: four 16-bit words (digits, weight, sign, scale), then digits in base 10,000.
    static func numericText(_ type: UInt32, _ bytes: [UInt8]) -> String? {
        if let whole = int(type, bytes) { return String(whole) }
        guard type == TypeID.numeric, bytes.count >= 8, bytes.count % 2 == 0 else { return nil }
        let words = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        let (count, weight, sign, scale) = (Int(words[0]), Int(Int16(bitPattern: words[1])), words[2], Int(words[3]))
        switch sign {
        case 0xC000: return "NaN"
        case 0xD000: return "Infinity"
        case 0xF000: return "-Infinity"
        case 0x0000, 0x4000: break
        default: return nil
        }
        guard words.count == 4 + count, scale <= 16_383 else { return nil }
        // Groups left out at either end are zeros.
        func group(_ power: Int) -> String {
            let index = weight - power
            let digits = String(index >= 0 && index < count ? words[4 + index] : 0)
            return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        }
        let whole = weight < 0 ? "0" : stride(from: weight, through: 0, by: -1).map(group).joined()
        let fraction = stride(from: -1, through: -((scale + 3) / 4), by: -1).map(group).joined().prefix(scale)
        let trimmed = whole.drop { $0 == "0" }
        return (sign == 0x4000 ? "-" : "") + (trimmed.isEmpty ? "0" : trimmed) + (scale > 0 ? "." + fraction : "")
    }

    /// array_send of one dimension: dimensions, whether it holds NULLs, element type, length, lower bound, elements.
    static func array<T>(_ type: UInt32, _ bytes: [UInt8], _ read: (UInt32, [UInt8]) -> T?) -> [T?]? {
        guard bytes.count >= 12, !scalars.contains(type) else { return nil }
        let (dimensions, element) = (int32(bytes, 0), UInt32(bitPattern: int32(bytes, 8)))
        guard dimensions == 1, bytes.count >= 20 else { return dimensions == 0 ? [] : nil }
        var (values, at) = ([T?](), 20)
        for _ in 0..<max(0, int32(bytes, 12)) {
            guard at + 4 <= bytes.count else { return nil }
            let length = Int(int32(bytes, at))
            at += 4
            guard length >= 0 else {
                values.append(nil)
                continue
            }
            guard at + length <= bytes.count, let value = read(element, Array(bytes[at..<at + length])) else {
                return nil
            }
            values.append(value)
            at += length
        }
        return values
    }

    /// Texts of several dimensions, as array_out writes them: `{{a,"b c"},{NULL,d}}`. Nil: damaged.
    static func nested(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 12, case let dimensions = Int(int32(bytes, 0)), (1...6).contains(dimensions),
            bytes.count >= 12 + 8 * dimensions
        else { return nil }
        let sizes = (0..<dimensions).map { Int(int32(bytes, 12 + 8 * $0)) }
        var at = 12 + 8 * dimensions
        func element() -> String? {
            guard at + 4 <= bytes.count, case let length = Int(int32(bytes, at)), at + 4 + max(0, length) <= bytes.count
            else { return nil }
            defer { at += 4 + max(0, length) }
            return length < 0 ? "NULL" : String(validating: bytes[at + 4..<at + 4 + length], as: UTF8.self).map(quoted)
        }
        func level(_ depth: Int) -> String? {
            var parts = [String]()
            for _ in 0..<max(0, sizes[depth]) {
                guard let part = depth + 1 == dimensions ? element() : level(depth + 1) else { return nil }
                parts.append(part)
            }
            return "{" + parts.joined(separator: ",") + "}"
        }
        return level(0)
    }

    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.lowercased() != "null" && !text.contains { "{},\"\\".contains($0) || $0.isWhitespace }
        return isPlain
            ? text : "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static let scalars: Set<UInt32> = [
        TypeID.bool, TypeID.bytea, TypeID.int2, TypeID.int4, TypeID.int8, TypeID.text, TypeID.float4, TypeID.float8,
        TypeID.date, TypeID.timestamp, TypeID.timestamptz, TypeID.numeric, TypeID.uuid, TypeID.jsonb,
    ]

    private static func int32(_ bytes: [UInt8], _ at: Int) -> Int32 {
        Int32(truncatingIfNeeded: big(bytes[at..<at + 4]))
    }

    private static func big(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func uuid(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 16 else { return nil }
        let parts = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
        return parts.map { Hex.text($0) }.joined(separator: "-")
    }
}
