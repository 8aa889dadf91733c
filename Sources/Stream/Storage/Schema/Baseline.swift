/// Where the migrations of today begin. Those before the first release are one, which makes a new database as they left it; a database that
/// they made has nothing to do. A test holds both to be the same (Tests/System/operations/test_baseline.py).
enum Baseline {
    static let number = 76
    /// The entry that the last of the single migrations left in the list of a database that they made.
    private static let lastSingle = Migrator.Entry(
        name: "0076_tries_at_once.sql", digest: "489ae36effc94e8f29f76119a1bfdb9a")
    private static let singles = Set(1...number).subtracting([58, 74])
    /// A program that has the single migrations, all of them.
    private static let commit = "9a3697d7"

    /// Whether it was the single migrations that brought the database to where the baseline begins.
    static func isReached(bySingles entry: Migrator.Entry) -> Bool { entry == lastSingle }

    /// A database that stands before the baseline cannot go on from there with this program.
    static func check(_ applied: [Int: Migrator.Entry]) throws(Migrator.Fault) {
        let single = Set(applied.keys.filter { $0 <= number })
        guard !single.isEmpty else { return }
        guard let entry = applied[number] else {
            throw Migrator.Fault(
                description:
                    "the database is at migration \(single.max()!), and this program begins with \(number): \(way)")
        }
        let missing = singles.subtracting(single).sorted()
        guard !isReached(bySingles: entry) || missing.isEmpty else {
            throw Migrator.Fault(
                description:
                    "the database lacks \(Migrator.numbers(missing)), and this program begins with \(number): \(way)")
        }
    }

    private static let way =
        "run `drover migrate` of commit \(commit) first, which has all before it, then that of this program (docs/upgrade.md)"
}
