/// Writes a ZIP archive as a stream (PKWARE APPNOTE 6.3.9): entries one after the other, each compressed while it comes,
/// sizes behind its data. Of any size: all is written as ZIP64 where a field could overflow.
public struct ZipWriter {
    private struct Entry {
        let name: [UInt8]
        let offset: UInt64
        var sum: UInt32 = 0
        var bytes: UInt64 = 0
        var packedBytes: UInt64 = 0
    }

    /// Sizes behind the data; names in UTF-8 (4.4.4, bits 3 and 11).
    private static let flags: UInt16 = 1 << 3 | 1 << 11
    /// 4.5: what it takes to read ZIP64.
    private static let version: UInt16 = 45
    private static let deflated: UInt16 = 8
    /// 1980-01-01, so that equal contents are equal archives.
    private static let (time, date): (UInt16, UInt16) = (0, 0x0021)

    private let write: ([UInt8]) throws -> Void
    private var written: UInt64 = 0
    private var entries: [Entry] = []
    private var open: (entry: Entry, deflater: Deflater)?

    /// - Parameter write: takes the archive's bytes in order; what it throws ends the writing.
    public init(write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    /// Precondition: no entry is open.
    public mutating func begin(_ name: String) throws {
        precondition(open == nil, "one entry at a time")
        let entry = Entry(name: Array(name.utf8), offset: written)
        var head = Fields()
        head.add(UInt32(0x0403_4B50))
        head.addCommon()
        for _ in 0..<2 { head.add(UInt32.max) }
        head.add(UInt16(entry.name.count))
        head.add(UInt16(20))
        head.bytes += entry.name
        // Both sizes are 64 bits wide behind the data, too (4.3.9.2).
        head.add(UInt16(1))
        head.add(UInt16(16))
        for _ in 0..<2 { head.add(UInt64(0)) }
        try put(head.bytes)
        open = (entry, Deflater())
    }

    /// More of the open entry.
    public mutating func add(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty, let deflater = open?.deflater else { return }
        open!.entry.sum = CRC32.sum(open!.entry.sum, bytes)
        open!.entry.bytes += UInt64(bytes.count)
        try putPacked(deflater.compress(bytes, isLast: false))
    }

    public mutating func end() throws {
        guard let deflater = open?.deflater else { preconditionFailure("no entry is open") }
        try putPacked(deflater.compress([], isLast: true))
        let entry = open!.entry
        open = nil
        var tail = Fields()
        tail.add(UInt32(0x0807_4B50))
        tail.add(entry.sum)
        tail.add(entry.packedBytes)
        tail.add(entry.bytes)
        try put(tail.bytes)
        entries.append(entry)
    }

    /// The directory; nothing can be added any more.
    public mutating func finish() throws {
        precondition(open == nil, "an entry is open")
        let start = written
        for entry in entries { try put(ZipWriter.directory(entry)) }
        let size = written - start
        var tail = Fields()
        tail.add(UInt32(0x0606_4B50))
        tail.add(UInt64(44))
        for _ in 0..<2 { tail.add(ZipWriter.version) }
        for _ in 0..<2 { tail.add(UInt32(0)) }
        for _ in 0..<2 { tail.add(UInt64(entries.count)) }
        tail.add(size)
        tail.add(start)
        tail.add(UInt32(0x0706_4B50))
        tail.add(UInt32(0))
        tail.add(start + size)
        tail.add(UInt32(1))
        tail.add(UInt32(0x0605_4B50))
        for _ in 0..<2 { tail.add(UInt16(0)) }
        for _ in 0..<2 { tail.add(UInt16(clamping: entries.count)) }
        tail.add(UInt32(clamping: size))
        tail.add(UInt32(clamping: start))
        tail.add(UInt16(0))
        try put(tail.bytes)
    }

    private static func directory(_ entry: Entry) -> [UInt8] {
        var fields = Fields()
        fields.add(UInt32(0x0201_4B50))
        // Made on Unix, so that the rights below are read.
        fields.add(3 << 8 | version)
        fields.addCommon(sum: entry.sum)
        for _ in 0..<2 { fields.add(UInt32.max) }
        fields.add(UInt16(entry.name.count))
        fields.add(UInt16(28))
        for _ in 0..<3 { fields.add(UInt16(0)) }
        fields.add(UInt32(0o100644) << 16)
        fields.add(UInt32.max)
        fields.bytes += entry.name
        fields.add(UInt16(1))
        fields.add(UInt16(24))
        for value in [entry.bytes, entry.packedBytes, entry.offset] { fields.add(value) }
        return fields.bytes
    }

    private mutating func putPacked(_ bytes: [UInt8]) throws {
        open!.entry.packedBytes += UInt64(bytes.count)
        try put(bytes)
    }

    private mutating func put(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { return }
        written += UInt64(bytes.count)
        try write(bytes)
    }

    /// Numbers as the format has them: the low byte first.
    private struct Fields {
        var bytes: [UInt8] = []

        mutating func add<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
            for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
            }
        }

        /// The fields that an entry's header and its directory record share, up to the checksum.
        mutating func addCommon(sum: UInt32 = 0) {
            for field in [version, flags, deflated, time, date] { add(field) }
            add(sum)
        }
    }
}
