internal import Foundation
internal import Routing

/// A stream of dispatch events, one JSON object a line, as ../shared/data/dispatch/README.md describes it.
enum DispatchStreamFile {
    private struct Point: Decodable {
        var x_m, y_m: Double
    }

    private struct Line: Decodable {
        var t: Double
        var type: String
        var vehicle: String?
        var request: String?
        var capacity: Int?
        var x_m, y_m: Double?
        var pax: Int?
        var from, to: Point?
        var p_cancel, p_override: Double?
    }

    static let linesMax = 1_000_000

    static func read(_ path: String, _ bytes: [UInt8]) throws -> [SeededStream.Timed] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard lines.count <= linesMax else { throw BenchFailure("\(path): has more than \(linesMax) lines. Split it") }
        var events: [SeededStream.Timed] = []
        let decoder = JSONDecoder()
        for (number, bytes) in lines.enumerated() {
            guard let line = try? decoder.decode(Line.self, from: Data(bytes)), line.t.isFinite,
                line.t >= events.last?.atS ?? 0
            else { throw BenchFailure("\(path): line \(number + 1): is not an event in order of time") }
            // The baselines ignore factors of weather and time of day, and so does this comparison.
            if line.type == "surge" { continue }
            guard let event = event(line) else {
                throw BenchFailure("\(path): line \(number + 1): \(line.type): unknown, or a field is missing")
            }
            events.append(SeededStream.Timed(atS: line.t, event: event))
        }
        return events
    }

    private static func event(_ line: Line) -> DispatchEvent? {
        switch line.type {
        case "in_service":
            guard let vehicle = line.vehicle, let capacity = line.capacity, let x = line.x_m, let y = line.y_m else {
                return nil
            }
            return .entered(vehicle: vehicle, capacity: capacity, place: CampusPoint(xM: x, yM: y))
        case "pickup_request":
            guard let id = line.request, let passengers = line.pax, let from = line.from, let to = line.to else {
                return nil
            }
            var request = RideRequest(
                id: id, passengers: passengers, pickup: CampusPoint(xM: from.x_m, yM: from.y_m),
                dropoff: CampusPoint(xM: to.x_m, yM: to.y_m))
            request.cancelLikelihood = line.p_cancel ?? 0
            request.overrideLikelihood = line.p_override ?? 0
            request.dropoffOverrideLikelihood = request.overrideLikelihood
            return .requested(request)
        case "cancel": return line.request.map { .cancelled(request: $0) }
        case "override": return line.request.map { .overridden(request: $0) }
        // Riders on board become new pickups where it stands.
        case "out_of_service": return line.vehicle.map { .brokeDown(vehicle: $0) }
        default: return nil
        }
    }
}
