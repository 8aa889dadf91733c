internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Pipeline
internal import Routing

/// Some hours of a campus, read from the log: its state at their beginning, the records from then on, and their outcome. Records are added
/// in the order of the log, from its beginning; decisions are those of the log.
package struct CampusDay: Sendable {
    /// An event that a backtest repeats, at the time of the record.
    enum Event: Sendable {
        case pickup(RideRecord.Pickup)
        /// Taken back by the rider, or silent for too long.
        case cancel(request: String)
        case override(request: String)
        case entered(RideRecord.InService)
        /// Out of service, by its driver or for silence.
        case left(vehicle: String)
        case brokeDown(vehicle: String)
        /// The vehicle was not heard of for too long; it was heard of again.
        case fellSilent(vehicle: String)
        case heardOf(vehicle: String)
        case settings(CampusSettings)
        case surge(Double)
        case speed(secondsPerMetre: Double)
        case timePassed
    }

    package let campus: String
    package let spanMs: Range<Int64>
    /// The state at the last record before the span; nil: the campus was published later.
    package private(set) var start: CampusDispatcher?
    private(set) var events: [(offset: Int64, atMs: Int64, event: Event)] = []
    /// Rides that were asked for within the span, as they stand after the last record.
    package private(set) var rides: [String: RideRow] = [:]
    /// Seconds by which told arrivals moved by decisions, and how often another vehicle was told, within the span.
    package private(set) var movedArrivalS = 0.0
    package private(set) var otherVehicles = 0
    package private(set) var overrides = 0
    /// Time between positions of a vehicle that is under way; a longer silence than a minute is none.
    package private(set) var driveS = 0.0

    private var partition: CampusPartition
    private var states: [String: RideVehicleState] = [:]
    private var silent: Set<String> = []
    private var lastPlaces: [String: (place: Position, atMs: Int64)] = [:]

    private static let movedM = 10.0
    private static let gapMsMax: Int64 = 60_000

    /// - Parameter decidesFrom: the log's end; records whose decisions are not there yet are decided here.
    package init(campus: String, spanMs: Range<Int64>, decidesFrom: Int64) {
        (self.campus, self.spanMs) = (campus, spanMs)
        partition = CampusPartition(clockMs: .min, decidesFrom: decidesFrom)
    }

    /// A record of this campus; others are ignored. Records that the worker refuses are refused here, too.
    package mutating func accept(_ record: RideRecord, offset: Int64, atMs: Int64) {
        guard record.campus == campus else { return }
        let dispatcher = partition.dispatchers[campus]
        do { try partition.accept(record, offset: offset, atMs: atMs) } catch { return }
        let known = dispatcher ?? partition.dispatchers[campus]
        guard let atMs = known.map({ $0.time(of: record, pushedMs: atMs) }) ?? atMs else { return }
        if goesByRecordTime { events.append((offset, atMs, .timePassed)) }
        if spanMs.contains(atMs), case .position(let vehicle, let place, _) = record.kind {
            drove(vehicle, place, atMs)
        }
        if let event = event(record.kind) { events.append((offset, atMs, event)) }
        settle(offset, atMs)
    }

    package mutating func tick(_ ts: Int64, offset: Int64) {
        partition.tick(ts, offset: offset)
        guard !goesByRecordTime else { return }
        events.append((offset, ts, .timePassed))
        settle(offset, ts)
    }

    package mutating func setBack(_ ts: Int64, offset: Int64) { partition.setBack(ts, offset: offset) }

    private var goesByRecordTime: Bool { partition.dispatchers[campus]?.settings.goesByRecordTime ?? false }

    private func event(_ kind: RideRecord.Kind) -> Event? {
        switch kind {
        case .campus(let settings): .settings(settings)
        case .pickup(let pickup): .pickup(pickup)
        case .cancel(let request): .cancel(request: request)
        case .override(let request): .override(request: request)
        case .inService(let entered): .entered(entered)
        case .outOfService(let vehicle): .left(vehicle: vehicle)
        case .breakdown(let vehicle): .brokeDown(vehicle: vehicle)
        // Surge and speed are those of the day; vehicles drive as planned, report their places, and ways go by distance. An ended or
        // handed-over ride belonged to a vehicle that was not as planned.
        case .surge, .hour, .travel, .position, .done, .riderSign, .vehicleSign, .profile, .clock,
            .decision, .end, .handOver:
            nil
        }
    }

    private mutating func settle(_ offset: Int64, _ atMs: Int64) {
        let changes = partition.drainChanges()
        guard let dispatcher = partition.dispatchers[campus] else { return }
        if let before = start {
            note(changes, offset, max(atMs, spanMs.lowerBound))
            let (was, now) = (lastDispatcher ?? before, dispatcher)
            if now.campus.rules.weights.surge != was.campus.rules.weights.surge {
                events.append((offset, atMs, .surge(now.campus.rules.weights.surge)))
            }
            if now.campus.travel.secondsPerMetre != was.campus.travel.secondsPerMetre {
                events.append((offset, atMs, .speed(secondsPerMetre: now.campus.travel.secondsPerMetre)))
            }
        }
        lastDispatcher = dispatcher
        if dispatcher.campus.nowMs < spanMs.lowerBound || start == nil {
            start = dispatcher
            silent = Set(dispatcher.vehicles.values.filter(\.isSilent).map(\.vehicle))
            events.removeAll { $0.offset <= dispatcher.offset }
        }
    }

    private var lastDispatcher: CampusDispatcher?

    private mutating func note(_ changes: CampusPartition.Changes, _ offset: Int64, _ atMs: Int64) {
        for ride in changes.rides.values where spanMs.contains(ride.requestedMs) {
            rides[ride.pickup.request] = ride
        }
        for (key, ride) in changes.rides.sorted(by: { $0.key < $1.key })
        where ride.state == .cancelled && ride.reason != nil {
            events.append((offset, ride.endedMs ?? atMs, .cancel(request: key.id)))
        }
        for vehicle in changes.vehicles.values.sorted(by: { $0.vehicle < $1.vehicle }) {
            // A driver who left without saying so had gone silent.
            if states[vehicle.vehicle] == .inService, vehicle.state != .inService {
                events.append((offset, atMs, .left(vehicle: vehicle.vehicle)))
            }
            states[vehicle.vehicle] = vehicle.state
            if vehicle.isSilent, silent.insert(vehicle.vehicle).inserted {
                events.append((offset, atMs, .fellSilent(vehicle: vehicle.vehicle)))
            } else if !vehicle.isSilent, silent.remove(vehicle.vehicle) != nil {
                events.append((offset, atMs, .heardOf(vehicle: vehicle.vehicle)))
            }
        }
        for decision in changes.decisions where spanMs.contains(decision.atMs) { count(decision.why) }
    }

    private mutating func count(_ why: String) {
        guard let told = try? JSONValue(Array(why.utf8)) else { return }
        for step in told["steps"]?.items ?? [] {
            if step["event"]?.text == "override" { overrides += 1 }
            for moved in step["moved"]?.items ?? [] {
                if moved["vehicle"]?.text != moved["vehicle_before"]?.text { otherVehicles += 1 }
                guard let before = moved["pickup_before"]?.text.flatMap({ UTC.parse($0) }),
                    let after = moved["pickup"]?.text.flatMap({ UTC.parse($0) })
                else { continue }
                movedArrivalS += Double((after - before).magnitude) / 1_000
            }
        }
    }

    private mutating func drove(_ vehicle: String, _ place: Position, _ atMs: Int64) {
        if let last = lastPlaces[vehicle], (0...CampusDay.gapMsMax).contains(atMs - last.atMs),
            last.place.metres(to: place) > CampusDay.movedM
        {
            driveS += Double(atMs - last.atMs) / 1_000
        }
        lastPlaces[vehicle] = (place, atMs)
    }
}
