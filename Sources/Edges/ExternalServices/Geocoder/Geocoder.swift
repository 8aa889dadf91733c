internal import Basics
internal import Codecs
internal import Crypto
package import Fleet
internal import Storage

/// A rectangle of the globe; it may not cross the 180th meridian.
package struct Area: Equatable, Sendable {
    package let southWest: Position
    package let northEast: Position

    /// `SOUTH,WEST,NORTH,EAST` in degrees.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, let southWest = Position(text: parts[0] + "," + parts[1]),
            let northEast = Position(text: parts[2] + "," + parts[3]), southWest.latitude < northEast.latitude,
            southWest.longitude < northEast.longitude
        else { return nil }
        self.southWest = southWest
        self.northEast = northEast
    }

    package func contains(_ place: Position) -> Bool {
        (southWest.latitude...northEast.latitude).contains(place.latitude)
            && (southWest.longitude...northEast.longitude).contains(place.longitude)
    }
}

package struct GeocoderSettings: Sendable {
    package var service: ServiceSettings
    /// The area to search; nil: everywhere.
    package var area: Area?
    /// Decimals of a degree, for requests from a place to an address.
    package var decimals = 4
    package var keptMs: Int64 = 30 * UTC.msPerDay
    package init(service: ServiceSettings) { self.service = service }
}

/// A place with its address, as far as both are known.
package struct GeocodedPlace: Equatable, Sendable {
    package enum Method: String, Sendable { case given, service, cache }
    package let position: Position
    package let label: String?
    package let method: Method

    package init(position: Position, label: String?, method: Method) {
        self.position = position
        self.label = label
        self.method = method
    }
}

/// Addresses to places and back: from the table, else from the service. Coordinates that are given decide. For one thread.
package final class Geocoder {
    package static let addressBytesMax = 300
    /// A missing place is believed for a day: maps grow.
    private static let nothingMs: Int64 = UTC.msPerDay

    private let settings: GeocoderSettings
    private let database: SharedDatabase
    private let service: ExternalService
    private var source: String { settings.service.address.name }

    package init(_ settings: GeocoderSettings, database: SharedDatabase) throws {
        self.settings = settings
        self.database = database
        service = try ExternalService("geocoder", settings.service, database)
    }

    package var limits: CallLimits { settings.service.limits }
    package func left() throws(ServiceError) -> [CallLimits.Period: Int] { try service.left() }

    /// Finds a rider's place. With coordinates no service is asked: two geocoders cannot disagree, and it works when they are down. Nil:
    /// there is no such place.
    package func place(
        address: String?, position: Position?, nowMs: Int64, timeoutMs: Int? = nil
    ) throws(ServiceError) -> GeocodedPlace? {
        if let position { return GeocodedPlace(position: position, label: address, method: .given) }
        guard let address else { return nil }
        return try search(address, nowMs: nowMs, timeoutMs: timeoutMs)
    }

    package func search(
        _ address: String, nowMs: Int64, timeoutMs: Int? = nil
    ) throws(ServiceError) -> GeocodedPlace? {
        let words = address.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !words.isEmpty, words.utf8.count <= Geocoder.addressBytesMax,
            words.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw ServiceError(
                "geocoder", .noAnswer, "an address has 1 to \(Geocoder.addressBytesMax) bytes of text")
        }
        let area = settings.area
        var path = "/search?q=\(PercentEncoding.text(words))&format=jsonv2&limit=5"
        if let area {
            let box = [
                area.southWest.longitude, area.northEast.latitude, area.northEast.longitude, area.southWest.latitude,
            ]
            path += "&viewbox=" + box.map { Decimal.text(Int64($0), decimals: 7) }.joined(separator: ",") + "&bounded=1"
        }
        let question = words.lowercased() + "\n" + (area.map { $0.southWest.text + "," + $0.northEast.text } ?? "")
        return try answer(question, isReverse: false, path, nowMs, timeoutMs) { body in
            // A service that does not know `bounded` sends places from anywhere.
            try Nominatim.places(body).first { area?.contains($0.position) ?? true }
        }
    }

    /// - Parameter isFresh: asks whatever is kept.
    package func reverse(
        _ position: Position, nowMs: Int64, timeoutMs: Int? = nil, fresh isFresh: Bool = false
    ) throws(ServiceError) -> GeocodedPlace? {
        let rounded = position.rounded(decimals: settings.decimals)
        let path =
            "/reverse?lat=\(Decimal.text(Int64(rounded.latitude), decimals: 7))"
            + "&lon=\(Decimal.text(Int64(rounded.longitude), decimals: 7))&format=jsonv2&zoom=18"
        let found = try answer(
            rounded.text, isReverse: true, path, nowMs, timeoutMs, fresh: isFresh, Nominatim.reverse)
        // The coordinates that were given stay what they are.
        return found.map { GeocodedPlace(position: position, label: $0.label, method: $0.method) }
    }

    private func answer(
        _ question: String, isReverse: Bool, _ path: String, _ nowMs: Int64, _ timeoutMs: Int?,
        fresh isFresh: Bool = false, _ read: ([UInt8]) throws -> Nominatim.Place?
    ) throws(ServiceError) -> GeocodedPlace? {
        let question = GeocodeStore.Question(
            source: source, isReverse: isReverse, digest: Secrets.digest(Array(question.utf8)))
        let kept =
            isFresh ? nil : try database.run("geocoder") { try GeocodeStore.known(question, nowMs: nowMs, on: $0) }
        if let kept {
            return kept.map { GeocodedPlace(position: $0.position, label: $0.label, method: .cache) }
        }
        let place = try service.ask(path, timeoutMs: timeoutMs) { body, _ in try read(body) }
        let untilMs = nowMs + min(settings.keptMs, place == nil ? Geocoder.nothingMs : .max)
        // Failing to cache it costs a call later.
        try? database.run("geocoder") {
            try GeocodeStore.keep(place, of: question, untilMs: untilMs, nowMs: nowMs, on: $0)
        }
        return place.map { GeocodedPlace(position: $0.position, label: $0.label, method: .service) }
    }
}
