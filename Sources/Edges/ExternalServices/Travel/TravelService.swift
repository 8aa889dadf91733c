internal import Basics
internal import Codecs
package import Fleet
internal import Foundation
internal import Telemetry

package struct TravelSettings: Sendable {
    /// Nil: always by distance.
    package var service: ServiceSettings?
    /// The service's profile, such as `driving`.
    package var profile = "driving"
    /// The most places of one request; OSRM's own default is 100.
    package var coordinatesMax = 100
    /// Decimals of a degree that leave the machine and that are kept; 4 are about 11 m.
    package var decimals = 4
    package var keptMs: Int64 = 7 * UTC.msPerDay
    package var speeds: TravelSpeeds
    /// The zone whose hours `speeds` means.
    package var zone: TimeZoneName

    package init(speeds: TravelSpeeds, zone: TimeZoneName) { (self.speeds, self.zone) = (speeds, zone) }
}

/// A zone of the time zone database.
package struct TimeZoneName: Sendable {
    private let zone: TimeZone

    package init?(_ name: String) {
        // Names of the database and older ones for the same: Asia/Calcutta and Asia/Kolkata.
        guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    /// East of Greenwich, at that time.
    func offsetMs(_ ts: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(ts) / 1_000))) * 1_000
    }

    /// 0 is Monday, 0 to 1 o'clock.
    package func weekHour(_ ts: Int64) -> Int {
        let local = ts + offsetMs(ts)
        let days = UTC.day(of: local) / UTC.msPerDay
        // 1970 began on a Thursday.
        return Int(((days + 3) % 7 + 7) % 7 * 24 + (local - UTC.day(of: local)) / 3_600_000)
    }
}

package enum TravelMethod: String, Sendable {
    case service, cache
    /// The straight line, with detour and speed of the hour.
    case distance
}

package struct TravelLeg: Equatable, Sendable {
    package let durationMs: Int64
    package let distanceM: Int64
    package let method: TravelMethod
}

/// Ways from each source to each destination.
package struct TravelTable: Sendable {
    /// Row by row, one row a source.
    package var legs: [TravelLeg]
    /// Why some are by distance; nil where the service just knows no way, or is not set.
    package var fault: ServiceError?
}

/// A way for a map.
package struct TravelLine: Sendable {
    /// Along the road; by distance: the places themselves, to be drawn dashed.
    package var points: [Position]
    package var leg: TravelLeg
    package var fault: ServiceError?
}

