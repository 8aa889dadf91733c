import Fleet
import Postgres
import Storage
import Synchronization
import Testing

/// The roster, codes and tokens in the real PostgreSQL, as the page's login.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct PersonStoreTests {
    static let database = Result { try TestDatabase.migrated("people") }
    let owner, page: Connection
    let campus: String

    /// A campus for each test.
    init() throws {
        campus = "north-\(Self.count.add(1, ordering: .relaxed).newValue)"
        let conninfo = try Self.database.get()
        (owner, page) = (try Connection(conninfo: conninfo), try Connection(conninfo: conninfo))
        try page.execute("SET ROLE drover_api")
        _ = try take([ada, ben])
    }

    private static let count = Atomic(0)
    private let ada = RosterEntry(id: "g-1", role: .rider, name: "Ada", mail: "ada@campus.example")
    private let ben = RosterEntry(id: "d-1", role: .rideDriver, name: "Ben", mail: "ben@campus.example")

    private func take(_ people: [RosterEntry], missing: Bool = false) throws -> PersonStore.Changes {
        try PersonStore.update(people, campus: campus, disablesMissing: missing, on: owner)
    }

    /// Of this test's campus: tokens of two tests are not the same.
    private func digest(_ byte: UInt8) -> [UInt8] {
        let name = Array(campus.utf8)
        return name + [UInt8](repeating: byte, count: 32 - name.count)
    }

    private func ask(_ person: String, _ code: UInt8, campus other: String? = nil) throws -> Bool {
        let mails = try owner.query("SELECT count(*) FROM drover.mail")[0].int(0)!
        return try PersonStore.askCode(
            campus: other ?? campus, person: person, digest: digest(code),
            mailID: "m-\(self.campus)-\(person)-\(mails)", subject: "Code", sealedBody: [1], on: page)
    }

    private func hand(_ person: String, _ code: UInt8, token: UInt8, campus other: String? = nil) throws
        -> PersonStore.Outcome
    {
        try PersonStore.redeemCode(
            campus: other ?? campus, person: person, digest: digest(code), token: digest(token), device: "phone",
            on: page)
    }

    private func caller(_ token: UInt8) throws -> Caller? { try PersonStore.caller(digest: digest(token), on: page) }

    private func count(_ table: String) throws -> Int {
        let mine = table == "mail" ? "mail_id LIKE 'm-\(campus)-%'" : "campus = '\(campus)'"
        return try owner.query("SELECT count(*) FROM drover.\(table) WHERE \(mine)")[0].int(0)!
    }

    @Test("A code is good once and for its person") func once() throws {
        #expect(try ask("g-1", 1))
        #expect(
            try owner.query("SELECT recipient FROM drover.mail WHERE mail_id LIKE 'm-\(campus)-%'")[0].text(0)
                == "ada@campus.example")
        #expect(try hand("d-1", 1, token: 9) == .wrong)
        #expect(try hand("g-1", 1, token: 9, campus: "south") == .wrong)
        #expect(try hand("g-1", 1, token: 9) == .taken)
        #expect(try hand("g-1", 1, token: 8) == .wrong)
        let found = try caller(9)
        #expect(found?.campus == campus && found?.id == "g-1" && found?.role == .rider && found?.name == "Ada")
        #expect(try caller(8) == nil)
        try PersonStore.endToken(digest: digest(9), on: page)
        #expect(try caller(9) == nil)
    }

    @Test("Five tries a code, and a new code takes the place of the old one") func tries() throws {
        #expect(try ask("g-1", 1))
        for _ in 0..<5 { #expect(try hand("g-1", 2, token: 9) == .wrong) }
        #expect(try hand("g-1", 1, token: 9) == .wrong)
        #expect(try ask("g-1", 3))
        #expect(try ask("g-1", 4))
        #expect(try hand("g-1", 3, token: 9) == .wrong)
        #expect(try hand("g-1", 4, token: 9) == .taken)
    }

    @Test("Late codes and tokens are over") func late() throws {
        #expect(try ask("g-1", 1))
        try owner.execute("UPDATE drover.person_code SET expires_at = now() - interval '1 ms'")
        #expect(try hand("g-1", 1, token: 9) == .wrong)
        #expect(try ask("g-1", 2))
        #expect(try hand("g-1", 2, token: 9) == .taken)
        try owner.execute("UPDATE drover.person_token SET expires_at = now() - interval '1 ms'")
        #expect(try caller(9) == nil)
    }

    @Test("Who is unknown is asked for and refused alike, and limited alike") func unknown() throws {
        for person in ["g-1", "nobody"] {
            for _ in 0..<3 { #expect(try ask(person, 1)) }
            #expect(try !ask(person, 1))
            for _ in 0..<20 { #expect(try hand(person, 2, token: 9) == .wrong) }
            #expect(try hand(person, 1, token: 9) == .tooMany)
        }
        #expect(try count("mail") == 3 && count("person_code") == 1 && count("person_token") == 0)
    }

    @Test("Too many of all are refused, whoever they name") func total() throws {
        try owner.execute(
            """
            INSERT INTO drover.code_request (campus, person, is_try)
            SELECT '\(campus)', 'g-' || n, false FROM generate_series(1, 1000) AS n
            """)
        #expect(try !ask("d-1", 1))
        try owner.execute("UPDATE drover.code_request SET asked_at = asked_at - interval '61 minutes'")
        #expect(try ask("d-1", 1))
        try owner.execute("UPDATE drover.code_request SET asked_at = asked_at - interval '25 hours'")
        #expect(try ask("d-1", 1))
        #expect(try count("code_request") == 1, "what no limit counts is forgotten")
    }

    @Test("Another address signs out; another name does not") func moved() throws {
        #expect(try ask("g-1", 1) && hand("g-1", 1, token: 9) == .taken)
        var changed = ada
        changed.name = "Ada L."
        var changes = PersonStore.Changes()
        changes.changed = 1
        #expect(try take([changed]) == changes)
        #expect(try caller(9)?.name == "Ada L.")
        #expect(try take([changed]) == PersonStore.Changes(), "the same again changes nothing")
        #expect(try ask("g-1", 2))
        changed.mail = "ada@elsewhere.example"
        changes.signedOut = 1
        #expect(try take([changed]) == changes)
        #expect(try caller(9) == nil && hand("g-1", 2, token: 8) == .wrong)
    }

    @Test("Who leaves the roster is out, and comes back without what they had") func left() throws {
        #expect(try ask("g-1", 1) && hand("g-1", 1, token: 9) == .taken && ask("g-1", 2))
        #expect(try take([ben]) == PersonStore.Changes())
        #expect(try caller(9) != nil, "only when it is said that the file is all of it")
        var changes = PersonStore.Changes()
        changes.left = 1
        #expect(try take([ben], missing: true) == changes)
        #expect(try caller(9) == nil && hand("g-1", 2, token: 8) == .wrong)
        #expect(try take([ben], missing: true) == PersonStore.Changes())
        changes = PersonStore.Changes()
        changes.changed = 1
        #expect(try take([ada, ben], missing: true) == changes)
        #expect(try caller(9) == nil && ask("g-1", 3) && hand("g-1", 3, token: 7) == .taken)
    }

    @Test("Who is disabled stays so over the next roster") func disabled() throws {
        #expect(try ask("g-1", 1) && hand("g-1", 1, token: 9) == .taken)
        #expect(try PersonStore.set(disabled: true, campus: campus, person: "g-1", on: owner))
        _ = try take([ada, ben], missing: true)
        #expect(try caller(9) == nil && ask("g-1", 2) && hand("g-1", 2, token: 8) == .wrong)
        #expect(try PersonStore.set(disabled: false, campus: campus, person: "g-1", on: owner))
        #expect(try caller(9) == nil && ask("g-1", 3) && hand("g-1", 3, token: 7) == .taken)
        #expect(try PersonStore.revokeTokens(campus: campus, person: "g-1", on: owner) == 1)
        #expect(try caller(7) == nil)
        #expect(try PersonStore.revokeTokens(campus: campus, person: "nobody", on: owner) == nil)
        #expect(try !PersonStore.set(disabled: true, campus: "south", person: "g-1", on: owner))
    }

    @Test("Ten devices a person: the oldest is signed out") func devices() throws {
        for device in 1...11 as ClosedRange<UInt8> {
            try owner.execute("DELETE FROM drover.code_request; DELETE FROM drover.mail")
            #expect(try ask("g-1", device) && hand("g-1", device, token: 100 + device) == .taken)
        }
        #expect(try caller(101) == nil)
        for device in 2...11 as ClosedRange<UInt8> { #expect(try caller(100 + device) != nil) }
    }

    @Test("The page's login and all others read and write none of the tables") func rights() throws {
        for table in ["person", "person_code", "person_token", "code_request", "mail"] {
            for statement in ["SELECT FROM drover.\(table)", "DELETE FROM drover.\(table)", "TRUNCATE drover.\(table)"]
            {
                #expect(throws: PostgresError.self) { try page.execute(statement) }
            }
            for role in ["drover_reader", "drover_writer", "drover_gateway", "drover_debug"] {
                try owner.execute("SET ROLE \(role)")
                #expect(throws: PostgresError.self) { try owner.execute("SELECT FROM drover.\(table)") }
                #expect(throws: PostgresError.self) { try owner.execute("SELECT drover.end_person_token('')") }
                try owner.execute("RESET ROLE")
            }
        }
        #expect(throws: PostgresError.self) { try page.execute("SELECT drover.admit_code_request('a', 'b', true)") }
    }
}
