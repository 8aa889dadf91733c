internal import Basics
internal import Fleet
package import Postgres
internal import Presentation

/// A query that comes with Drover: a file of Queries with the question it answers and what it asks for.
///
/// Comment lines at its head: `-- Question: …`, `-- Parameter: NAME KIND [= STANDARD]: what it is` for `$1`, `$2` … in order,
/// `-- Plan: …` how PostgreSQL should go about it, `-- For: installation` where no person's rights are enough,
/// `-- Chart: COLUMN by COLUMN` and `-- Totals: COLUMN …` what a page shows above the rows.
package struct ReadyQuery: Sendable {
    /// The folders of Queries that hold them, in the order in which they are listed.
    package static let areas = ["machines", "cars", "dispatch", "tours", "joint", "sightings"]

    package struct Parameter: Sendable {
        package enum Kind: String, CaseIterable, Sendable { case text, integer, number, date, time }
        package let name: String
        package let kind: Kind
        /// Nil: it must be said.
        package let standard: String?
        package let meaning: String
    }

    /// A figure of each thing: rows of one thing are added up, so a share or a mean stands here only where a thing has one row.
    package struct Chart: Equatable, Sendable {
        package let value, label: String
    }

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }

    package let name: String
    package let question: String
    package let parameters: [Parameter]
    /// Words that the plan holds, like the name of an index; nil: any plan will do.
    package let plan: String?
    /// Reads what only the installation's own programs may read.
    package let isOfInstallation: Bool
    /// Nil: its rows say more than a picture of them.
    package let chart: Chart?
    /// Columns that can be added up.
    package let totals: [String]
    package let sql: String

    /// The folder.
    package var area: String { String(name.prefix { $0 != "/" }) }
    /// The name within its area.
    package var ownName: String { String(name.dropFirst(area.utf8.count + 1)) }

    /// - Parameter name: folder and file without `.sql`, like `sightings/counts_by_week`.
    package init(name: String, text: String) throws(Fault) {
        var (question, plan): (String?, String?) = (nil, nil)
        var isOfInstallation = false
        var chart: Chart?
        var totals: [String] = []
        var parameters: [Parameter] = []
        for line in text.split(separator: "\n").prefix(while: { $0.hasPrefix("--") }) {
            let line = line.dropFirst(2).drop { $0 == " " }
            if line.hasPrefix("Question: ") { question = String(line.dropFirst(10)) }
            if line.hasPrefix("Plan: ") { plan = String(line.dropFirst(6)) }
            if line == "For: installation" { isOfInstallation = true }
            if line.hasPrefix("Totals: ") { totals = line.dropFirst(8).split(separator: " ").map(String.init) }
            if line.hasPrefix("Chart: ") {
                let words = line.dropFirst(7).split(separator: " ", omittingEmptySubsequences: false)
                guard words.count == 3, words[1] == "by" else {
                    throw Fault("\(name): `\(line)` is not `Chart: COLUMN by COLUMN`")
                }
                chart = Chart(value: String(words[0]), label: String(words[2]))
            }
            if line.hasPrefix("Parameter: ") {
                guard let parameter = ReadyQuery.parameter(line.dropFirst(11)) else {
                    throw Fault("\(name): `\(line)` is not `Parameter: NAME KIND [= STANDARD]: what it is`")
                }
                parameters.append(parameter)
            }
        }
        guard let question else { throw Fault("\(name): it has no line `-- Question: …`") }
        self.name = name
        self.question = question
        self.parameters = parameters
        self.plan = plan
        self.chart = chart
        self.totals = totals
        sql = text
        self.isOfInstallation = isOfInstallation
    }

    private static func parameter(_ line: Substring) -> Parameter? {
        guard let colon = line.firstRange(of: ": ")?.lowerBound else { return nil }
        let head = line[..<colon].split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard head.count == 2 || (head.count == 4 && head[2] == "="), let kind = Parameter.Kind(rawValue: "\(head[1])")
        else { return nil }
        return Parameter(
            name: String(head[0]), kind: kind, standard: head.count == 4 ? String(head[3]) : nil,
            meaning: String(line[line.index(colon, offsetBy: 2)...]))
    }

    /// - Parameter given: values by name.
    /// - Throws: `Fault` with all that is missing, unknown or no value of its kind.
    package func values(_ given: [String: String]) throws(Fault) -> [Postgres.Parameter] {
        var faults = given.keys.sorted().filter { name in !parameters.contains { $0.name == name } }
            .map { t("\($0) is none of its parameters") }
        let values = parameters.map { parameter in
            let text = given[parameter.name] ?? parameter.standard
            if text == nil { faults.append(t("\(parameter.name) is missing: \(parameter.meaning)")) }
            if let text, !parameter.kind.holds(text) {
                faults.append(t("\(parameter.name)=\(text): must be \(parameter.kind.example)"))
            }
            return Postgres.Parameter.text(text)
        }
        guard faults.isEmpty else { throw Fault(faults.joined(separator: "; ")) }
        return values
    }

    /// The same, answered with its plan and times.
    package func explained() throws(Fault) -> ReadyQuery {
        try ReadyQuery(name: name, text: header + "EXPLAIN (ANALYZE, BUFFERS, SUMMARY)\n" + body)
    }

    private var header: String { sql.split(separator: "\n").prefix { $0.hasPrefix("--") }.map { $0 + "\n" }.joined() }
    private var body: String { String(sql.dropFirst(header.count)) }

    /// Read-only, and ended after so long.
    package func run(_ values: [Postgres.Parameter], timeoutMs: Int, on connection: Connection) throws -> QueryOutput {
        try connection.transaction { try runInside(values, timeoutMs: timeoutMs, rowsMax: nil, on: connection) }
    }

    /// The same in a transaction that is open already; of more than so many rows the first ones and one more.
    package func runInside(
        _ values: [Postgres.Parameter], timeoutMs: Int, rowsMax: Int?, on connection: Connection
    ) throws -> QueryOutput {
        try connection.execute("SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = \(timeoutMs)")
        let limited = rowsMax.map { "SELECT * FROM (\n\(body)\n) AS answer LIMIT \($0 + 1)" }
        return try QueryOutput(connection.query(limited ?? sql, values))
    }

    /// For psql: values come by `-v NAME=VALUE`, and what is left out is the standard.
    package var psql: String {
        let standards = parameters.map { parameter in
            let otherwise =
                parameter.standard.map { "\\set \(parameter.name) '\($0.replacing("'", with: "''"))'" }
                ?? "\\echo \(parameter.name) is missing: -v \(parameter.name)=\(parameter.kind.rawValue.uppercased())\n\\quit"
            return "\\if :{?\(parameter.name)}\n\\else\n\(otherwise)\n\\endif\n"
        }
        let values = parameters.map { ":'\($0.name)'" }.joined(separator: ", ")
        return header + standards.joined() + "BEGIN READ ONLY;\nPREPARE answer AS\n" + body.trimmingTrailingLines()
            + ";\nEXECUTE answer" + (values.isEmpty ? "" : "(\(values))") + ";\nCOMMIT;\n"
    }
}

extension String {
    fileprivate func trimmingTrailingLines() -> String {
        var slice = self[...]
        while slice.last == "\n" { slice = slice.dropLast() }
        return String(slice)
    }
}

extension ReadyQuery.Parameter.Kind {
    package var example: String {
        switch self {
        case .text: t("a text")
        case .integer: t("a whole number")
        case .number: t("a number, like 3.5")
        case .date: t("a day, like 2026-11-22")
        case .time: t("a time with its zone, like 2026-11-22T08:00:00Z")
        }
    }

    func holds(_ text: String) -> Bool {
        switch self {
        case .text: text.utf8.count <= 1_000 && !text.utf8.contains(0)
        case .integer: Int64(text) != nil
        case .number: text.utf8.count <= 40 && Double(text)?.isFinite ?? false
        case .date: ZonedDay(date: text, zone: "UTC") != nil
        case .time: UTC.parse(text) != nil
        }
    }
}
