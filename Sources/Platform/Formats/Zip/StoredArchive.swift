/// An archive whose entries are not compressed (PKWARE APPNOTE 6.3.9, method 0), in its plainest form: no extra fields, times
/// of 1980, sizes in front of the data. Its bytes follow from names and contents alone, whatever zlib is installed; Python's
/// `zipfile` writes the same. Below 4 GB and 65,536 entries.
public struct StoredArchive {
    private struct Entry {
        let name: [UInt8]
        let sum: UInt32
        let count: UInt32
        let offset: UInt32
    }

    private static let version: UInt16 = 20
    private static let date: UInt16 = 0x0021

    private let write: ([UInt8]) throws -> Void
    private var written = 0
    private var entries: [Entry] = []

    /// - Parameter write: takes the archive's bytes in order; what it throws ends the writing.
    public init(write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    /// Preconditions: a name of ASCII that no entry has yet; all of the archive stays below 4 GB.
    public mutating func add(_ name: String, _ content: [UInt8]) throws {
        precondition(name.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "names are plain")
        precondition(written + content.count < 0xFFF0_0000 && entries.count < 0xFFFF, "too large for a plain archive")
        let entry = Entry(
            name: Array(name.utf8), sum: CRC32.sum(0, content), count: UInt32(content.count), offset: UInt32(written)
        )
        var head = little(UInt32(0x0403_4B50))
        head += common(entry) + little(UInt16(0)) + entry.name
        try put(head)
        try put(content)
        entries.append(entry)
    }

    /// The directory; nothing can be added any more.
    public mutating func finish() throws {
        let start = written
        for entry in entries {
            // Made on Unix, so that the rights below are read.
            var fields = little(UInt32(0x0201_4B50)) + little(UInt16(3 << 8 | StoredArchive.version))
            fields += common(entry)
            for _ in 0..<4 { fields += little(UInt16(0)) }
            fields += little(UInt32(0o100644) << 16) + little(entry.offset) + entry.name
            try put(fields)
        }
        let size = written - start
        var tail = little(UInt32(0x0605_4B50)) + little(UInt32(0))
        for _ in 0..<2 { tail += little(UInt16(entries.count)) }
        tail += little(UInt32(size)) + little(UInt32(start)) + little(UInt16(0))
        try put(tail)
    }

    /// From the version needed to the length of the name.
    private func common(_ entry: Entry) -> [UInt8] {
        var fields = little(StoredArchive.version)
        for field in [0, 0, 0, StoredArchive.date] { fields += little(UInt16(field)) }
        for field in [entry.sum, entry.count, entry.count] { fields += little(field) }
        return fields + little(UInt16(entry.name.count))
    }

    private mutating func put(_ bytes: [UInt8]) throws {
        written += bytes.count
        try write(bytes)
    }

    private func little<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> [UInt8] {
        stride(from: 0, to: Number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> Number($0)) }
    }
}

extension StoredArchive {
    /// A file's content, of the begin of an archive that was made here; nil: it is not in these bytes as a whole.
    public static func file(_ name: String, in bytes: [UInt8]) -> [UInt8]? {
        func number(_ at: Int, _ width: Int) -> Int {
            (0..<width).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
        }
        var at = 0
        // A local header (APPNOTE 4.3.7): sizes stand at 18 and 22, lengths of the name and of what follows it at 26 and 28.
        while at + 30 <= bytes.count, number(at, 4) == 0x0403_4B50 {
            let (count, nameCount) = (number(at + 22, 4), number(at + 26, 2))
            let start = at + 30 + nameCount + number(at + 28, 2)
            guard start + count <= bytes.count else { return nil }
            if Array(bytes[(at + 30)..<(at + 30 + nameCount)]) == Array(name.utf8) {
                return Array(bytes[start..<(start + count)])
            }
            at = start + count
        }
        return nil
    }
}
