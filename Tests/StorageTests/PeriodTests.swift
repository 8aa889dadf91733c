import Postgres
import Storage
import Testing

/// Tables that were there before they had partitions (migration 0045).
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"))
struct PeriodTests {
    /// Who may do what with the table, its keys and what is said of its columns.
    private static func rights(_ table: String, on connection: Connection) throws -> [String] {
        try connection.query(
            """
            SELECT format('policy %s %s %s %s %s', policyname, cmd, roles, qual, with_check) AS line FROM pg_policies
            WHERE schemaname = 'drover' AND tablename = $1
            UNION ALL SELECT format('%s %s', a.privilege_type, a.grantee::regrole) FROM pg_class c, aclexplode(c.relacl) a
            WHERE c.oid = ('drover.' || $1)::regclass
            UNION ALL SELECT format('view %s %s', a.privilege_type, a.grantee::regrole) FROM pg_class c, aclexplode(c.relacl) a
            WHERE c.oid = ('analyst.' || $1)::regclass
            UNION ALL SELECT 'view options ' || reloptions::text FROM pg_class WHERE oid = ('analyst.' || $1)::regclass
            UNION ALL SELECT 'view comment ' || obj_description(('analyst.' || $1)::regclass)
            UNION ALL SELECT format('column %s %s %s %s %s', attname, format_type(atttypid, atttypmod), attnotnull,
                pg_get_expr(d.adbin, d.adrelid), attacl) FROM pg_attribute a
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE attrelid = ('drover.' || $1)::regclass AND attnum > 0 AND NOT attisdropped
            UNION ALL SELECT 'key ' || pg_get_constraintdef(oid) FROM pg_constraint
            WHERE conrelid = ('drover.' || $1)::regclass AND contype IN ('p', 'u', 'c')
            UNION ALL SELECT format('row security %s', relrowsecurity) FROM pg_class WHERE oid = ('drover.' || $1)::regclass
            ORDER BY 1
            """, [.text(table)]
        ).map { try $0.text("line") ?? "" }
    }

    private static let tables = [("vehicle_minute", "minute_at"), ("machine_reading", "read_at")]

    @Test("Rows, rights and rules of before are those of after, and the rows lie where they belong") func carriedOver()
        throws
    {
        let conninfo = try TestDatabase.migrated("periods", to: 44)
        let connection = try Connection(conninfo: conninfo)
        var before: [String: (rights: [String], rows: String)] = [:]
        for (table, time) in Self.tables {
            // All that must be there is made of its type; days from 1999 to next month.
            try connection.execute(
                """
                DO $$ DECLARE names text; made text; BEGIN
                    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg(CASE
                        WHEN attname = '\(time)' THEN 'day'
                        WHEN atttypid = 'text'::regtype THEN '''v-'' || extract(day FROM day)'
                        WHEN atttypid = 'bytea'::regtype THEN '''\\x00ff''::bytea'
                        WHEN atttypid = 'timestamptz'::regtype THEN 'day'
                        WHEN atttypid = 'boolean'::regtype THEN 'true' ELSE '7' END, ', ' ORDER BY attnum)
                    INTO names, made FROM pg_attribute
                    WHERE attrelid = 'drover.\(table)'::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull;
                    EXECUTE format('INSERT INTO drover.\(table) (%s) SELECT %s FROM (
                        SELECT generate_series(''1999-12-31T23:59:59.999Z''::timestamptz, ''2003-01-01Z'', ''30 days'') AS day
                        UNION SELECT generate_series(now() - interval ''3 years'', now() + interval ''1 day'', ''7 days'')) d',
                        names, made);
                END $$
                """)
            before[table] = (
                try Self.rights(table, on: connection),
                try Self.digest(table, on: connection)
            )
            #expect(before[table]!.rights.count > 20)
        }
        _ = try Migrator.apply(TestDatabase.migrations.get(), on: connection)
        for (table, time) in Self.tables {
            #expect(try Self.rights(table, on: connection) == before[table]!.rights)
            #expect(try Self.digest(table, on: connection) == before[table]!.rows)
            let misplaced = try connection.query(
                """
                SELECT count(*) FROM drover.\(table) r JOIN drover.period p ON p.partition = r.tableoid::regclass::text
                    OR 'drover.' || p.partition = r.tableoid::regclass::text
                WHERE r.\(time) < p.from_at OR r.\(time) >= p.to_at
                """)[0].int(0)
            #expect(misplaced == 0)
            let periods = try connection.query(
                "SELECT count(*) FROM drover.period WHERE relation = $1", [.text(table)])[0].int(0)!
            // Years of long ago, then months: far fewer than the rows' months.
            #expect((10...36).contains(periods), "\(periods) partitions of \(table)")
        }
    }

    private static func digest(_ table: String, on connection: Connection) throws -> String {
        try connection.query(
            "SELECT count(*) || md5(string_agg(r::text, ';' ORDER BY r::text)) FROM drover.\(table) r")[0].text(0) ?? ""
    }
}
