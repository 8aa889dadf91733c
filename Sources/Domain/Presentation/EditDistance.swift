/// How many letters somebody would have to change, add, leave out or swap with the next to have written another word
/// (restricted Damerau-Levenshtein: F. Damerau, CACM 7(3), 1964).
package enum EditDistance {
    /// Longer words count by their beginnings.
    package static let lengthMax = 40

    package static func between(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
        let (a, b) = (Array(one.prefix(lengthMax)), Array(other.prefix(lengthMax)))
        var before: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[b.count]
    }

    /// To the nearest beginning of a name or of one of its words, as somebody types it.
    package static func toBeginning(of name: String, typed: String) -> Int {
        let (name, typed) = (name.lowercased(), typed.lowercased())
        let starts = [name[...]] + name.split { !$0.isLetter && !$0.isNumber }
        return starts.map { between(typed, $0.prefix(typed.count)) + ($0.count < typed.count ? 1 : 0) }.min()
            ?? typed.count
    }
}
