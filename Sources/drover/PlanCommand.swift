/// `drover plan FILE`: a whole set at once, no server needed.
extension Command {
    static let plan = Command(
        name: "plan", operands: "FILE [options]",
        summary: "Plans a static set of requests: Li and Lim's or Cordeau and Laporte's files. Needs no server.",
        options: [
            .init("--budget", "TIME", "how long to search: 500ms, 20s, 5m (default 20s; none with --iterations)"),
            .init("--iterations", "N", "ends the search after so many, the same plan on every run with a seed"),
            .init("--seed", "N", "what chance begins with (default 1)"),
            .init("--clock", "C", "what the budget counts: wall or processor (default wall)"),
            .init("--format", "F", "text or json (default text)"),
        ],
        example: "drover plan Tests/Fixtures/plans/parcels.txt --iterations 20000 --format json",
        run: runPlan)

    private static func runPlan(_ arguments: Arguments) throws -> ExitCode {
        guard try arguments.files().count == 1 else { throw UsageError("one FILE at a time") }
        let path = arguments.operands[0]
        let render = try arguments.one("--format", of: DepotPlanning.formats, standard: "text")
        var planning = DepotPlanning()
        planning.iterationsMax = try arguments.integer("--iterations", in: 1...1_000_000_000_000).map { Int($0) }
        planning.budgetSeconds = try budget(arguments) ?? (planning.iterationsMax == nil ? 20 : nil)
        planning.seed = UInt64(try arguments.integer("--seed", in: 0...Int64.max) ?? 1)
        let clocks = Dictionary(uniqueKeysWithValues: DepotPlanning.Clock.allCases.map { ($0.rawValue, $0) })
        planning.clock = try arguments.one("--clock", of: clocks, standard: "wall")
        Out.result(render(try planning.plan(Files.read(path), name: Files.name(path))))
        return .done
    }

    /// Seconds; a number alone is in seconds.
    private static func budget(_ arguments: Arguments) throws -> Double? {
        guard let text = arguments.text("--budget") else { return nil }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let units: [Substring: Double] = ["": 1, "s": 1, "ms": 0.001, "m": 60]
        guard let value = Double(digits), let unit = units[text.dropFirst(digits.count)],
            (0.01...86_400).contains(value * unit)
        else { throw UsageError("--budget \(text): must be a time like 500ms, 20s or 5m, 10ms to 1440m") }
        return value * unit
    }
}
