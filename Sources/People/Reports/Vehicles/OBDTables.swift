internal import Basics
package import Codecs
internal import Formats

/// The parameters that can be read, and what codes mean: for people and programs.
package enum OBDTables {
    package static let formats: [String: @Sendable (Table) -> String] = [
        "csv": { $0.csv() }, "table": { $0.text() },
        "json": { table in
            let numbers: Set = ["bytes", "least", "most", "decimals"]
            let rows = table.rows.map { row in
                JSONValue.object(
                    zip(table.headers, row).map { ($0, numbers.contains($0) ? .number($1) : .optional($1)) })
            }
            return JSONValue.list(rows).rendered(indent: true)
        },
    ]

    package static func pids() -> Table {
        var table = Table(["pid", "key", "name", "bytes", "formula", "unit", "least", "most", "decimals", "source"])
        for row in OBDTable.rows {
            var (least, most, decimals): (String?, String?, String?)
            if case .number(let scale) = row.kind {
                (least, most) = scale.range
                decimals = String(scale.decimals)
            }
            let texts = [row.formula, row.unit].map { $0.isEmpty ? nil : $0 }
            table.rows.append([
                Hex.text([row.pid]).uppercased(), row.key, row.name, String(row.bytes), texts[0], texts[1], least, most,
                decimals, row.source.rawValue,
            ])
        }
        return table
    }

    package static func codes(_ codes: [TroubleCode], _ meanings: TroubleCodeMeanings) -> Table {
        var table = Table(["code", "system", "origin", "subsystem", "description"])
        table.rows = codes.map {
            [$0.text, $0.system.rawValue, $0.origin.rawValue, $0.subsystem, meanings.text(of: $0)]
        }
        return table
    }
}
