import Postgres
import Storage
import Testing

/// What the program writes into the audit log, and whether it makes the same of an entry as the database.
struct AuditLogTests {
    @Test(
        "A detail is one line that the table takes",
        arguments: [
            [("a", String(repeating: "ä", count: 1_000))], [("a", "\u{0}\n\r\u{7F}x")],
            (0..<40).map { ("field \($0)", String(repeating: "\"\\", count: 400)) }, [],
        ]) func detail(_ said: AuditLog.Detail)
    {
        let text = AuditLog.text(said)
        #expect(text.utf8.count <= 3_800 && !text.utf8.contains(0x0A) && text.hasPrefix("{") && text.hasSuffix("}"))
        #expect(!text.contains("\\u0000"))
    }

    @Test("An anchor is a head, or its hash") func anchor() throws {
        let hash = String(repeating: "0f", count: 32)
        let anchor = try #require(AuditCheck.Anchor("12:" + hash))
        #expect(anchor.sequence == 12 && anchor.hash == [UInt8](repeating: 15, count: 32))
        #expect(AuditCheck.Anchor(hash)?.sequence == nil)
        for wrong in ["", "12:", "x:" + hash, hash + "0", String(repeating: "+f", count: 32), "1:2:" + hash] {
            #expect(AuditCheck.Anchor(wrong) == nil, "\(wrong)")
        }
    }

    @Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES")) struct OnTheServer {
        @Test("The database hashes the bytes that we hash, and a check finds what changed") func bytes() throws {
            let owner = try Connection(conninfo: TestDatabase.migrated("audit"))
            try AuditLog.record(.logOut, by: "anna", from: "192.0.2.1", [("ä", "ß\"")], on: owner)
            try AuditLog.record(.linkGiven, about: "ben", on: owner)
            try AuditLog.record(.logInFailed, about: "nobody@example.org", from: "?", on: owner)
            let entries = try AuditQueries.entries(AuditQueries.Filter(), newest: false, limit: 10, on: owner)
            let theirs = try owner.query(
                "SELECT drover.audit_bytes(e) AS bytes FROM drover.audit_entry e ORDER BY sequence"
            ).map { try $0.bytes("bytes")! }
            #expect(entries.map(\.bytes) == theirs && entries.count == 3)
            #expect(entries[0].actor?.said == "anna" && entries[2].remote == nil)
            #expect(try AuditCheck.run(nil, on: owner).entries == 3)
            try owner.execute("UPDATE drover.audit_entry SET detail = '{}' WHERE sequence = 1")
            let fault = #expect(throws: AuditCheck.Fault.self) { try AuditCheck.run(nil, on: owner) }
            #expect(fault?.sequence == 1)
        }

        @Test("An anchor's number counts, not its hash alone") func anchored() throws {
            let owner = try Connection(conninfo: TestDatabase.migrated("audit_anchor"))
            for name in ["anna", "ben", "cara"] { try AuditLog.record(.linkGiven, about: name, on: owner) }
            let entries = try AuditQueries.entries(AuditQueries.Filter(), newest: false, limit: 10, on: owner)
            let hash = entries[1].hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            for right in ["2:" + hash, hash] {
                #expect(try AuditCheck.run(AuditCheck.Anchor(right), on: owner).entries == 3)
            }
            for wrong in [1, 3, 0, 4] as [Int64] {
                let fault = #expect(throws: AuditCheck.Fault.self) {
                    try AuditCheck.run(AuditCheck.Anchor("\(wrong):" + hash), on: owner)
                }
                #expect(fault?.sequence == wrong)
            }
        }

        @Test("A deed has its entry before it is done, and another where it failed") func deeds() throws {
            struct Refused: Error {}
            let owner = try Connection(conninfo: TestDatabase.migrated("audit_deed"))
            let deed = AuditedOperation(.clockSetBack, by: "anna", [("topic", "t")])
            func told() throws -> [String] {
                try AuditQueries.entries(AuditQueries.Filter(), newest: false, limit: 10, on: owner).map(\.detail)
            }
            #expect(try deed.run(on: owner) { try told() } == [#"{"topic":"t"}"#])
            #expect(throws: Refused.self) { try deed.run(on: owner) { throw Refused() } }
            #expect(try told().suffix(2) == [#"{"topic":"t"}"#, #"{"topic":"t","outcome":"failed"}"#])
            try owner.execute("ALTER TABLE drover.audit_entry ADD CONSTRAINT none_of_it CHECK (sequence < 4)")
            var isDone = false
            #expect(throws: PostgresError.self) { try deed.run(on: owner) { isDone = true } }
            #expect(!isDone)
        }
    }
}
