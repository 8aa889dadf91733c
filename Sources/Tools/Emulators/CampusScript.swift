internal import Basics
internal import Fleet

/// A day on a campus as its riders, ride drivers and the weather will have it, whatever is decided: a function of a
/// seed.
struct CampusScript: Sendable {
    enum Event: Sendable {
        case shiftBegins(Int)
        case shiftEnds(Int)
        case breakdown(Int)
        /// In thousandths.
        case surge(Int64)
        case request(Int)
        case cancel(Int)
        /// The driver who has it refuses.
        case override(Int)
    }

    struct Vehicle: Sendable {
        let id, driver, name: String
        let capacity: Int
        let place: Position
    }

    struct Request: Sendable {
        let id: String
        let rider: Int
        let passengers: Int
        let from, to: Int
        /// The rider's phone is out of power: no sign of life follows.
        let isSilent: Bool
    }

    static let riders = [
        "Amal Haddad", "Ben Carter", "Chloe Martin", "Dinesh Rao", "Elif Kaya", "Femi Adeyemi", "Grace Kim",
        "Hugo Alvarez",
        "Ines Costa", "Jonas Weber", "Keiko Sato", "Liam Murphy", "Mina Park", "Noah Cohen", "Olga Petrova",
        "Priya Nair",
        "Quinn Baker", "Rosa Jimenez", "Sam Okoro", "Tara Singh", "Uma Patel", "Victor Lindqvist", "Wen Zhao",
        "Yara Mansour",
    ]
    static let vehicles = [
        Vehicle(
            id: "shuttle-1", driver: "d-101", name: "Maria Lopez", capacity: 6, place: at(388_999_000, -770_474_000)),
        Vehicle(
            id: "shuttle-2", driver: "d-102", name: "Peter Novak", capacity: 6, place: at(388_982_000, -770_490_000)),
        Vehicle(id: "van-3", driver: "d-103", name: "Aisha Bello", capacity: 4, place: at(389_010_000, -770_507_000)),
        Vehicle(id: "van-4", driver: "d-104", name: "Tom Fischer", capacity: 4, place: at(388_989_000, -770_455_000)),
        Vehicle(id: "van-5", driver: "d-105", name: "Lucia Romano", capacity: 4, place: at(388_992_000, -770_484_000)),
    ]
    /// Near buildings of Foggy Bottom, Washington, by eye; the last four lie off the campus, within its reach.
    static let places: [(name: String, place: Position)] = [
        ("Library", at(388_992_000, -770_484_000)), ("Student centre", at(388_999_000, -770_474_000)),
        ("Auditorium", at(388_993_000, -770_469_000)), ("Sports hall", at(388_982_000, -770_490_000)),
        ("Law school", at(388_989_000, -770_455_000)), ("Hospital", at(389_010_000, -770_507_000)),
        ("Engineering", at(388_997_000, -770_490_000)), ("Residence hall, south", at(388_975_000, -770_502_000)),
        ("Metro, west", at(389_013_000, -770_400_000)), ("Concert hall by the river", at(388_957_000, -770_558_000)),
        ("Residence hall, north", at(389_050_000, -770_510_000)), ("Supermarket", at(389_062_000, -770_465_000)),
    ]
    static let boundary = [
        at(389_026_000, -770_514_000), at(389_006_000, -770_446_000), at(388_960_000, -770_446_000),
        at(388_960_000, -770_514_000),
    ]

    private(set) var requests: [Request] = []
    /// In order of time, in milliseconds from the day's begin.
    private(set) var events: [(atMs: Int64, event: Event)] = []

    private static func at(_ latitude: Int32, _ longitude: Int32) -> Position {
        Position(latitude: latitude, longitude: longitude)
    }

    init(seed: UInt64) {
        var chance = CampusChance(seed: seed)
        for vehicle in CampusScript.vehicles.indices { add(Int64(vehicle) * 30, .shiftBegins(vehicle)) }
        // Four hours, the second of them in the rain: more want to ride, and roads are slower.
        add(3_600, .surge(1_400))
        add(7_200, .surge(1_000))
        var second: Int64 = 240
        while second < 4 * 3_600 {
            let isRain = (3_600..<7_200).contains(second)
            addRequest(second, &chance)
            second += 120 + Int64(chance.below(isRain ? 160 : 500))
        }
        add(6_000, .breakdown(2))
        add(9_600, .shiftBegins(2))
        add(10_800, .shiftEnds(4))
        events.sort { $0.atMs < $1.atMs }
    }

    private mutating func add(_ second: Int64, _ event: Event) { events.append((second * 1_000, event)) }

    private mutating func addRequest(_ second: Int64, _ chance: inout CampusChance) {
        let number = requests.count
        let onCampus = CampusScript.places.count - 4
        let end = chance.below(onCampus)
        var other = chance.below(CampusScript.places.count)
        if other == end { other = (end + 1) % onCampus }
        let isOut = chance.below(2) == 0
        let digits = String(number + 1)
        requests.append(
            Request(
                id: "r-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits,
                rider: number % CampusScript.riders.count, passengers: [1, 1, 1, 1, 2, 2, 3][chance.below(7)],
                from: isOut ? end : other, to: isOut ? other : end, isSilent: chance.below(25) == 0))
        add(second, .request(number))
        if number % 8 == 3 { add(second + 30 + Int64(chance.below(60)), .cancel(number)) }
        if number % 11 == 5 { add(second + 15, .override(number)) }
    }
}

/// Chance with integer odds.
struct CampusChance: Sendable {
    private var chance: SplitMix64
    init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    mutating func below(_ bound: Int) -> Int { Int(chance.next() % UInt64(bound)) }
}
