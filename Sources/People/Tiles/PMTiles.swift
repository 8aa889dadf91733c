internal import Codecs
internal import Formats
internal import Foundation
internal import Synchronization

/// One archive whose directories name tiles by their place on a Hilbert curve (PMTiles, version 3).
final class PMTiles: TileSource {
    static let magic = Array("PMTiles".utf8)

    private static let headerBytes = 127
    /// The most bytes of a directory or the metadata, unpacked.
    private static let partBytesMax = 16 << 20
    /// The root names leaves, and these seldom others.
    private static let depthMax = 4
    private static let leavesKept = 64
    private static let types: [UInt8: String] = [
        1: TileFile.vectorType, 2: "image/png", 3: "image/jpeg", 4: "image/webp",
    ]

    /// A run of tiles with the same bytes, or a leaf that names those from `id` on.
    struct Entry {
        let id: UInt64
        let run: UInt64
        let length: UInt64
        let offset: UInt64
    }

    let type: String
    let zooms: ClosedRange<Int>
    let attribution: String
    let bounds: [Double]?

    private let handle: FileHandle
    private let isPacked: Bool
    private let leaves: Range<UInt64>
    private let tiles: Range<UInt64>
    private let root: [Entry]
    /// By their offset; emptied when full.
    private let known = Mutex<[UInt64: [Entry]]>([:])

    /// A fault inside, without the file's name.
    private struct Wrong: Error { let what: String }

