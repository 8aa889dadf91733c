import Codecs
import Testing

struct TripLimitsTests {
    private static let limits = TripLimits(
        gapMs: 10_000, tripGapMs: 300_000, sharpMmPerS2: 3_000, sharpMergeMs: 1_000, sharpLeastMetresPerHour: 0,
        sharpHoldMs: 0)
    private static let ts: Int64 = 1_800_000_000_000

    private static func decode(_ text: String) -> Result<Record, DecodeError> {
        Result { () throws(DecodeError) in try RecordDecoder().decode(line: Array(text.utf8), isMachine: false) }
    }

    @Test("A record of trip rules is read as it was written") func written() throws {
        let text = String(decoding: RecordWriter.tripRules(fromMs: Self.ts, Self.limits), as: UTF8.self)
        #expect(try Self.decode(text).get() == .tripRules(fromMs: Self.ts, Self.limits))
    }

    @Test("What is not six whole numbers in bounds of their own is refused with its reason") func refused() {
        let text = String(decoding: RecordWriter.tripRules(fromMs: Self.ts, Self.limits), as: UTF8.self)
        func refusal(_ old: String, _ new: String) -> DecodeError? {
            precondition(text.contains(old))
            let changed = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false).joined(
                separator: new)
            if case .failure(let error) = Self.decode(changed) { return error }
            return nil
        }
        let missing = DecodeError.tripRules("`gap_ms` is missing or no whole number")
        #expect(refusal("\"gap_ms\":10000,", "") == missing)
        for value in ["10000.0", "1e4", "\"10000\"", "null", "true"] {
            #expect(refusal("\"gap_ms\":10000", "\"gap_ms\":" + value) == missing)
        }
        #expect(
            refusal("\"gap_ms\":10000", #""gap_ms":1,"gap_ms":10000"#)
                == .tripRules("`gap_ms` stands there more than once"))
        #expect(
            refusal("\"gap_ms\"", "\"gap_s\"")?.description.contains("a key that is none of gap_ms, trip_gap_ms")
                == true)
        #expect(refusal("\"rules\":{", "\"limits\":{") == .keyMissing("rules"))
        #expect(refusal("\"schema\":1", "\"schema\":2") == .schemaUnknown(2))
        #expect(refusal("\(Self.ts)", "1") == .timeImpossible(1))
        #expect(
            refusal("\"rules\":{", #""note":""# + String(repeating: "x", count: 5_000) + #"","rules":{"#)
                == .tooLarge(bytes: text.utf8.count + 5_010, most: 4_096))
        // An app hands in what a driver says, and no rules.
        #expect(throws: DecodeError.kindUnknown) { try RecordDecoder().decode(upload: Array(text.utf8), by: "a") }
    }
}
