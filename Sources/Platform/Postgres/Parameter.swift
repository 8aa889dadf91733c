internal import CLibpq

/// A value for `$1`, `$2`, …, always sent apart from the statement.
package enum Parameter: Sendable, Hashable {
    case null
    /// Text whose type the server infers: also for uuid, jsonb, numeric, enums and dates. Must hold no NUL.
    case text(String)
    case bool(Bool)
    case int4(Int32)
    case int8(Int64)
    case float8(Double)
    case bytes([UInt8])
    /// Epoch milliseconds, as `timestamptz`.
    case timestampMs(Int64)
    case textArray([String])
    case int4Array([Int32])
    case int8Array([Int64])
    case float8Array([Double])
    case boolArray([Bool])
    /// Epoch milliseconds, as `timestamptz[]`.
    case timestampArray([Int64])

    /// Shorter at call sites; nil is NULL.
    package static func text(_ value: String?) -> Parameter { value.map { .text($0) } ?? .null }
    package static func int8(_ value: Int?) -> Parameter { value.map { .int8(Int64($0)) } ?? .null }

    /// The server's type; 0 lets it infer.
    var type: Oid {
        switch self {
        case .null, .text: 0
        case .bool: TypeID.bool
        case .int4: TypeID.int4
        case .int8: TypeID.int8
        case .float8: TypeID.float8
        case .bytes: TypeID.bytea
        case .timestampMs: TypeID.timestamptz
        case .textArray: TypeID.textArray
        case .int4Array: TypeID.int4Array
        case .int8Array: TypeID.int8Array
        case .float8Array: TypeID.float8Array
        case .boolArray: TypeID.boolArray
        case .timestampArray: TypeID.timestamptzArray
        }
    }

    /// 0 text, 1 binary.
    var format: Int32 { type == 0 ? 0 : 1 }

    /// The value's bytes; nil for NULL. Text ends in the NUL that libpq looks for.
    func encoded(position: Int) throws -> [UInt8]? {
        switch self {
        case .null: return nil
        case .text(let value):
            var bytes = Array(value.utf8)
            if bytes.contains(0) {
                throw PostgresError.usage(
                    "parameter $\(position) holds a NUL, which text in PostgreSQL cannot: remove it")
            }
            bytes.append(0)
            return bytes
        case .bool(let value): return [value ? 1 : 0]
        case .int4(let value): return Field.bytes(value)
        case .int8(let value): return Field.bytes(value)
        case .float8(let value): return Field.bytes(value.bitPattern)
        case .bytes(let value): return value
        case .timestampMs(let value): return Field.bytes(Timestamp.microseconds(epochMs: value))
        case .textArray(let values): return Field.array(TypeID.text, values) { Array($0.utf8) }
        case .int4Array(let values): return Field.array(TypeID.int4, values, Field.bytes)
        case .int8Array(let values): return Field.array(TypeID.int8, values, Field.bytes)
        case .float8Array(let values): return Field.array(TypeID.float8, values) { Field.bytes($0.bitPattern) }
        case .boolArray(let values): return Field.array(TypeID.bool, values) { [$0 ? 1 : 0] }
        case .timestampArray(let values):
            return Field.array(TypeID.timestamptz, values) { Field.bytes(Timestamp.microseconds(epochMs: $0)) }
        }
    }
}

/// Fixed object ids of built-in types: PostgreSQL, src/include/catalog/pg_type.dat.
enum TypeID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let oid: UInt32 = 26
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let date: UInt32 = 1082
    static let timestamp: UInt32 = 1114
    static let timestamptz: UInt32 = 1184
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802
    static let boolArray: UInt32 = 1000
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let float8Array: UInt32 = 1022
    static let timestamptzArray: UInt32 = 1185
}

/// `timestamptz` is microseconds since 2000-01-01 00:00 UTC, its two extreme values are the infinities.
package enum Timestamp {
    static let epochOffsetMs: Int64 = 946_684_800_000

    /// Precondition: within PostgreSQL's range, 4713 BC to 294276 AD.
    package static func microseconds(epochMs: Int64) -> Int64 {
        precondition((-210_866_803_200_000..<9_224_318_016_000_000).contains(epochMs), "time out of PostgreSQL's range")
        return (epochMs - epochOffsetMs) * 1000
    }

    /// Rounded down; the infinities stay the extreme values.
    package static func epochMs(microseconds us: Int64) -> Int64 {
        if us == .max || us == .min { return us }
        let ms = us / 1000 - (us % 1000 < 0 ? 1 : 0)
        return ms + epochOffsetMs
    }
}

/// Binary forms shared by parameters and COPY: network byte order.
enum Field {
    static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    @inline(__always)
    static func append<T: FixedWidthInteger>(_ value: T, to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// One dimension, no NULLs, lower bound 1 (array_send in src/backend/utils/adt/arrayfuncs.c).
    static func array<T>(_ type: UInt32, _ values: [T], _ element: (T) -> [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        appendArray(type, values, to: &bytes, element)
        return bytes
    }

    static func appendArray<T>(_ type: UInt32, _ values: [T], to bytes: inout [UInt8], _ element: (T) -> [UInt8]) {
        append(Int32(values.isEmpty ? 0 : 1), to: &bytes)
        append(Int32(0), to: &bytes)
        append(type, to: &bytes)
        guard !values.isEmpty else { return }
        append(Int32(values.count), to: &bytes)
        append(Int32(1), to: &bytes)
        for value in values {
            let encoded = element(value)
            append(Int32(encoded.count), to: &bytes)
            bytes += encoded
        }
    }
}
