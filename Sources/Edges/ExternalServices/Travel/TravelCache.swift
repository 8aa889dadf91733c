internal import Codecs
internal import Crypto
internal import Fleet
internal import Storage

/// Ways that a service told, by rounded places and hour of the week.
struct TravelCache {
    let source: String
    let database: SharedDatabase
    let keptMs: Int64

    /// The known part of a table, by place, row by row.
    func read(
        _ sources: [Position], _ destinations: [Position], _ weekHour: Int, _ nowMs: Int64
    ) throws(ServiceError) -> [(index: Int, leg: OSRM.Leg)] {
        let pairs = sources.flatMap { source in destinations.map { (from: source, to: $0) } }
        return try database.run("travel") {
            try TravelStore.legs(of: pairs, from: source, weekHour: weekHour, nowMs: nowMs, on: $0)
        }
    }

    func write(
        _ legs: [OSRM.Leg?], _ sources: [Position], _ destinations: [Position], _ weekHour: Int, _ nowMs: Int64
    ) throws(ServiceError) {
        var rows: [(pair: TravelStore.Pair, leg: OSRM.Leg)] = []
        for (index, leg) in legs.enumerated() {
            guard let leg else { continue }
            let pair = (from: sources[index / destinations.count], to: destinations[index % destinations.count])
            rows.append((pair, leg))
        }
        // In one order everywhere, or two processes would wait for each other.
        rows.sort { key($0.pair).lexicographicallyPrecedes(key($1.pair)) }
        guard !rows.isEmpty else { return }
        try database.run("travel") {
            try TravelStore.keep(
                rows, from: source, weekHour: weekHour, untilMs: nowMs + keptMs, nowMs: nowMs, on: $0)
        }
    }

    private func key(_ pair: TravelStore.Pair) -> [Int32] {
        [pair.from.latitude, pair.from.longitude, pair.to.latitude, pair.to.longitude]
    }

    func line(_ stops: [Position], _ nowMs: Int64) throws(ServiceError) -> OSRM.Line? {
        try database.run("travel") {
            try TravelStore.line(through: digest(stops), from: source, nowMs: nowMs, on: $0)
        }
    }

    func write(_ line: OSRM.Line, _ stops: [Position], _ nowMs: Int64) throws(ServiceError) {
        try database.run("travel") {
            try TravelStore.keep(
                line, through: digest(stops), from: source, untilMs: nowMs + keptMs, nowMs: nowMs, on: $0)
        }
    }

    private func digest(_ stops: [Position]) -> [UInt8] {
        Secrets.digest(Array(stops.map(\.text).joined(separator: ";").utf8))
    }
}
