internal import Codecs

/// Likelihoods as bytes, for snapshots.
extension Likelihoods {
    private static let version: UInt8 = 1

    public func packed() -> [UInt8] {
        var out = PackedWriter(bytes: [Likelihoods.version])
        out.put(signed: halfLifeMs)
        out.put(signed: landmark)
        out.put(UInt64(sums.count))
        for cell in sums.keys.sorted() {
            out.put(signed: Int64(cell.column))
            out.put(signed: Int64(cell.row))
            let counts = sums[cell]!
            for sum in [counts.waits, counts.cancelled, counts.offers, counts.refused] { out.put(sum) }
        }
        return out.bytes
    }

    public init(packed: [UInt8]) throws(Campus.PackedFault) {
        do throws(DecodeError) {
            var input = PackedReader(packed)
            guard try input.byte() == Likelihoods.version else { throw .packed("another version") }
            let (halfLifeMs, landmark) = (try input.number(), try input.number())
            var sums: [Cell: Counts] = [:]
            for _ in 0..<(try input.count(Likelihoods.cellsMax)) {
                guard let column = Int32(exactly: try input.number()), let row = Int32(exactly: try input.number())
                else { throw .packed("a cell out of range") }
                sums[Cell(column: column, row: row)] = Counts(
                    waits: try input.double(), cancelled: try input.double(), offers: try input.double(),
                    refused: try input.double())
            }
            guard input.atEnd else { throw .packed("bytes behind the end") }
            guard let read = Likelihoods(halfLifeMs: halfLifeMs, landmark: landmark, sums: sums) else {
                throw .packed("a value is out of its range")
            }
            self = read
        } catch {
            throw Campus.PackedFault(reason: "\(error)")
        }
    }
}
