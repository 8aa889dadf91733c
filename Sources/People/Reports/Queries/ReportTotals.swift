internal import Presentation

extension ReportOutput {
    /// What its table adds up to, for the top of a page: a reader wants the sum before the rows. Empty: nothing is added up, or the report
    /// begins with its figures anyway.
    package var totals: [(name: String, text: String)] {
        let hasFigures = blocks.contains { if case .figures = $0 { true } else { false } }
        guard !hasFigures, count > 1 else { return [] }
        for case .table(let table) in blocks where table.hasSums {
            guard let sums = table.rows.last else { return [] }
            return zip(table.headers, sums).compactMap { header, sum in
                guard header.isNumber, let sum else { return nil }
                let (name, unit) = header.text.split(separator: ", ", maxSplits: 1).named
                return (name, unit.isEmpty ? sum : "\(sum) \(unit)")
            }
        }
        return []
    }
}

extension [Substring] {
    /// `Distance, km`: its name and unit.
    fileprivate var named: (name: String, unit: String) { (String(self[0]), count > 1 ? String(self[1]) : "") }
}
