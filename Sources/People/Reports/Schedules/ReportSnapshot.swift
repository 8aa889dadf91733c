internal import Foundation

/// A report's rows as they are kept, to tell what late data has changed since. Pure.
struct ReportSnapshot: Codable, Equatable {
    struct Sheet: Codable, Equatable {
        let name: String
        let headers: [String]
        let rows: [[String?]]
    }

    let sheets: [Sheet]

    init(_ output: any ReportOutput) {
        sheets = output.sheets.map { sheet in
            Sheet(
                name: sheet.name, headers: sheet.headers,
                rows: sheet.rows.map { row in
                    row.map { cell in
                        switch cell {
                        case .empty: nil
                        case .text(let text), .number(let text), .time(let text): text
                        }
                    }
                })
        }
    }

    /// Nil: they are of another release.
    init?(_ bytes: [UInt8]) {
        guard let facts = try? JSONDecoder().decode(ReportSnapshot.self, from: Data(bytes)) else { return nil }
        self = facts
    }

    /// Texts alone: they are always JSON.
    var bytes: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }

    // MARK: Differences

    /// The columns that identify a row; the others are its values.
    private static let keys: Set = [
        "day", "vehicle", "start", "opened", "kind", "parameter", "campus", "hour", "site", "tour", "waypoint",
    ]
    /// The number of rows that are named.
    private static let namedMax = 10

    /// In words: `2 rows more, 1 changed: seat-leon 2018-02-20: Distance, km 10.3 → 12.1`; nil: the rows are the same.
    func change(to new: ReportSnapshot) -> String? {
        guard sheets != new.sheets else { return nil }
        var (added, removed, changed): (Int, Int, Int) = (0, 0, 0)
        var named: [String] = []
        for sheet in new.sheets {
            let old = sheets.first { $0.name == sheet.name && $0.headers == sheet.headers }
            let (before, after) = (ReportSnapshot.byKey(old), ReportSnapshot.byKey(sheet))
            removed += before.keys.filter { after[$0] == nil }.count
            for key in after.keys.sorted() {
                guard let was = before[key] else {
                    added += 1
                    named.append("\(key): new")
                    continue
                }
                let now = after[key]!
                let columns = sheet.headers.indices.filter { was[$0] != now[$0] }
                if columns.isEmpty { continue }
                changed += 1
                let figures = columns.prefix(6).map { "\(sheet.headers[$0]) \(was[$0] ?? "–") → \(now[$0] ?? "–")" }
                named.append("\(key): \(figures.joined(separator: "; "))")
            }
            named += before.keys.filter { after[$0] == nil }.sorted().map { "\($0): gone" }
        }
        let counts = [(added, "more"), (removed, "less"), (changed, "changed")].filter { $0.0 > 0 }.map {
            "\($0.0) \($0.0 == 1 ? "row" : "rows") \($0.1)"
        }
        let shown = named.prefix(ReportSnapshot.namedMax).joined(separator: "\n")
        let rest = named.count - ReportSnapshot.namedMax
        return counts.joined(separator: ", ") + (named.isEmpty ? "" : "\n\(shown)")
            + (rest > 0 ? "\nand \(rest) others" : "")
    }

    /// Rows of one key are told apart by their order.
    private static func byKey(_ sheet: Sheet?) -> [String: [String?]] {
        guard let sheet else { return [:] }
        let columns = sheet.headers.indices.filter { keys.contains(sheet.headers[$0].lowercased()) }
        var rows: [String: [String?]] = [:]
        for row in sheet.rows {
            let key = columns.compactMap { row[$0] }.joined(separator: " ")
            var (name, number) = (key, 1)
            while rows[name] != nil {
                number += 1
                name = "\(key) (\(number))"
            }
            rows[name] = row
        }
        return rows
    }
}
