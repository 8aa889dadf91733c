/// What was typed behind `peer-plan`.
struct PlanOptions {
    /// What was typed is not what the program takes.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static let usage = """
        peer-plan FILE [options]
          --budget TIME      how long to search: 500ms, 20s, 5m (default 20s)
          --iterations N     ends after N iterations: the same seed then gives the same plan on any machine
          --seed N           what chance begins with (default 1)
          --clock C          what the budget counts: wall or processor (default wall)
          --format F         table or json (default table)
        example: peer-plan Tests/Fixtures/plans/parcels.txt --budget 5s --format json
        """

    private(set) var path = ""
    private(set) var isJSON = false
    private(set) var planning = DepotPlanning()

    init(_ words: ArraySlice<String>) throws {
        var rest = words
        while let word = rest.popFirst() {
            if word.hasPrefix("--") {
                guard let value = rest.popFirst() else { throw Wrong("\(word) needs a value") }
                try set(word, to: value)
            } else if path.isEmpty {
                path = word
            } else {
                throw Wrong("\(word): one FILE at a time")
            }
        }
        guard !path.isEmpty else { throw Wrong("no FILE was named") }
        if planning.budgetSeconds == nil && planning.iterationsMax == nil { planning.budgetSeconds = 20 }
    }

    private mutating func set(_ option: String, to text: String) throws {
        switch option {
        case "--budget": planning.budgetSeconds = try PlanOptions.seconds(text)
        case "--iterations": planning.iterationsMax = try PlanOptions.number(text, of: option, in: 1...1_000_000_000)
        case "--seed": planning.seed = UInt64(try PlanOptions.number(text, of: option, in: 0...Int.max))
        case "--clock":
            guard let clock = PlanClock(rawValue: text) else {
                throw Wrong("--clock \(text): must be wall or processor")
            }
            planning.clock = clock
        case "--format":
            guard ["table", "json"].contains(text) else { throw Wrong("--format \(text): must be table or json") }
            isJSON = text == "json"
        default: throw Wrong("\(option): unknown")
        }
    }

    private static func number(_ text: String, of option: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Wrong("\(option) \(text): must be a whole number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A number alone is in seconds.
    private static func seconds(_ text: String) throws -> Double {
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let units: [Substring: Double] = ["": 1, "s": 1, "ms": 0.001, "m": 60]
        guard let value = Double(digits), let unit = units[text.dropFirst(digits.count)],
            (0.001...86_400).contains(value * unit)
        else { throw Wrong("--budget \(text): must be a time like 500ms, 20s or 5m, 1ms to 1440m") }
        return value * unit
    }
}
