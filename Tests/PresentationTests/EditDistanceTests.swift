import Presentation
import Testing

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("combine", "combine", 0), ("combine", "comibne", 1), ("van", "vam", 1), ("van", "an", 1),
        ("van", "vans", 1),
        ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 1), ("größe", "grösse", 2),
        ("🚜a", "🚜b", 1),
    ]) func changesAreCounted(one: String, other: String, changes: Int) {
        #expect(EditDistance.between(one, other) == changes)
        #expect(EditDistance.between(other, one) == changes)
    }

    /// Whatever the words, both directions say the same and no more than the longer one's length.
    @Test func bounds() {
        let words = ["", "a", "ab", "ba", "abc", "cab", "acb", "bca", "aabb", "abab"]
        for one in words {
            for other in words {
                let changes = EditDistance.between(one, other)
                #expect(changes == EditDistance.between(other, one))
                #expect((changes == 0) == (one == other))
                #expect(changes <= max(one.count, other.count))
            }
        }
        #expect(EditDistance.between(String(repeating: "a", count: 10_000), "") == EditDistance.lengthMax)
    }

    @Test func beginningsOfWordsAreNear() {
        #expect(EditDistance.toBeginning(of: "Combine, north field", typed: "comibne") == 1)
        #expect(EditDistance.toBeginning(of: "Combine, north field", typed: "nroth") == 1)
        #expect(EditDistance.toBeginning(of: "Alerts", typed: "al") == 0)
        #expect(EditDistance.toBeginning(of: "Map", typed: "sightings") > 3)
    }
}
