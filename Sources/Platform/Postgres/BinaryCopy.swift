/// Rows in the binary format of COPY (PostgreSQL manual, COPY, "Binary Format"). The width of each integer must be its
/// column's: the server takes an `int8` for an `integer` column as a damaged file.
package struct BinaryCopy: Sendable {
    /// Bytes to send; they end with the trailer after `finish`.
    package private(set) var bytes: [UInt8]
    package private(set) var rowCount = 0
    private var fieldsLeft = 0
    private var isFinished = false

    /// Eleven signature bytes, four of flags, four for the length of an empty extension.
    static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)

    package init(reservingBytes capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes += BinaryCopy.header
    }

    private init(fragment: ()) { bytes = [] }

    /// Rows without the header and the trailer, for `Connection.copyIn(_:fragments:)`.
    package static var fragment: BinaryCopy { BinaryCopy(fragment: ()) }

    /// Begins a row. Precondition: the row before has all its fields.
    package mutating func row(columns: Int) {
        precondition(fieldsLeft == 0, "the row before lacks \(fieldsLeft) of its columns")
        precondition((1...1600).contains(columns) && !isFinished, "a row has 1 to 1600 columns")
        Field.append(Int16(columns), to: &bytes)
        fieldsLeft = columns
        rowCount += 1
    }

    package mutating func null() {
        countField()
        Field.append(Int32(-1), to: &bytes)
    }

    package mutating func int2(_ value: Int16) { fixed(value) }
    package mutating func int4(_ value: Int32) { fixed(value) }
    package mutating func int8(_ value: Int64) { fixed(value) }
    package mutating func float4(_ value: Float) { fixed(value.bitPattern) }
    package mutating func float8(_ value: Double) { fixed(value.bitPattern) }
    package mutating func bool(_ value: Bool) { fixed(UInt8(value ? 1 : 0)) }
    /// `timestamptz` from epoch milliseconds.
    package mutating func timestampMs(_ value: Int64) { fixed(Timestamp.microseconds(epochMs: value)) }
    /// `date` from days since 1970-01-01.
    package mutating func date(days: Int) { fixed(Int32(days - 10_957)) }

    // Nil is NULL.
    package mutating func int4(_ value: Int32?) { if let value { int4(value) } else { null() } }
    package mutating func int8(_ value: Int64?) { if let value { int8(value) } else { null() } }
    package mutating func float8(_ value: Double?) { if let value { float8(value) } else { null() } }
    package mutating func bool(_ value: Bool?) { if let value { bool(value) } else { null() } }
    package mutating func timestampMs(_ value: Int64?) { if let value { timestampMs(value) } else { null() } }
    package mutating func text(_ value: String?) { if let value { text(value) } else { null() } }

    /// Also for varchar and enums. The server refuses a whole COPY that holds a NUL in a text: what comes from outside
    /// must have been checked for it.
    package mutating func text(_ value: String) {
        countField()
        Field.append(Int32(value.utf8.count), to: &bytes)
        bytes += value.utf8
    }

    package mutating func bytea(_ value: [UInt8]) {
        countField()
        Field.append(Int32(value.count), to: &bytes)
        bytes += value
    }

    /// Text that is already UTF-8. Precondition: it is.
    package mutating func text(utf8: ArraySlice<UInt8>) { bytea(utf8) }
    package mutating func bytea(_ value: ArraySlice<UInt8>) {
        countField()
        Field.append(Int32(value.count), to: &bytes)
        bytes += value
    }

    /// `jsonb`, from its text.
    package mutating func jsonb(_ text: String) {
        countField()
        Field.append(Int32(text.utf8.count + 1), to: &bytes)
        bytes.append(1)  // the only version of jsonb's wire form (jsonb_recv)
        bytes += text.utf8
    }

    package mutating func textArray(_ values: [String]) {
        array(TypeID.text, values) { Array($0.utf8) }
    }
    package mutating func int8Array(_ values: [Int64]) { array(TypeID.int8, values, Field.bytes) }
    package mutating func int4Array(_ values: [Int32]) { array(TypeID.int4, values, Field.bytes) }

    /// Ends the data. Precondition: the last row has all its fields.
    package mutating func finish() {
        precondition(fieldsLeft == 0, "the last row lacks \(fieldsLeft) of its columns")
        guard !isFinished else { return }
        Field.append(Int16(-1), to: &bytes)
        isFinished = true
    }

    /// Forgets bytes that were sent, keeps their memory.
    mutating func sent() { bytes.removeAll(keepingCapacity: true) }

    private mutating func array<T>(_ type: UInt32, _ values: [T], _ element: (T) -> [UInt8]) {
        countField()
        let at = bytes.count
        Field.append(Int32(0), to: &bytes)
        Field.appendArray(type, values, to: &bytes, element)
        let length = Field.bytes(Int32(bytes.count - at - 4))
        bytes.replaceSubrange(at..<at + 4, with: length)
    }

    @inline(__always)
    private mutating func fixed<T: FixedWidthInteger>(_ value: T) {
        countField()
        Field.append(Int32(T.bitWidth / 8), to: &bytes)
        Field.append(value, to: &bytes)
    }

    @inline(__always)
    private mutating func countField() {
        precondition(fieldsLeft > 0, "the row has all its columns")
        fieldsLeft -= 1
    }
}