    init(_ handle: FileHandle, path: String) throws(TileFile.Fault) {
        do {
            guard let head = PMTiles.read(handle, 0, PMTiles.headerBytes), head[7] == 3 else {
                throw Wrong(what: "it is cut off, or not of version 3. Convert it with the pmtiles tool")
            }
            func long(_ at: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(head[at + $1]) << (8 * UInt64($1)) } }
            func degrees(_ at: Int) -> Double {
                Double(Int32(bitPattern: (0..<4).reduce(0) { $0 | UInt32(head[at + $1]) << (8 * UInt32($1)) })) / 1e7
            }
            func range(_ at: Int) throws -> Range<UInt64> {
                let (end, isOver) = long(at).addingReportingOverflow(long(at + 8))
                guard !isOver else { throw Wrong(what: "its parts lie outside of it") }
                return long(at)..<end
            }
            guard let known = PMTiles.types[head[99]] else {
                throw Wrong(
                    what:
                        "its tiles are of another kind, and maps are drawn from pbf, png, jpg or webp. Name a file with "
                        + "such tiles")
            }
            guard head[97] == 1 || head[97] == 2 else {
                throw Wrong(
                    what: "its directories are packed otherwise than with gzip. Convert it with the pmtiles tool")
            }
            // Vector tiles are packed with gzip, or not.
            guard head[98] == 1 || (head[98] == 2 && known == TileFile.vectorType) else {
                throw Wrong(
                    what: "its tiles are packed otherwise than maps read them. Convert it with the pmtiles tool")
            }
            type = known
            isPacked = head[97] == 2
            let most = min(Int(head[101]), TileFile.zoomMax)
            zooms = min(Int(head[100]), most)...most
            let sides = [102, 106, 110, 114].map(degrees)
            let isPlace = sides[0] < sides[2] && sides[1] < sides[3] && abs(sides[1]) <= 90 && abs(sides[3]) <= 90
            bounds = isPlace && sides[0] >= -180 && sides[2] <= 180 ? sides : nil
            leaves = try range(40)
            tiles = try range(56)
            root = try PMTiles.entries(PMTiles.part(handle, range(8), isPacked))
            let metadata = try PMTiles.part(handle, range(24), isPacked)
            attribution = TileFile.plain((try? JSONValue(metadata))?["attribution"]?.text ?? "")
            self.handle = handle
        } catch let wrong as Wrong {
            throw TileFile.Fault(description: "\(path): \(wrong.what)")
        } catch {
            throw TileFile.Fault(description: "\(path): its directory is damaged (\(error)). Get the file again")
        }
    }

    func tile(zoom: Int, column: Int, row: Int) -> [UInt8]? {
        guard (0...TileFile.zoomMax).contains(zoom) else { return nil }
        let side = 1 << zoom
        guard (0..<side).contains(column), (0..<side).contains(row) else { return nil }
        let id = PMTiles.id(zoom: zoom, column: column, row: row)
        var directory = root
        for _ in 0..<PMTiles.depthMax {
            guard let entry = PMTiles.find(id, in: directory) else { return nil }
            guard entry.run == 0 else {
                guard id - entry.id < entry.run, entry.length <= UInt64(TileFile.tileBytesMax),
                    let place = PMTiles.place(entry, in: tiles)
                else { return nil }
                return PMTiles.read(handle, place, Int(entry.length))
            }
            guard let leaf = leaf(entry) else { return nil }
            directory = leaf
        }
        return nil
    }

    private func leaf(_ entry: Entry) -> [Entry]? {
        if let kept = known.withLock({ $0[entry.offset] }) { return kept }
        guard let place = PMTiles.place(entry, in: leaves),
            let bytes = try? PMTiles.part(handle, place..<(place + entry.length), isPacked),
            let found = try? PMTiles.entries(bytes)
        else { return nil }
        known.withLock { kept in
            if kept.count >= PMTiles.leavesKept { kept.removeAll(keepingCapacity: true) }
            kept[entry.offset] = found
        }
        return found
    }

    // MARK: The format

    /// All tiles of coarser zooms come before those of a finer one; within it they go along the curve.
    static func id(zoom: Int, column: Int, row: Int) -> UInt64 {
        var id = ((UInt64(1) << (2 * UInt64(zoom))) - 1) / 3
        var (x, y) = (column, row)
        var side = (1 << zoom) >> 1
        while side > 0 {
            let (right, down) = (x & side > 0 ? 1 : 0, y & side > 0 ? 1 : 0)
            id += UInt64(side) * UInt64(side) * UInt64((3 * right) ^ down)
            // The quarter is turned, so that its curve begins where the one before ended.
            if down == 0 {
                if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
                (x, y) = (y, x)
            }
            x = x & (side - 1)
            y = y & (side - 1)
            side >>= 1
        }
        return id
    }

    /// The last entry that does not begin behind `id`.
    private static func find(_ id: UInt64, in entries: [Entry]) -> Entry? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id <= id { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? entries[low - 1] : nil
    }

    /// Columns of varints: differences of ids, runs, lengths, offsets; an offset of 0 is where the one before ends.
    static func entries(_ bytes: [UInt8]) throws -> [Entry] {
        var reader = VarintReader(bytes)
        let told = try reader.varint()
        // Each entry has four numbers of a byte or more.
        guard told <= UInt64(bytes.count / 4) else { throw Wrong(what: "a directory names more than it holds") }
        let count = Int(told)
        func column() throws -> [UInt64] { try (0..<count).map { _ in try reader.varint() } }
        var id: UInt64 = 0
        let ids = try column().map { difference in
            let (sum, isOver) = id.addingReportingOverflow(difference)
            guard !isOver else { throw Wrong(what: "a directory's ids are too large") }
            id = sum
            return id
        }
        let (runs, lengths, offsets) = (try column(), try column(), try column())
        var end: UInt64 = 0
        return try (0..<count).map { index in
            let offset = offsets[index] == 0 && index > 0 ? end : offsets[index] &- 1
            let (sum, isOver) = offset.addingReportingOverflow(lengths[index])
            guard offsets[index] > 0 || index > 0, !isOver else { throw Wrong(what: "a directory's offsets are wrong") }
            end = sum
            return Entry(id: ids[index], run: runs[index], length: lengths[index], offset: offset)
        }
    }

    /// The position of an entry's bytes in the file; nil: outside of its part.
    private static func place(_ entry: Entry, in part: Range<UInt64>) -> UInt64? {
        let size = part.upperBound - part.lowerBound
        guard entry.offset <= size, entry.length <= size - entry.offset else { return nil }
        return part.lowerBound + entry.offset
    }

    private static func part(_ handle: FileHandle, _ range: Range<UInt64>, _ isPacked: Bool) throws -> [UInt8] {
        let count = range.upperBound - range.lowerBound
        guard count <= partBytesMax, let bytes = read(handle, range.lowerBound, Int(count)) else {
            throw Wrong(what: "it is cut off, or its directory is too large")
        }
        return isPacked ? try Gunzip.unpack(bytes, bytesMax: partBytesMax) : bytes
    }

    /// Many threads read at once: nobody's place in the file is another's.
    private static func read(_ handle: FileHandle, _ offset: UInt64, _ count: Int) -> [UInt8]? {
        guard offset <= UInt64(Int64.max), count > 0 else { return count == 0 ? [] : nil }
        var done = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            while done < count {
                let got = unsafe pread(
                    handle.fileDescriptor, buffer.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                done += got
            }
            used = done
        }
        return done == count ? bytes : nil
    }
}
