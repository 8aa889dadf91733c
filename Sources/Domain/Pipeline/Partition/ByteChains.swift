/// Many short byte strings that grow at their ends, in chunks of one store: a million open minutes without a million
/// arrays. Chunks of a string that is cleared are used again.
struct ByteChains {
    /// One string. Empty at first.
    struct Chain {
        fileprivate var first: UInt32 = 0
        fileprivate var last: UInt32 = 0
        fileprivate(set) var count: UInt32 = 0
        var isEmpty: Bool { count == 0 }
    }

    private static let chunkBytes = 64
    private static let segmentChunks = 256

    /// Segments instead of one array: growing must not copy what is there, nor hold it twice.
    private var segments: [[UInt8]] = []
    /// The next chunk of the same string, or of the free list; 0 is the end. Chunks are counted from 1.
    private var next: [UInt32] = [0]
    private var free: UInt32 = 0

    mutating func append(_ bytes: [UInt8], to chain: inout Chain) {
        unsafe bytes.withUnsafeBytes { unsafe append($0, to: &chain) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer, to chain: inout Chain) {
        var at = 0
        while at < bytes.count {
            let used = Int(chain.count) % ByteChains.chunkBytes
            if used == 0 { addChunk(to: &chain) }
            let (segment, start) = ByteChains.place(chain.last)
            let length = min(bytes.count - at, ByteChains.chunkBytes - used)
            unsafe segments[segment].withUnsafeMutableBytes { target in
                let place = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start + used..<start + used + length])
                unsafe place.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[at..<at + length]))
            }
            at += length
            chain.count += UInt32(length)
        }
    }

    /// Puts the string's bytes into `out`, which is emptied first.
    func read(_ chain: Chain, into out: inout [UInt8]) {
        out.removeAll(keepingCapacity: true)
        var (left, chunk) = (Int(chain.count), chain.first)
        while left > 0 {
            let (segment, start) = ByteChains.place(chunk)
            let length = min(left, ByteChains.chunkBytes)
            out.append(contentsOf: segments[segment][start..<start + length])
            left -= length
            chunk = next[Int(chunk)]
        }
    }

    mutating func clear(_ chain: inout Chain) {
        guard !chain.isEmpty else { return }
        next[Int(chain.last)] = free
        free = chain.first
        chain = Chain()
    }

    mutating func replace(_ chain: inout Chain, with bytes: [UInt8]) {
        clear(&chain)
        append(bytes, to: &chain)
    }

    private mutating func addChunk(to chain: inout Chain) {
        if free == 0 { addSegment() }
        let chunk = free
        free = next[Int(chunk)]
        next[Int(chunk)] = 0
        if chain.isEmpty { chain.first = chunk } else { next[Int(chain.last)] = chunk }
        chain.last = chunk
    }

    private mutating func addSegment() {
        segments.append(Array(repeating: 0, count: ByteChains.segmentChunks * ByteChains.chunkBytes))
        let first = UInt32(next.count)
        for index in 0..<UInt32(ByteChains.segmentChunks) { next.append(first + index + 1) }
        next[next.count - 1] = 0
        free = first
    }

    private static func place(_ chunk: UInt32) -> (segment: Int, start: Int) {
        let index = Int(chunk) - 1
        return (index / segmentChunks, index % segmentChunks * chunkBytes)
    }
}
