internal import Glibc

/// Record keys (vehicle ids) to dense numbers, in the order in which they were first seen. One array of bytes holds all
/// keys; nothing is allocated for a key that is known.
package struct KeyIndex {
    /// Number + 1 of the key in this place; 0 is free. The size is a power of two, at most half full.
    private var places: [UInt32] = Array(repeating: 0, count: 64)
    /// The upper half of each key's hash: most other keys are told apart without looking at their bytes.
    private var hashes: [UInt32] = []
    private var ends: [UInt32] = []
    private var bytes: [UInt8] = []

    package init() {}

    package var count: Int { ends.count }

    /// The key's number; nil when it was never added.
    package func find(_ key: UnsafeRawBufferPointer) -> Int? {
        let hash = unsafe KeyIndex.hash(key)
        return unsafe find(key, hash)
    }

    private func find(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int? {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != 0 {
            let number = Int(places[place]) - 1
            if hashes[number] == UInt32(truncatingIfNeeded: hash >> 32), unsafe isKey(number, key) { return number }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Adds a key that is not there yet; returns its number.
    package mutating func add(_ key: UnsafeRawBufferPointer) -> Int {
        let hash = unsafe KeyIndex.hash(key)
        let number = ends.count
        unsafe bytes.append(contentsOf: key)
        ends.append(UInt32(bytes.count))
        hashes.append(UInt32(truncatingIfNeeded: hash >> 32))
        if (number + 1) * 2 > places.count { grow() } else { place(number, hash) }
        return number
    }

    package func key(_ number: Int) -> ArraySlice<UInt8> {
        bytes[(number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])]
    }

    private func isKey(_ number: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        let start = number == 0 ? 0 : Int(ends[number - 1])
        guard Int(ends[number]) - start == key.count else { return false }
        return unsafe bytes.withUnsafeBytes { all in
            guard let ours = all.baseAddress, let theirs = key.baseAddress else { return true }
            return unsafe memcmp(ours + start, theirs, key.count) == 0
        }
    }

    private mutating func place(_ number: Int, _ hash: UInt64) {
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place] != 0 { place = (place + 1) & mask }
        places[place] = UInt32(number) + 1
    }

    private mutating func grow() {
        places = Array(repeating: 0, count: places.count * 2)
        for number in 0..<count {
            let hash = unsafe key(number).withUnsafeBytes { unsafe KeyIndex.hash($0) }
            place(number, hash)
        }
    }

    /// The process's own seeded hash: senders choose keys, and must not be able to make them collide.
    private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        unsafe hasher.combine(bytes: key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
