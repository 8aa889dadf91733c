import App
import Foundation

/// Cases of ../shared/data/dispatch, as they stand in the file: units are in the names.
struct PlanCases: Decodable {
    var cases: [Case]

    static let casesMax = 100_000

    struct Case: Decodable {
        enum Kind: String, Decodable { case tour, assign, fleet }
        var id: String
        var kind: Kind
        var weights: CaseWeights?
        var service_s: Service?
        var vehicle: Vehicle?
        var vehicles: [Vehicle]?
        var request: Open?
        var requests: [Open]?
        var matrix_s: [[Double]]?
        var speed_kmh: Double?
    }

    struct CaseWeights: Decodable {
        var travel, wait, ride, order, cancel, override, surge: Double
    }

    struct Service: Decodable { var pickup, dropoff: Double }
    struct Point: Decodable { var x_m, y_m: Double }

    struct Vehicle: Decodable {
        var id: String
        var location: Int?
        var x_m, y_m: Double?
        var capacity: Int
        var onboard: [OnBoard]?
        var open: [Open]?
    }

    struct OnBoard: Decodable {
        var request: String
        var pax, dropoff: Int
        var rank: Int64
        var p_override: Double?
        var dropoff_window: [Double]?
        /// Seconds on board so far, and the most that there may be.
        var ridden_s, ride_s_max: Double?
    }

    struct Open: Decodable {
        var request: String
        var pax: Int
        var pickup, dropoff: Int?
        var from, to: Point?
        var rank: Int64?
        var p_cancel, p_override: Double?
        var pickup_window, dropoff_window: [Double]?
        var ride_s_max: Double?
    }

    /// The cases of a file: an object with `cases`, a list, or one case alone.
    static func read(_ bytes: [UInt8]) throws -> [Case] {
        let (data, decoder) = (Data(bytes), JSONDecoder())
        do {
            let cases: [Case]
            if let file = try? decoder.decode(PlanCases.self, from: data) {
                cases = file.cases
            } else if bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") {
                cases = try decoder.decode([Case].self, from: data)
            } else if let one = try? decoder.decode(Case.self, from: data) {
                cases = [one]
            } else {
                cases = try decoder.decode(PlanCases.self, from: data).cases
            }
            guard cases.count <= casesMax else { throw Failure("holds more than \(casesMax) cases. Split it") }
            return cases
        } catch let error as DecodingError {
            throw Failure(describe(error))
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            let keys = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
            return keys.isEmpty ? "the file" : keys.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\(path(context)): has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return "\(path(context)): is of another kind than it should be"
        case .dataCorrupted(let context): return "\(path(context)): is not valid JSON, or no known value"
        @unknown default: return "cannot be read"
        }
    }
}
