package import Crypto
package import Postgres

/// Values that are sealed under people.code_key_file, for the owner: while keys are changed some are of the key from before.
package enum SealedValueStore {
    /// Values that stay until they are sealed again, by their column.
    private static let lasting: [(table: String, column: String, use: CodeKey.Use)] = [
        ("account_second_factor", "secret", .secondFactor), ("account_second_factor", "next_secret", .secondFactor),
        ("notice_setting", "webhook_key", .mail),
    ]
    /// Values that are sent within days, or given up.
    private static let passing: [String] = [
        "SELECT body FROM drover.mail WHERE is_sealed AND refused IS NULL",
        "SELECT payload FROM drover.notice_message WHERE payload IS NOT NULL AND state = 'waiting' AND channel <> 'mail'",
    ]
    private static let rowsMax = 500

    /// How many values need the key from before: of those that last, and of those that wait to be sent.
    package static func needingKeyBefore(
        _ key: CodeKey, on connection: Connection
    ) throws -> (lasting: Int, waiting: Int) {
        try connection.snapshot {
            var (lasts, waits) = (0, 0)
            for column in lasting {
                let sql = "SELECT \(column.column) FROM drover.\(column.table) WHERE \(column.column) IS NOT NULL"
                try connection.eachRow(sql, atATime: rowsMax) { row in
                    if key.needsKeyBefore(try row.bytes(0)!, for: column.use) { lasts += 1 }
                }
            }
            for sql in passing {
                try connection.eachRow(sql, atATime: rowsMax) { row in
                    if let sealed = try row.bytes(0), key.needsKeyBefore(sealed) { waits += 1 }
                }
            }
            return (lasts, waits)
        }
    }

    /// Seals with the first key what lasts and is of the one before. Returns how many it was.
    package static func renew(_ key: CodeKey, on connection: Connection) throws -> Int {
        var renewed = 0
        for column in lasting {
            let sql =
                "SELECT account, \(column.column) FROM drover.\(column.table) WHERE \(column.column) IS NOT NULL ORDER BY account"
            for row in try connection.query(sql) {
                let sealed = try row.bytes(1)!
                guard key.needsKeyBefore(sealed, for: column.use), let open = key.open(sealed, for: column.use) else {
                    continue
                }
                // What somebody set meanwhile stays.
                renewed += try connection.query(
                    "UPDATE drover.\(column.table) SET \(column.column) = $3 WHERE account = $1 AND \(column.column) = $2",
                    [.text(try row.text(0)!), .bytes(sealed), .bytes(key.seal(open, for: column.use))]
                ).rowsChanged
            }
        }
        return renewed
    }
}
