import CSimdjson
import Fleet
import Glibc
import SimKit
import Testing

/// The scanner's one pass against simdjson alone: they must agree about every input, good or bad.
struct JSONScanTests {
    private static let inputs = Length.count(10_000, long: 100_000)

    @Test("The one pass and simdjson agree about every record", arguments: 0..<20 as Range<UInt64>)
    func agree(seed: UInt64) {
        let (scanner, judge, page) = (Scanner(), Scanner(), GuardedPage())
        var records = RecordChance(seed: seed)
        for input in 0..<Self.inputs {
            let json = input % 8 == 0 ? records.plain() : records.odd()
            let placed = unsafe page.place(json, atEnd: input % 3 != 0)
            let (error, wanted) = unsafe (scanner.scan(placed), judge.scanWithSimdjson(placed))
            let slot = scanner.firstDifference(from: judge)
            guard unsafe isSame(error, wanted), slot == nil else {
                let said = unsafe [error, wanted].map { unsafe $0.map { unsafe String(cString: $0) } ?? "valid" }
                let text = String(decoding: json, as: UTF8.self)
                Issue.record("seed \(seed), input \(input): \(said), slot \(slot ?? -1): \(text)")
                return
            }
        }
    }

    private func isSame(_ a: UnsafePointer<CChar>?, _ b: UnsafePointer<CChar>?) -> Bool {
        guard let a = unsafe a, let b = unsafe b else { return unsafe a == b }
        return unsafe strcmp(a, b) == 0
    }

    @Test("What a gateway writes is read in the one pass: its strings are not copies")
    func plainRecordsAreReadInOnePass() {
        let (scanner, page) = (Scanner(), GuardedPage())
        var records = RecordChance(seed: 1)
        for _ in 0..<1_000 {
            let placed = unsafe page.place(records.plain(), atEnd: true)
            #expect(unsafe scanner.scan(placed) == nil)
            #expect(unsafe scanner.isText("vehicle", within: placed))
        }
        let escaped = unsafe page.place(Array(#"{"vehicle":"v\u0030"}"#.utf8), atEnd: true)
        #expect(unsafe scanner.scan(escaped) == nil)
        #expect(unsafe !scanner.isText("vehicle", within: escaped))
    }
}

/// A C scanner with the keys of a car's records and of some others.
@safe
private final class Scanner {
    private static let keys =
        ["schema", "kind", "id", "vehicle", "ts", "connected_device_names"] + Signal.allCases.map(\.row.key)
    private let slots = UnsafeMutablePointer<drover_json_slot>.allocate(capacity: keys.count)
    private let scanner: OpaquePointer

    init() {
        let texts = unsafe Self.keys.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        let pointers = unsafe texts.map { unsafe UnsafePointer<CChar>($0) }
        unsafe scanner = unsafe drover_json_new(pointers, Self.keys.count, slots)!
    }

    deinit {
        unsafe drover_json_free(scanner)
        unsafe slots.deallocate()
    }

    func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
        unsafe drover_json_scan(scanner, bytes.baseAddress, bytes.count)
    }
    func scanWithSimdjson(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar>? {
        unsafe drover_json_scan_simdjson(scanner, bytes.baseAddress, bytes.count)
    }

    func isText(_ key: String, within bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let slot = unsafe slots[Self.keys.firstIndex(of: key)!]
        guard unsafe slot.kind == Int32(DROVER_JSON_STRING), let start = bytes.baseAddress else { return false }
        return unsafe slot.text >= start && slot.text + slot.length <= start + bytes.count
    }

    func firstDifference(from other: Scanner) -> Int? {
        for index in 0..<Self.keys.count {
            let kind = unsafe slots[index].kind
            guard unsafe kind == other.slots[index].kind else { return index }
            if kind != Int32(DROVER_JSON_ABSENT), !isSame(index, as: other) { return index }
        }
        return nil
    }

    /// Precondition: both are of one kind.
    private func isSame(_ index: Int, as other: Scanner) -> Bool {
        let (a, b) = unsafe (slots[index], other.slots[index])
        switch unsafe Int(a.kind) {
        case DROVER_JSON_INT, DROVER_JSON_BOOL: return unsafe a.integer == b.integer
        case DROVER_JSON_DOUBLE: return unsafe a.number.bitPattern == b.number.bitPattern
        case DROVER_JSON_STRING: return unsafe a.length == b.length && memcmp(a.text, b.text, a.length) == 0
        case DROVER_JSON_STRINGS: return unsafe strings(a) == other.strings(b)
        default: return true
        }
    }

    private func strings(_ slot: drover_json_slot) -> [[UInt8]] {
        unsafe (slot.first..<slot.first + slot.length).map { index in
            var length = 0
            let text = unsafe drover_json_string(scanner, index, &length)
            return unsafe Array(UnsafeBufferPointer(start: text, count: length))
        }
    }
}

/// Memory between two pages that may not be touched: one byte read before or after an input ends the run.
@safe
private final class GuardedPage {
    private let size = sysconf(Int32(_SC_PAGESIZE))
    private let pages: UnsafeMutableRawPointer

    init() {
        unsafe pages = unsafe mmap(nil, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        precondition(unsafe mprotect(pages + size, size, PROT_READ | PROT_WRITE) == 0)
    }

    deinit { unsafe munmap(pages, 3 * size) }

    func place(_ bytes: [UInt8], atEnd: Bool) -> UnsafeBufferPointer<UInt8> {
        precondition(bytes.count <= size)
        let start = unsafe pages + (atEnd ? 2 * size - bytes.count : size)
        unsafe bytes.withUnsafeBytes { unsafe start.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        return unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}
