import Fleet
import Pipeline
import Postgres
import Storage
import Testing

/// Whose cars were before records that give them, in the real PostgreSQL.
@Suite(.enabled(if: testDatabase != nil, "set DROVER_TEST_POSTGRES"), .serialized)
struct CarAccountsTests {
    private static let database = Result { try TestDatabase.migrated("car_accounts") }
    private static let firstMs: Int64 = 1_789_344_000_000

    private func entry(_ index: Int64) -> AccountLog.Entry {
        AccountLog.Entry(fromMs: CarAccountsTests.firstMs + index, id: "r\(index)", account: "account-\(index)")
    }

    @Test("Of a car the entry before a time is read and those from it on, some of them at most")
    func readsNeighbours() throws {
        let db = try Connection(conninfo: CarAccountsTests.database.get())
        try db.execute("SET search_path = drover")
        for index in 0..<9 {
            try db.query(
                "INSERT INTO car_owner (vehicle, owned_at, account, record_id) VALUES ('car', $1, $2, $3)",
                [
                    .timestampMs(CarAccountsTests.firstMs + Int64(index)), .text("account-\(index)"),
                    .text("r\(index)"),
                ])
        }
        let (car, other) = (VehicleID("car")!, VehicleID("other")!)
        func owners(since index: Int64, _ range: ClosedRange<Int64>, most: Int) throws -> Bool {
            let sinceMs = CarAccountsTests.firstMs + index
            let read = try DriverContextStore.accounts(of: [car: sinceMs, other: sinceMs], most: most, on: db)
            func log(_ entries: [AccountLog.Entry]) -> AccountLog { AccountLog(entries, since: sinceMs, most: most) }
            return read == [
                car: CarAccounts(owners: log(range.map { entry($0) }), drivers: log([])),
                other: CarAccounts(owners: log([]), drivers: log([])),
            ]
        }
        #expect(try owners(since: 0, 0...3, most: 4))
        #expect(try owners(since: 4, 3...6, most: 4))
        #expect(try owners(since: 7, 6...8, most: 4))
        #expect(try owners(since: 20, 8...8, most: 4))
        #expect(try owners(since: -5, 0...8, most: 100))
    }
}
