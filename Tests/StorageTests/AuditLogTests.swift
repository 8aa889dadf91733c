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
            let entries = try AuditReads.entries(AuditReads.Filter(), newest: false, limit: 10, on: owner)
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
    }
}