/// Travel times: from the table, else from the service, else from distance and speed; never without an answer. For one
/// thread.
package final class TravelService {
    /// Ways of one question.
    package static let legsMax = 40_000
    package static let stopsMax = 50

    private let settings: TravelSettings
    private let service: ExternalService?
    private let cache: TravelCache?

    package init(_ settings: TravelSettings, database: SharedDatabase) throws {
        self.settings = settings
        service = try settings.service.map { try ExternalService("travel", $0, database) }
        cache = settings.service.map {
            TravelCache(
                source: $0.address.name + "/" + settings.profile, database: database, keptMs: settings.keptMs)
        }
    }

    package var limits: CallLimits? { settings.service?.limits }
    package func left() throws(ServiceError) -> [CallLimits.Period: Int] {
        guard let service else { return [:] }
        return try service.left()
    }

    /// - Parameters:
    ///   - atMs: when they set out.
    ///   - timeoutMs: for all requests together; what has no answer by then is by distance.
    ///   - isFresh: asks whatever is kept.
    /// Precondition: at most `legsMax` pairs.
    package func table(
        from sources: [Position], to destinations: [Position], atMs: Int64, nowMs: Int64, timeoutMs: Int? = nil,
        fresh isFresh: Bool = false
    ) -> TravelTable {
        precondition(sources.count * destinations.count <= TravelService.legsMax)
        let weekHour = settings.zone.weekHour(atMs)
        let (froms, tos) = (Rounded(sources, settings.decimals), Rounded(destinations, settings.decimals))
        var known = [(leg: OSRM.Leg, method: TravelMethod)?](
            repeating: nil, count: froms.places.count * tos.places.count)
        var fault: ServiceError?
        if let service, let cache {
            do throws(ServiceError) {
                if !isFresh {
                    for (index, leg) in try cache.read(froms.places, tos.places, weekHour, nowMs) {
                        known[index] = (leg, .cache)
                    }
                }
                try ask(service, cache, froms.places, tos.places, weekHour, nowMs, timeoutMs, &known)
            } catch { fault = error }
        }
        var legs: [TravelLeg] = []
        for (row, source) in sources.enumerated() {
            for (column, destination) in destinations.enumerated() {
                if let known = known[froms.index[row] * tos.places.count + tos.index[column]] {
                    legs.append(
                        TravelLeg(
                            durationMs: known.leg.durationMs, distanceM: known.leg.distanceM, method: known.method))
                } else {
                    legs.append(byDistance(source, destination, weekHour))
                }
            }
        }
        return TravelTable(legs: legs, fault: fault)
    }

    private func byDistance(_ from: Position, _ to: Position, _ weekHour: Int) -> TravelLeg {
        let leg = settings.speeds.leg(from: from, to: to, weekHour: weekHour)
        return TravelLeg(durationMs: leg.durationMs, distanceM: leg.distanceM, method: .distance)
    }

    private func ask(
        _ service: ExternalService, _ cache: TravelCache, _ sources: [Position], _ destinations: [Position],
        _ weekHour: Int, _ nowMs: Int64, _ timeoutMs: Int?,
        _ known: inout [(leg: OSRM.Leg, method: TravelMethod)?]
    ) throws(ServiceError) {
        // Two places that are one after rounding are left to the distance.
        let missing = known.indices.map {
            known[$0] == nil && sources[$0 / destinations.count] != destinations[$0 % destinations.count]
        }
        let blocks = TravelBlocks(
            missing: missing, sources: sources.count, destinations: destinations.count,
            coordinatesMax: settings.coordinatesMax
        ).blocks
        let deadlineMs = Clock.steadyMs() + Int64(timeoutMs ?? service.settings.timeoutMs)
        for block in blocks {
            let leftMs = Int(deadlineMs - Clock.steadyMs())
            guard leftMs > 0 else { throw ServiceError("travel", .unreachable, "too slow for all ways in time") }
            let (a, b) = (block.sources.map { sources[$0] }, block.destinations.map { destinations[$0] })
            let legs = try service.ask(tablePath(a, b), timeoutMs: leftMs) { body, dropped in
                let table = try OSRM.table(body, sources: a.count, destinations: b.count)
                dropped += table.impossible
                return table.legs
            }
            for (index, leg) in legs.enumerated() {
                guard let leg else { continue }
                let place =
                    block.sources[index / b.count] * destinations.count + block.destinations[index % b.count]
                if missing[place] { known[place] = (leg, .service) }
            }
            // Failing to cache them costs a call later.
            try? cache.write(legs, a, b, weekHour, nowMs)
        }
    }

    private func coordinates(_ places: [Position]) -> String {
        places.map {
            Decimal.text(Int64($0.longitude), decimals: 7) + "," + Decimal.text(Int64($0.latitude), decimals: 7)
        }.joined(separator: ";")
    }

    private func tablePath(_ sources: [Position], _ destinations: [Position]) -> String {
        let all = sources.count + destinations.count
        return "/table/v1/\(PercentEncoding.text(settings.profile))/\(coordinates(sources + destinations))"
            + "?sources=" + (0..<sources.count).map(String.init).joined(separator: ";")
            + "&destinations=" + (sources.count..<all).map(String.init).joined(separator: ";")
            + "&annotations=duration,distance"
    }

    /// - Parameter stops: 2 to `stopsMax` places, in order.
    package func line(
        through stops: [Position], atMs: Int64, nowMs: Int64, timeoutMs: Int? = nil
    ) -> TravelLine {
        precondition((2...TravelService.stopsMax).contains(stops.count))
        let rounded = stops.map { $0.rounded(decimals: settings.decimals) }
        var fault: ServiceError?
        if let service, let cache {
            do throws(ServiceError) {
                if let line = try cache.line(rounded, nowMs) { return found(line, .cache) }
                let path =
                    "/route/v1/\(PercentEncoding.text(settings.profile))/\(coordinates(rounded))"
                    + "?overview=full&geometries=polyline"
                let line = try service.ask(path, timeoutMs: timeoutMs) { body, _ in try OSRM.line(body) }
                // Failing to cache it costs a call later.
                try? cache.write(line, rounded, nowMs)
                return found(line, .service)
            } catch { fault = error }
        }
        let weekHour = settings.zone.weekHour(atMs)
        let legs = zip(stops, stops.dropFirst()).map { byDistance($0, $1, weekHour) }
        let leg = TravelLeg(
            durationMs: legs.reduce(0) { $0 + $1.durationMs }, distanceM: legs.reduce(0) { $0 + $1.distanceM },
            method: .distance)
        return TravelLine(points: stops, leg: leg, fault: fault)
    }

    private func found(_ line: OSRM.Line, _ method: TravelMethod) -> TravelLine {
        TravelLine(
            points: line.points,
            leg: TravelLeg(durationMs: line.leg.durationMs, distanceM: line.leg.distanceM, method: method))
    }
}

/// Places that are rounded, each once, and which of them each place became.
private struct Rounded {
    var places: [Position] = []
    var index: [Int] = []

    init(_ positions: [Position], _ decimals: Int) {
        var known: [Position: Int] = [:]
        for position in positions {
            let rounded = position.rounded(decimals: decimals)
            let place = known[rounded] ?? places.count
            if place == places.count {
                known[rounded] = place
                places.append(rounded)
            }
            index.append(place)
        }
    }
}
