/// Orders in which requests are put back (Christiaens and Vanden Berghe, section 5.2, with windows).
struct RequestOrders {
    private static let kinds = 6
    /// Of 16 ruins: by chance 4, then by the keys below.
    private static let weights = [4, 2, 1, 2, 2, 2]

    private let requests: Int
    /// kinds × requests; the smallest comes first.
    private let keys: Flat<Double>
    private let key: Flat<Double>

    init(_ network: Network, _ arena: Arena) {
        let n = network.requests
        requests = n
        keys = arena.flat(Self.kinds * n, 0.0)
        key = arena.flat(n, 0.0)
        for r in 0..<n {
            let (pickup, dropoff) = (r + 1, r + 1 + n)
            let far = network.distance[pickup] + network.distance[dropoff]
            keys[r] = -Double(network.load[pickup])
            keys[n + r] = -far
            keys[2 * n + r] = far
            keys[3 * n + r] =
                network.latest[pickup] - network.earliest[pickup] + network.latest[dropoff] - network.earliest[dropoff]
            keys[4 * n + r] = network.earliest[pickup]
            keys[5 * n + r] = -network.latest[dropoff]
        }
    }

    /// - Parameter absences: where given, those left over most often come first in a third of the cases.
    func sort(_ list: Flat<Int32>, _ count: Int, absences: Flat<Int64>?, _ chance: inout Chance) {
        if count < 2 { return }
        if let absences, chance.below(3) == 0 {
            for index in 0..<count { key[list.int(index)] = -Double(absences[list.int(index)]) }
            return sort(list, count, by: key)
        }
        var turn = chance.below(4 + Self.weights.reduce(0, +)) - 4
        if turn < 0 {
            for index in stride(from: count - 1, to: 0, by: -1) {
                let other = chance.below(index + 1)
                (list[index], list[other]) = (list[other], list[index])
            }
            return
        }
        for (kind, weight) in Self.weights.enumerated() {
            turn -= weight
            if turn < 0 { return sort(list, count, by: keys.from(kind * requests)) }
        }
    }

    /// Insertion sort: the lists are short but for the first.
    private func sort(_ list: Flat<Int32>, _ count: Int, by key: Flat<Double>) {
        for index in 1..<count {
            let moved = list[index]
            let value = key[Int(moved)]
            var at = index
            while at > 0, key[list.int(at - 1)] > value {
                list[at] = list[at - 1]
                at -= 1
            }
            list[at] = moved
        }
    }
}
