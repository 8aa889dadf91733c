/// A span of time in pieces of equal length that begin at multiples of it, whatever span is asked for: what a chart or map that moves on has
/// shown keeps its time and value.
package struct SpanPieces: Sendable {
    /// From the beginning of the first piece.
    package let span: Range<Int64>
    package let lengthS: Int64

    /// - Parameter max: how many pieces at most; one is lost where the first begins before the span.
    package init(_ span: Range<Int64>, max: Int64) {
        let seconds = (span.upperBound - span.lowerBound + 999) / 1_000
        let whole = Swift.max(1, max - 1)
        lengthS = Swift.max(1, (seconds + whole - 1) / whole)
        let over = span.lowerBound % (lengthS * 1_000)
        self.span = span.lowerBound - (over < 0 ? over + lengthS * 1_000 : over)..<span.upperBound
    }

    func number(_ ms: Int64) -> Int64 { (ms - span.lowerBound) / 1_000 / lengthS }
}
