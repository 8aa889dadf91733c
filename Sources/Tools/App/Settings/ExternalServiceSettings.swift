internal import Basics
package import ExternalServices
package import Settings
internal import Telemetry
internal import Web

/// Services of others, wired from settings; nil where one is not set.
extension Settings {
    package func outsideDatabase() -> SharedDatabase {
        SharedDatabase(conninfo: gatewayConninfo)
    }

    /// Nil: no service is set.
    func weatherCache() throws -> WeatherCache? {
        let name = text("weather.provider")
        guard !name.isEmpty else { return nil }
        guard let provider = WeatherProvider(rawValue: name) else {
            let names = WeatherProvider.allCases.map(\.rawValue).joined(separator: " or ")
            throw Failure("weather.provider: is `\(name)`, must be \(names), or empty")
        }
        return WeatherCache(provider, cellMilliDeg: Int32(thousandths("weather.cell_deg")))
    }

    package func weather() throws -> WeatherSettings? {
        guard let cache = try weatherCache() else { return nil }
        let provider = cache.provider
        let key = try secret("weather.api_key")
        if provider == .openWeatherMap, key.isEmpty {
            throw Failure("weather.api_key_file: OpenWeatherMap wants a key: make a file with it and name it here")
        }
        let limits = text("weather.calls_max").isEmpty ? provider.freeLimits : text("weather.calls_max")
        func service(_ setting: String, _ standard: String) throws -> ServiceSettings {
            try outside(
                setting, text(setting).isEmpty ? standard : text(setting), limits: ("weather.calls_max", limits),
                caFile: "weather.ca_file", timeout: "weather.timeout_ms")
        }
        return WeatherSettings(
            cache, now: try service("weather.url", provider.addresses.now),
            past: try service("weather.history_url", provider.addresses.past), key: key)
    }

    package func travel() throws -> TravelSettings {
        let speeds: TravelSpeeds
        do throws(TravelSpeeds.Fault) {
            speeds = try TravelSpeeds(text("travel.speeds_kmh"), detourThousandths: thousandths("travel.detour"))
        } catch { throw Failure("travel.speeds_kmh: \(error)") }
        guard let zone = TimeZoneName(text("travel.zone")) else {
            throw Failure("travel.zone: `\(text("travel.zone"))` is no time zone: write one like America/New_York")
        }
        var travel = TravelSettings(speeds: speeds, zone: zone)
        travel.profile = text("travel.profile")
        guard !travel.profile.isEmpty else { throw Failure("travel.profile: is empty: OSRM's own is `driving`") }
        travel.coordinatesMax = Int(integer("travel.coordinates_max"))
        travel.decimals = Int(integer("travel.decimals"))
        travel.keptMs = integer("travel.kept_h") * 3_600_000
        guard !text("travel.url").isEmpty else { return travel }
        travel.service = try outside(
            "travel.url", text("travel.url"), limits: ("travel.calls_max", text("travel.calls_max")),
            caFile: "travel.ca_file", timeout: "travel.timeout_ms")
        // A decision does not wait for its turn: distance and speed are at hand.
        travel.service?.patienceMs = 0
        return travel
    }

    /// Measures ways for pickups that are about to be pushed.
    package func campusTravel(_ database: SharedDatabase) throws -> CampusTravel {
        try CampusTravel(travel(), database: database, waitMs: Int(integer("dispatch.measure_ms")))
    }

    /// Nil: there is no service for ways.
    func pickupMeasurer(conninfo: String) throws -> PickupMeasurer? {
        guard !text("travel.url").isEmpty else { return nil }
        return PickupMeasurer(
            try campusTravel(SharedDatabase(conninfo: conninfo)), waitMs: integer("dispatch.measure_ms"))
    }

    /// Draws itineraries on dispatchers' maps. Nil: there is no service for ways.
    func roadLines(conninfo: String) throws -> RoadLineService? {
        guard !text("travel.url").isEmpty else { return nil }
        return RoadLineService(try travel(), conninfo: conninfo, timeoutMs: Int(integer("travel.timeout_ms")))
    }

    /// Tiles of a server of others. Precondition: `map.tiles_url` is set.
    func tileProxy(log: Log) throws -> TileProxy {
        let caFile = text("map.tiles_ca_file")
        return TileProxy(
            try TileAddress(text("map.tiles_url"), key: secret("map.tiles_key"), setting: "map.tiles_url"),
            caFile: caFile.isEmpty ? nil : caFile, userAgent: try userAgent(), log: log)
    }

    package func geocoder() throws -> GeocoderSettings? {
        guard !text("geocoder.url").isEmpty else { return nil }
        var geocoder = GeocoderSettings(
            service: try outside(
                "geocoder.url", text("geocoder.url"), limits: ("geocoder.calls_max", text("geocoder.calls_max")),
                caFile: "geocoder.ca_file", timeout: "geocoder.timeout_ms"))
        if !text("geocoder.area").isEmpty {
            guard let area = Area(text("geocoder.area")) else {
                throw Failure("geocoder.area: write SOUTH,WEST,NORTH,EAST in degrees, like 38.88,-77.07,38.91,-77.03")
            }
            geocoder.area = area
        }
        geocoder.decimals = Int(integer("geocoder.decimals"))
        geocoder.keptMs = integer("geocoder.kept_days") * UTC.msPerDay
        return geocoder
    }

    private func outside(
        _ setting: String, _ address: String, limits: (setting: String, text: String), caFile: String,
        timeout: String
    ) throws -> ServiceSettings {
        let allowed: CallLimits
        do throws(CallLimits.Fault) { allowed = try CallLimits(limits.text) } catch {
            throw Failure("\(limits.setting): \(error)")
        }
        let roots = text(caFile)
        var service = ServiceSettings(
            address: try ServiceAddress(address, setting: setting), limits: allowed,
            caFile: roots.isEmpty ? nil : roots, timeoutMs: Int(integer(timeout)))
        service.breaker.failuresMax = Int(integer("outside.failures_max"))
        service.breaker.restMs = integer("outside.rest_s") * 1_000
        service.userAgent = try userAgent()
        service.metrics = MetricsRole.outside
        return service
    }

    /// The name under which we ask servers of others.
    func userAgent() throws -> String {
        let contact = text("outside.contact")
        guard contact.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure("outside.contact: must be a mail address or the address of a page")
        }
        return contact.isEmpty ? "drover" : "drover (\(contact))"
    }

    /// A secret of its setting or of the file that `…_file` names.
    /// Nil: none is set.
    package func openIDProvider() throws -> OpenIDProvider? {
        let issuer = text("oidc.issuer")
        guard !issuer.isEmpty else { return nil }
        guard !text("oidc.client_id").isEmpty, !text("web.public_url").isEmpty else {
            throw Failure("oidc.issuer needs oidc.client_id, and web.public_url to come back to: set all three or none")
        }
        let caFile = text("oidc.ca_file")
        return try OpenIDProvider(
            name: text("oidc.name"), issuer: issuer, clientID: text("oidc.client_id"),
            clientSecret: try secret("oidc.client_secret"), caFile: caFile.isEmpty ? nil : caFile)
    }

    private func secret(_ key: String) throws -> String {
        let file = text(key + "_file")
        guard !file.isEmpty else { return text(key) }
        guard text(key).isEmpty else { throw Failure("set \(key) or \(key)_file, not both") }
        let line = String(decoding: try Files.firstLine(file), as: UTF8.self)
        guard !line.isEmpty else { throw Failure("\(file): its first line is empty, where the key should be") }
        return line
    }
}
