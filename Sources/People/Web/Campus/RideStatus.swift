internal import Codecs
internal import Fleet
internal import Formats
internal import Postgres
internal import Storage

/// The state of a ride or an itinerary, for its person.
struct RideStatus {
    /// One line.
    let json: String
    /// True when nothing more will come.
    let isOver: Bool
    /// The person's last sign of life.
    let signMs: Int64

    /// Announces news: dispatchers' pages fetch it with their own rights.
    static func campus(_ offset: Int64) -> String { JSONValue.object([("offset", .integer(offset))]).rendered() }

    /// A ride that is over has none.
    static func read(
        _ subjects: Set<RideStreams.Subject>, on connection: Connection
    ) throws -> [RideStreams.Subject: RideStatus] {
        let rides = subjects.filter { $0.what == .ride }
        let itineraries = subjects.filter { $0.what == .itinerary }
        let campuses = subjects.filter { $0.what == .campus }
        var told: [RideStreams.Subject: RideStatus] = [:]
        if !rides.isEmpty {
            let found = try RideQueries.rides(rides.map(\.key), on: connection)
            for subject in rides {
                guard let ride = found[subject.key], ride.pickup.rider == subject.person else { continue }
                told[subject] = RideStatus(
                    json: RideDocument.ride(ride, campus: subject.key.campus).rendered(), isOver: !ride.isOutstanding,
                    signMs: ride.signMs)
            }
        }
        if !itineraries.isEmpty {
            let found = try RideQueries.vehicles(itineraries.map(\.key), on: connection)
            let vehicles = itineraries.compactMap { subject in found[subject.key].map { (subject, $0) } }
                .filter { subject, vehicle in subject.person == vehicle.driver }
            let stops = try ItineraryStops.read(
                vehicles.map { ($0.0.key.campus, $0.1) }, on: connection)
            for (subject, vehicle) in vehicles {
                let document = RideDocument.itinerary(vehicle, stops, campus: subject.key.campus)
                told[subject] = RideStatus(
                    json: document.rendered(), isOver: vehicle.state == .out, signMs: vehicle.signMs)
            }
        }
        if !campuses.isEmpty {
            let offsets = try RideQueries.offsets(Set(campuses.map(\.key.campus)), on: connection)
            for subject in campuses {
                guard let offset = offsets[subject.key.campus] else { continue }
                told[subject] = RideStatus(json: campus(offset), isOver: false, signMs: 0)
            }
        }
        return told
    }
}

/// The rides and riders of vehicles' stops, read together.
struct ItineraryStops {
    let rides: [RideQueries.Key: RideNow]
    let riders: [RideQueries.Key: RideRecord.Person]

    static func read(_ vehicles: [(campus: String, VehicleNow)], on connection: Connection) throws -> ItineraryStops {
        let keys = vehicles.flatMap { campus, vehicle in
            Set(vehicle.stops.map { RideQueries.Key(campus, String($0.dropLast(2))) })
        }
        guard !keys.isEmpty else { return ItineraryStops(rides: [:], riders: [:]) }
        return ItineraryStops(
            rides: try RideQueries.rides(keys, on: connection), riders: try RideQueries.riders(keys, on: connection))
    }
}
