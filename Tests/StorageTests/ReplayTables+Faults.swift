import Storage

extension ReplayTables {
    /// What the list does not say of these tables, with their columns, or says and is not so.
    static func faults(_ tables: [String: Set<String>]) -> [String] {
        let refused = notCompared.flatMap(\.tables)
        var faults: [String] = []
        for name in Set(tables.keys).union(refused).union(names).sorted() {
            let parts = compared.filter { $0.name == name }
            switch (parts.isEmpty, refused.count { $0 == name }) {
            case (true, 0): faults.append("\(name): neither compared nor said why not")
            case (false, 0), (true, 1): break
            default: faults.append("\(name): named twice")
            }
            guard let columns = tables[name] else {
                faults.append("\(name): there is no such table")
                continue
            }
            for part in parts {
                for column in columns.subtracting(part.names).sorted() {
                    faults.append("\(name).\(column): not named (\(part.label))")
                }
                for column in Set(part.names).subtracting(columns).sorted() {
                    faults.append("\(name).\(column): there is no such column (\(part.label))")
                }
                if Set(part.names).count < part.names.count { faults.append("\(name): a column is named twice") }
                for column in part.shown.keys where !part.columns.contains(column) {
                    faults.append("\(name).\(column): shown and not compared (\(part.label))")
                }
            }
        }
        return faults
    }
}
