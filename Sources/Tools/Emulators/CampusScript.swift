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
        "Aino Lehtinen", "Ben Carter", "Chloe Martin", "Dinesh Rao", "Elif Kaya", "Femi Adeyemi", "Grace Kim",
        "Hugo Alvarez",
        "Ines Costa", "Jonas Weber", "Keiko Sato", "Liam Murphy", "Mina Park", "Noah Cohen", "Olga Petrova",
        "Priya Nair",
        "Quinn Baker", "Rosa Jimenez", "Sam Okoro", "Tara Singh", "Uma Patel", "Victor Lindqvist", "Wen Zhao",
        "Yara Mansour",
    ]
    static let vehicles = [
        Vehicle(id: "shuttle-1", driver: "d-101", name: "Timo Laine", capacity: 6, place: at(601_692_675, 249_510_527)),
        Vehicle(id: "shuttle-2", driver: "d-102", name: "Nea Koski", capacity: 6, place: at(601_709_067, 249_475_676)),
        Vehicle(id: "van-3", driver: "d-103", name: "Eero Aalto", capacity: 4, place: at(601_755_419, 249_510_986)),
        Vehicle(id: "van-4", driver: "d-104", name: "Ida Salmi", capacity: 4, place: at(601_714_911, 249_450_807)),
        Vehicle(id: "van-5", driver: "d-105", name: "Vilma Peltola", capacity: 4, place: at(601_711_765, 249_426_903)),
    ]
    /// On streets near places of the University of Helsinki (Deploy/sample/streets.json); the last four lie off the campus, within its reach.
    static let places: [(name: String, place: Position)] = [
        ("Main building", at(601_692_675, 249_510_527)),
        ("Porthania", at(601_698_384, 249_477_354)),
        ("Main library", at(601_709_067, 249_475_676)),
        ("Topelia", at(601_726_436, 249_505_818)),
        ("Botanic garden", at(601_761_389, 249_458_882)),
        ("Education faculty", at(601_755_419, 249_510_986)),
        ("Liisankatu 21", at(601_740_559, 249_517_874)),
        ("University metro", at(601_714_911, 249_450_807)),
        ("Central station", at(601_711_765, 249_426_903)),
        ("Art school", at(601_657_307, 249_478_024)),
        ("Dormitory", at(601_668_187, 249_398_152)),
        ("Student house", at(601_693_386, 249_371_276)),
    ]
    static let boundary = [
        at(601_772_000, 249_440_000), at(601_772_000, 249_530_000), at(601_682_000, 249_530_000),
        at(601_682_000, 249_440_000),
    ]

    private let prefix: String
    private(set) var requests: [Request] = []
    /// In order of time, in milliseconds from the day's begin.
    private(set) var events: [(atMs: Int64, event: Event)] = []

    private static func at(_ latitude: Int32, _ longitude: Int32) -> Position {
        Position(latitude: latitude, longitude: longitude)
    }

    /// - Parameter prefix: of the requests' ids: those of two days are not mistaken for each other.
    init(seed: UInt64, prefix: String) {
        self.prefix = prefix
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
                id: prefix + String(repeating: "0", count: max(0, 3 - digits.count)) + digits,
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
