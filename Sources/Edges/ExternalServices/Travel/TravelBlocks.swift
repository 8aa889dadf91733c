/// Cuts a table of ways into requests that a service takes. Pure.
package struct TravelBlocks: Equatable {
    package struct Block: Equatable {
        package let sources: [Int]
        package let destinations: [Int]
    }

    package let blocks: [Block]

    /// - Parameters:
    ///   - missing: pairs that are asked for, row by row.
    ///   - coordinatesMax: sources and destinations of one request together, at least 2.
    package init(missing: [Bool], sources: Int, destinations: Int, coordinatesMax: Int) {
        precondition(missing.count == sources * destinations && coordinatesMax >= 2)
        let rows = (0..<sources).filter { row in
            missing[row * destinations..<(row + 1) * destinations].contains(true)
        }
        let columns = (0..<destinations).filter { column in
            rows.contains { missing[$0 * destinations + column] }
        }
        // Half and half is the largest table, unless one side is short.
        let half = coordinatesMax / 2
        let height = max(1, min(rows.count, max(half, coordinatesMax - columns.count)))
        let width = max(1, coordinatesMax - height)
        var blocks: [Block] = []
        for top in stride(from: 0, to: rows.count, by: height) {
            let some = Array(rows[top..<min(top + height, rows.count)])
            for left in stride(from: 0, to: columns.count, by: width) {
                let others = Array(columns[left..<min(left + width, columns.count)])
                let isNeeded = some.contains { row in others.contains { missing[row * destinations + $0] } }
                if isNeeded { blocks.append(Block(sources: some, destinations: others)) }
            }
        }
        self.blocks = blocks
    }
}
