import Fleet
import Testing

struct CarReadingTests {
    private func reading(_ ts: Int64, _ values: [Signal: Int32]) -> CarReading {
        var reading = CarReading(ts: ts)
        for (signal, value) in values { reading[signal] = value }
        return reading
    }

    @Test func unionTakesEitherFieldAndTheLargerOfTwo() {
        var a = reading(5, [.speed: 10, .rpm: 3])
        a.formUnion(reading(5, [.speed: 12, .maf: 4]))
        var wanted = reading(5, [.speed: 12, .rpm: 3, .maf: 4])
        wanted.disputed = true
        #expect(a == wanted)
    }

    @Test func unionDoesNotAskWhichCameFirst() {
        let values: [[Signal: Int32]] = [
            [.speed: 1], [.speed: 2, .latitude: 5, .longitude: 9], [.latitude: 5, .longitude: 8, .rpm: 1],
            [.rpm: 1, .latitude: 7],
        ]
        let set = values.map { reading(1, $0) }
        let wanted = set.unioned()
        for a in set.indices {
            for b in set.indices {
                for c in set.indices {
                    for d in set.indices {
                        guard Set([a, b, c, d]).count == 4 else { continue }
                        #expect([set[a], set[b], set[c], set[d], set[a]].unioned() == wanted)
                    }
                }
            }
        }
    }

    @Test func positionStaysAPair() {
        var a = reading(1, [.latitude: 5, .longitude: 9])
        a.formUnion(reading(1, [.latitude: 6, .longitude: 1]))
        #expect(a[.latitude] == 6 && a[.longitude] == 1 && a.disputed)
    }

    @Test(arguments: Signal.allCases) func impossibleValuesAreNotStored(_ signal: Signal) {
        let row = signal.row
        #expect(row.stored(Int64(row.most) * row.scale) == row.most * Int32(row.scale))
        #expect(row.stored(Int64(row.most) * row.scale + 1) == nil)
        #expect(row.stored(Int64(row.least) * row.scale - 1) == nil)
        #expect(row.signal == signal)
    }

    @Test func everyParameterHasItsRow() {
        for parameter in MachineParameter.allCases { #expect(parameter.row.parameter == parameter) }
    }
}
