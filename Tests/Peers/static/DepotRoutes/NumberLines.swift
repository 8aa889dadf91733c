/// Lines of numbers, blank ones left out, each with its number in the file.
struct NumberLines {
    struct Line {
        let number: Int
        let values: [Double]
    }

    /// 1,000 requests fill a tenth of it.
    static let bytesMax = 4_000_000
    private static let fieldsMax = 16
    /// Beyond this, sums of distances lose the digits that windows are compared by.
    private static let magnitudeMax = 1e9

    let name: String
    let lines: [Line]

    init(_ bytes: [UInt8], name: String) throws(ProblemFault) {
        self.name = name
        guard bytes.count <= Self.bytesMax else {
            throw ProblemFault(name, line: 1, "is larger than \(Self.bytesMax) bytes. Name a file of a static set")
        }
        var lines: [Line] = []
        var number = 0
        for raw in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let fields = raw.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D })
            if fields.isEmpty { continue }
            guard fields.count <= Self.fieldsMax else {
                throw ProblemFault(name, line: number, "has \(fields.count) fields, at most 9 are known")
            }
            var values: [Double] = []
            for field in fields {
                let text = String(decoding: field.prefix(40), as: UTF8.self)
                guard let value = Double(text), abs(value) <= Self.magnitudeMax else {
                    throw ProblemFault(name, line: number, "`\(text)` must be a number from -1e9 to 1e9")
                }
                values.append(value)
            }
            lines.append(Line(number: number, values: values))
        }
        guard !lines.isEmpty else { throw ProblemFault(name, line: 1, "is empty. Name a file of a static set") }
        self.lines = lines
    }

    func fault(_ line: Line, _ text: String) -> ProblemFault { ProblemFault(name, line: line.number, text) }

    /// A whole number in a range, or a fault that names the field.
    func whole(_ line: Line, _ column: Int, _ what: String, in range: ClosedRange<Int>) throws(ProblemFault) -> Int {
        let value = line.values[column]
        guard let whole = Int(exactly: value), range.contains(whole) else {
            throw fault(line, "\(what) is \(value), must be a whole number, \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// The lines after the first: one a node, with its id in order from 0, each with this many fields.
    func nodeLines(fields: Int) throws(ProblemFault) -> ArraySlice<Line> {
        let rows = lines.dropFirst()
        guard rows.count <= 2 * DepotProblem.requestsMax + 2 else {
            throw fault(
                rows.last!, "has \(rows.count) nodes, at most \(2 * DepotProblem.requestsMax + 1). Split the set")
        }
        for (index, line) in rows.enumerated() {
            guard line.values.count == fields else {
                throw fault(line, "has \(line.values.count) fields, must have \(fields). Is the line cut off?")
            }
            guard line.values[0] == Double(index) else {
                throw fault(line, "is node \(line.values[0]), must be \(index): nodes come in order, from 0, the depot")
            }
        }
        guard rows.count >= 3 else {
            throw fault(
                lines.last!, "is the last line; a depot, a pickup and a drop-off must follow. Is the file cut off?")
        }
        return rows
    }

    /// A node whose window and service time are in the columns given.
    func node(_ line: Line, service: Int, earliest: Int) throws(ProblemFault) -> DepotProblem.Node {
        let values = line.values
        let node = DepotProblem.Node(
            x: values[1], y: values[2], earliest: values[earliest], latest: values[earliest + 1],
            service: values[service])
        guard node.earliest <= node.latest else {
            throw fault(line, "the window \(node.earliest) to \(node.latest) ends before it begins")
        }
        guard node.service >= 0 else { throw fault(line, "the service time is \(node.service), must be 0 or more") }
        return node
    }
}
