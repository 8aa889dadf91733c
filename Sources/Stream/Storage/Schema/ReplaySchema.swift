package import Kafka
package import Postgres

/// The schema that a replay builds: tables like the live ones (`ReplayTables`), of what it would tell, too.
package enum ReplaySchema {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// A plain name that is nobody else's.
    package static func check(_ name: String) throws {
        let isPlain = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        guard (1...40).contains(name.utf8.count), isPlain, !(0x30...0x39).contains(name.utf8.first!) else {
            throw Fault(description: "`\(name)`: a schema's name is 1 to 40 letters a-z, digits and _, no digit first")
        }
        guard name != SchemaConnection.liveSchema, name != "public", !name.hasPrefix("pg_"),
            name != "information_schema"
        else {
            throw Fault(description: "`\(name)` is not a replay's schema: choose another name")
        }
    }

    /// Makes the schema when it is not there; `owner` may create schemas. Returns whether it was made now.
    package static func prepare(_ name: String, owner: Connection) throws -> Bool {
        try check(name)
        if try isThere(name, on: owner) { return false }
        guard try owner.query("SELECT FROM pg_namespace WHERE nspname = $1", [.text(name)]).isEmpty else {
            throw Fault(description: "schema `\(name)` is there and holds no replay: choose another name")
        }
        // The name was checked: it needs no quotes.
        try owner.transaction {
            try owner.execute("CREATE SCHEMA \(name)")
            for table in ReplayTables.names {
                try owner.execute("CREATE TABLE \(name).\(table) (LIKE drover.\(table) INCLUDING ALL)")
            }
            // What is told once is there once, however often the replay was stopped; and is looked up by it.
            try owner.execute(
                """
                CREATE UNIQUE INDEX ON \(name).outbox (record_id, topic);
                CREATE INDEX ON \(name).notice_event (alert_id);
                GRANT USAGE ON SCHEMA \(name) TO drover_writer, drover_reader;
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(name) TO drover_writer
                """)
            for grant in try readerGrants(name, on: owner) { try owner.execute(grant) }
        }
        return true
    }

    /// Grants for readers: of a replay they may read what they may read of the live tables, and no more.
    private static func readerGrants(_ schema: String, on owner: Connection) throws -> [String] {
        try owner.query(
            """
            WITH live AS (
                SELECT name, to_regclass('drover.' || name) AS id FROM unnest($2::text[]) AS named(name)
            )
            SELECT format('GRANT SELECT ON %I.%I TO drover_reader', $1::text, name) FROM live
            WHERE has_table_privilege('drover_reader', id, 'SELECT')
            UNION ALL
            SELECT format('GRANT SELECT (%s) ON %I.%I TO drover_reader',
                string_agg(quote_ident(attname), ', ' ORDER BY attnum), $1::text, name)
            FROM live JOIN pg_attribute ON attrelid = id AND attnum > 0 AND NOT attisdropped
            WHERE NOT has_table_privilege('drover_reader', id, 'SELECT')
                AND has_column_privilege('drover_reader', id, attnum, 'SELECT')
            GROUP BY name
            """, [.text(schema), .textArray(ReplayTables.names)]
        ).map { try $0.text(0)! }
    }

    /// The first table or column that the live tables have and the replay lacks: it was begun by an earlier version, or
    /// before the database was migrated. Nil: none. Precondition: the schema holds a replay.
    package static func lacking(_ schema: String, on connection: Connection) throws -> String? {
        try connection.query(
            """
            WITH named AS (SELECT name, place FROM unnest($2::text[]) WITH ORDINALITY AS named(name, place)),
            there AS (
                SELECT n.nspname AS schema, c.relname AS name, a.attname AS column, a.attnum
                FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE n.nspname IN ($3, $1)
            )
            SELECT CASE WHEN EXISTS (SELECT FROM there t WHERE t.schema = $1 AND t.name = live.name)
                THEN 'the column ' || live.name || '.' || live.column ELSE 'the table ' || live.name END
            FROM named JOIN there live ON live.schema = $3 AND live.name = named.name
            WHERE NOT EXISTS (
                SELECT FROM there t WHERE t.schema = $1 AND t.name = live.name AND t.column = live.column)
            ORDER BY named.place, live.attnum LIMIT 1
            """, [.text(schema), .textArray(ReplayTables.names), .text(SchemaConnection.liveSchema)]
        ).first?.text(0)
    }

    /// Whether the schema holds a replay. Precondition: the name was checked.
    package static func isThere(_ name: String, on connection: Connection) throws -> Bool {
        try connection.query("SELECT to_regclass($1)::text", [.text("\(name).partition_progress")])[0].text(0) != nil
    }

    /// Where the partitions of a schema stand, by topic and partition.
    package static func offsets(_ schema: String, on connection: Connection) throws -> [TopicPartition: Int64] {
        var offsets: [TopicPartition: Int64] = [:]
        for row in try connection.query("SELECT topic, partition, next_offset FROM \(schema).partition_progress") {
            let partition = TopicPartition(topic: try row.text(0)!, partition: Int32(try row.int(1)!))
            offsets[partition] = Int64(try row.int(2)!)
        }
        return offsets
    }
}
