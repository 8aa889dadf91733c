package import Fleet

/// The streets of a small town, as cars may use them: from each crossing one comes to any other.
package struct Streets: Sendable {
    /// As `Deploy/generate/streets` writes them.
    package struct File: Decodable, Sendable {
        struct Way: Decodable, Sendable {
            let kmh: Int
            let oneway: Bool
            let nodes: [Int]
        }

        package struct Place: Decodable, Sendable {
            package let name: String
            package let node: Int
        }

        /// Latitude and longitude in 10⁻⁷ degrees.
        let nodes: [[Int32]]
        let signals: [Int]
        let places: [Place]
        let ways: [Way]
    }

    struct Edge: Sendable {
        let to: Int
        let metres: Double
        let kmh: Int
    }

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    package let nodes: [Position]
    package let places: [File.Place]
    /// Crossings with traffic lights.
    let signals: Set<Int>
    let edges: [[Edge]]

    package init(_ file: File) throws(Fault) {
        let count = file.nodes.count
        let named = file.signals + file.places.map(\.node) + file.ways.flatMap(\.nodes)
        guard count > 1, file.nodes.allSatisfy({ $0.count == 2 }), named.allSatisfy((0..<count).contains) else {
            throw Fault(description: "the file of streets names a crossing that it does not have")
        }
        nodes = file.nodes.map { Position(latitude: $0[0], longitude: $0[1]) }
        (places, signals) = (file.places, Set(file.signals))
        var edges: [[Edge]] = Array(repeating: [], count: count)
        for way in file.ways {
            for (a, b) in zip(way.nodes, way.nodes.dropFirst()) {
                let metres = nodes[a].metres(to: nodes[b])
                edges[a].append(Edge(to: b, metres: metres, kmh: way.kmh))
                if !way.oneway { edges[b].append(Edge(to: a, metres: metres, kmh: way.kmh)) }
            }
        }
        self.edges = edges
    }

    package func nearest(to place: Position) -> Int {
        nodes.indices.min { nodes[$0].metres(to: place) < nodes[$1].metres(to: place) }!
    }

    /// The crossings of the fastest way, both ends included (Dijkstra 1959). Nil: there is none.
    package func way(from start: Int, to end: Int) -> [Int]? {
        var (best, before) = (
            Array(repeating: Double.infinity, count: nodes.count), Array(repeating: -1, count: nodes.count)
        )
        var queue = CrossingQueue()
        best[start] = 0
        queue.push(start, 0)
        while let (node, seconds) = queue.pop() {
            if node == end { break }
            guard seconds <= best[node] else { continue }
            for edge in edges[node] {
                let reached = seconds + edge.metres / (Double(edge.kmh) / 3.6)
                guard reached < best[edge.to] else { continue }
                (best[edge.to], before[edge.to]) = (reached, node)
                queue.push(edge.to, reached)
            }
        }
        guard best[end].isFinite else { return nil }
        var way = [end]
        while let first = way.last, first != start { way.append(before[first]) }
        return way.reversed()
    }

    func edge(_ from: Int, _ to: Int) -> Edge {
        // Ways come from `way`, which goes along edges only.
        edges[from].first { $0.to == to }!
    }
}

/// A binary heap: the crossing that is reached first comes first.
private struct CrossingQueue {
    private var heap: [(node: Int, seconds: Double)] = []

    mutating func push(_ node: Int, _ seconds: Double) {
        heap.append((node, seconds))
        var child = heap.count - 1
        while child > 0, heap[child].seconds < heap[(child - 1) / 2].seconds {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> (node: Int, seconds: Double)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].seconds < heap[least].seconds {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
