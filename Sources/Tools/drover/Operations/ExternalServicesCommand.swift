import App
import Basics
import Codecs
import ExternalServices
import Fleet
import Formats
import Telemetry

extension Command {
    private static let format = Option("--format", "text|json", "text for people (default), JSON for programs")

    static let outsideCheck = Command(
        name: "outside check", operands: "[options]",
        summary:
            "Asks each service of others that is set once, and says what it answered, in which units, and what is left.",
        options: [
            .init("--at", "LAT,LON", "a place that they know (default: Washington, 38.8977,-77.0365)"), format,
        ] + SettingsSource.options,
        example: "drover outside check --at 52.52,13.40 --set weather.provider=open-meteo",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let place = try arguments.text("--at").map { try position("--at", $0) }
            let checks = try ExternalServiceCheck(
                settings, at: place ?? Position(latitude: 388_977_000, longitude: -770_365_000))
            let results = checks.all(nowMs: Clock.nowMs())
            try show(arguments, results.map(\.fields)) { results.map(\.text) }
            return results.contains { !$0.isWell } ? .failed : .done
        })

    static let outsideWeather = Command(
        name: "outside weather", operands: "[options]",
        summary: "The weather of a place and hour, as records and trips get it: kept, or asked for.",
        options: [
            .init("--at", "LAT,LON", "the place; may stand several times"),
            .init("--time", "TIME", "such as 2026-11-21T06:52:00Z (default: now); may stand several times"),
            .init("--wait", "MS", "time for each request, less than weather.timeout_ms"), format,
        ] + SettingsSource.options,
        example: "drover outside weather --at 38.90,-77.04 --time 2026-06-01T14:00:00Z",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            guard let made = try settings.weather() else { throw Failure("weather.provider is not set") }
            let client = try WeatherClient(made, database: settings.outsideDatabase())
            let waitMs = try arguments.integer("--wait", in: 1...60_000).map(Int.init)
            let (places, nowMs) = (try positions("--at", arguments), Clock.nowMs())
            let times = try arguments.texts("--time").map { text in
                guard let ts = UTC.parse(text) else {
                    throw UsageError("--time \(text): must be like 2026-11-21T06:52:00Z")
                }
                return ts
            }
            var (answers, isWell) = ([WeatherAnswer](), true)
            for place in places {
                for ts in times.isEmpty ? [nowMs] : times {
                    do throws(ServiceError) {
                        answers.append(try client.weather(at: place, ts: ts, nowMs: nowMs, timeoutMs: waitMs))
                    } catch {
                        Out.note("\(error)")
                        isWell = false
                    }
                }
            }
            try show(arguments, answers.map { .object($0.fields) }) { answers.map(text) }
            return isWell ? .done : .failed
        })

    static let outsideTravel = Command(
        name: "outside travel", operands: "[options]",
        summary: "Travel times from each --from to each --to, and by which method each is known.",
        options: [
            .init("--from", "LAT,LON", "where from; may stand several times"),
            .init("--to", "LAT,LON", "where to; may stand several times"),
            .init("--time", "TIME", "when they set out (default: now)"),
            .init("--line", nil, "the road from the first to the last, through all that are named, as points"), format,
        ] + SettingsSource.options,
        example: "drover outside travel --from 38.90,-77.04 --to 38.89,-77.03 --to 38.91,-77.05",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let client = try TravelService(settings.travel(), database: settings.outsideDatabase())
            let (sources, destinations) = (try positions("--from", arguments), try positions("--to", arguments))
            let nowMs = Clock.nowMs()
            let atMs = try arguments.text("--time").map { text in
                guard let ts = UTC.parse(text) else {
                    throw UsageError("--time \(text): must be like 2026-11-21T06:52:00Z")
                }
                return ts
            }
            if arguments.has("--line") {
                let stops = sources + destinations
                guard stops.count <= TravelService.stopsMax else {
                    throw UsageError("at most \(TravelService.stopsMax) places make a line")
                }
                let line = client.line(through: stops, atMs: atMs ?? nowMs, nowMs: nowMs)
                if let fault = line.fault { Out.note("\(fault)") }
                let points = line.points.map { point in JSONValue.text(point.text) }
                try show(arguments, [.object(fields(line.leg) + [("points", .list(points))])]) {
                    [text(line.leg) + "\n" + line.points.map(\.text).joined(separator: "\n")]
                }
                return .done
            }
            guard sources.count * destinations.count <= TravelService.legsMax else {
                throw UsageError("at most \(TravelService.legsMax) ways at once")
            }
            let table = client.table(from: sources, to: destinations, atMs: atMs ?? nowMs, nowMs: nowMs)
            if let fault = table.fault { Out.note("\(fault)") }
            let ways = table.legs.enumerated().map { index, leg in
                (from: sources[index / destinations.count], to: destinations[index % destinations.count], leg: leg)
            }
            try show(
                arguments,
                ways.map { .object([("from", .text($0.from.text)), ("to", .text($0.to.text))] + fields($0.leg)) }
            ) { ways.map { "\($0.from.text) → \($0.to.text)  \(text($0.leg))" } }
            return .done
        })

    static let outsideAddress = Command(
        name: "outside address", operands: "[ADDRESS…]",
        summary: "Where an address is, or with --at which address a place has.",
        options: [.init("--at", "LAT,LON", "the place"), format] + SettingsSource.options,
        example: "drover outside address '2121 I Street NW, Washington'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let places = try arguments.texts("--at").map { try position("--at", $0) }
            guard !places.isEmpty || !arguments.operands.isEmpty else {
                throw UsageError("an ADDRESS or --at LAT,LON is to be named")
            }
            guard let made = try settings.geocoder() else { throw Failure("geocoder.url is not set") }
            let geocoder = try Geocoder(made, database: settings.outsideDatabase())
            let nowMs = Clock.nowMs()
            var found: [GeocodedPlace] = []
            for place in places {
                do throws(ServiceError) {
                    if let known = try geocoder.reverse(place, nowMs: nowMs) {
                        found.append(known)
                    } else {
                        Out.note("\(place.text): the geocoder knows no address there")
                    }
                } catch { Out.note("\(error)") }
            }
            for address in arguments.operands {
                do throws(ServiceError) {
                    if let known = try geocoder.place(address: address, position: nil, nowMs: nowMs) {
                        found.append(known)
                    } else {
                        Out.note("\(address): the geocoder knows no such place")
                    }
                } catch { Out.note("\(error)") }
            }
            try show(
                arguments,
                found.map {
                    .object([
                        ("latitude", .number(Decimal.text(Int64($0.position.latitude), decimals: 7))),
                        ("longitude", .number(Decimal.text(Int64($0.position.longitude), decimals: 7))),
                        ("address", .optional($0.label)), ("method", .text($0.method.rawValue)),
                    ])
                }
            ) { found.map { "\($0.position.text)  \($0.label ?? "–")  (\($0.method.rawValue))" } }
            return found.count == places.count + arguments.operands.count ? .done : .failed
        })

    private static func show(
        _ arguments: Arguments, _ objects: [JSONValue], text: () -> [String]
    ) throws {
        let isJSON = try arguments.one("--format", of: ["text": false, "json": true], standard: "text")
        if isJSON {
            Out.result(JSONValue.list(objects).rendered(indent: true))
        } else {
            text().forEach(Out.result)
        }
    }

    private static func position(_ option: String, _ text: String) throws -> Position {
        guard let position = Position(text: text) else {
            throw UsageError("\(option) \(text): must be LAT,LON in degrees, like 38.90,-77.04")
        }
        return position
    }

    private static func positions(_ option: String, _ arguments: Arguments) throws -> [Position] {
        let places = try arguments.texts(option).map { try position(option, $0) }
        guard !places.isEmpty else { throw UsageError("\(option) LAT,LON is missing") }
        return places
    }

    private static func fields(_ leg: TravelLeg) -> [JSONValue.Field] {
        [
            ("duration_ms", .integer(leg.durationMs)), ("distance_m", .integer(leg.distanceM)),
            ("method", .text(leg.method.rawValue)),
        ]
    }

    private static func text(_ leg: TravelLeg) -> String {
        "\(Decimal.text((leg.durationMs + 500) / 1_000, decimals: 0)) s, \(leg.distanceM) m (\(leg.method.rawValue))"
    }

    private static func text(_ answer: WeatherAnswer) -> String {
        ExternalServiceCheck.text(answer)
    }
}
