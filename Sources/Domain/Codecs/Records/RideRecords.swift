internal import Basics
public import Fleet
internal import Formats

/// Records of campuses on `drover.dispatch`: JSON objects with plain values.
public enum RideRecords {
    /// The content of a record on the topic.
    public typealias Decoded = TickOrRecord<RideRecord>

    static let bytesMax = 900_000
    private static let nameBytesMax = 200
    private static let textBytesMax = 1_000
    private static let weatherBytesMax = 2_000

    /// `key` must be the record's campus.
    public static func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(DecodeError) -> Decoded {
        let fields: Fields
        do throws(FlatJSON.Fault) {
            fields = Fields(try FlatJSON.fields(unsafe Array(value), bytesMax: bytesMax))
        } catch {
            throw .notJSON(error.description)
        }
        let schema = try fields.integer("schema")
        guard schema == 1 else { throw .schemaUnknown(schema) }
        let ts = try fields.integer("ts")
        guard UTC.plausible.contains(ts) else { throw .timeImpossible(ts) }
        let kind = try fields.text("kind", bytesMax: 40)
        if let tick = try Tick.decoded(
            kind: kind, ts: ts, by: { () throws(DecodeError) in try fields.optionalText("by", bytesMax: 64) })
        {
            return .tick(tick)
        }
        let campus = try fields.id("campus")
        guard unsafe campus.utf8.elementsEqual(key) else { throw .keyDiffers }
        return .record(
            RideRecord(
                id: try fields.id("id"), campus: campus, ts: ts,
                by: try fields.optionalText("by", bytesMax: nameBytesMax) ?? "", kind: try self.kind(kind, fields)))
    }

    private static func kind(_ kind: String, _ fields: Fields) throws(DecodeError) -> RideRecord.Kind {
        switch kind {
        case "campus": return .campus(try settings(fields))
        case "profile": return .profile(rider: try fields.id("rider"), person: try person(fields))
        case "pickup": return .pickup(try pickup(fields))
        case "cancel": return .cancel(request: try fields.id("request"))
        case "override": return .override(request: try fields.id("request"))
        case "done":
            let stop = try fields.text("stop", bytesMax: 10)
            guard stop == "pickup" || stop == "dropoff" else { throw .keyMissing("stop") }
            return .done(request: try fields.id("request"), isPickup: stop == "pickup")
        case "in_service":
            let capacity = try fields.integer("capacity")
            guard (1...100).contains(capacity) else { throw .keyMissing("capacity") }
            return .inService(
                RideRecord.InService(
                    vehicle: try fields.id("vehicle"), driver: try fields.id("driver"), person: try person(fields),
                    capacity: Int(capacity), place: try fields.position("")))
        case "out_of_service": return .outOfService(vehicle: try fields.id("vehicle"))
        case "breakdown": return .breakdown(vehicle: try fields.id("vehicle"))
        case "end": return .end(request: try fields.id("request"), try say(fields))
        case "hand_over": return .handOver(request: try fields.id("request"), try say(fields))
        case "position":
            return .position(
                vehicle: try fields.id("vehicle"), place: try fields.position(""),
                speedMmPerS: try fields.optionalScaled("speed_mps", decimals: 3, 0...200_000))
        case "sign":
            if fields.has("rider") { return .riderSign(rider: try fields.id("rider")) }
            return .vehicleSign(vehicle: try fields.id("vehicle"))
        case "clock": return .clock
        case "surge":
            let surge = try fields.scaled("surge", decimals: 3, 0...100_000)
            guard fields.has("hour_ts") else { return .surge(thousandths: surge) }
            return .hour(try hour(surge, fields))
        case "travel": return .travel(try travel(fields))
        case "decision":
            let offset = try fields.integer("offset")
            guard offset >= 0 else { throw .keyMissing("offset") }
            return .decision(
                offset: offset, text: try fields.text("decision", bytesMax: bytesMax),
                why: try fields.text("why", bytesMax: bytesMax))
        default: throw .kindUnknown
        }
    }

    private static func say(_ fields: Fields) throws(DecodeError) -> RideRecord.Say {
        guard let role = PersonRole(rawValue: try fields.text("role", bytesMax: 20)) else { throw .keyMissing("role") }
        let reason = try fields.text("reason", bytesMax: RideRecord.Say.bytesMax)
        guard !reason.allSatisfy(\.isWhitespace) else { throw .keyMissing("reason") }
        return RideRecord.Say(role: role, reason: reason)
    }

    private static func hour(_ surge: Int64, _ fields: Fields) throws(DecodeError) -> RideRecord.Hour {
        let startMs = try fields.integer("hour_ts")
        guard UTC.plausible.contains(startMs) else { throw .keyMissing("hour_ts") }
        let weather = try fields.optionalText("weather", bytesMax: weatherBytesMax)
        if let weather { _ = try WeatherAnswer(told: Array(weather.utf8)) }
        return RideRecord.Hour(
            startMs: startMs, surge: surge,
            speedKmh: try fields.optionalScaled("speed_kmh", decimals: 3, CampusSettings.Key.speedKmh.range),
            weather: weather)
    }

    /// Places as in a boundary; ways in whole milliseconds, `-` where none is known.
    private static func travel(_ fields: Fields) throws(DecodeError) -> RideRecord.Travel {
        func places(_ key: String) throws(DecodeError) -> [Position] {
            let places = try self.places(key, fields)
            guard places.count <= RideRecord.Travel.placesMax else { throw .keyMissing(key) }
            return places
        }
        let source = try fields.text("source", bytesMax: nameBytesMax)
        guard !source.isEmpty else { throw .keyMissing("source") }
        let (from, to) = (try places("from"), try places("to"))
        let ways = try fields.text("ways_ms", bytesMax: bytesMax).split(separator: " ")
        guard ways.count == from.count * to.count else { throw .keyMissing("ways_ms") }
        var ms: [Int64?] = []
        for way in ways {
            let number = way == "-" ? nil : Int64(way)
            guard way == "-" || number.map((0...RideRecord.Travel.msMax).contains) == true else {
                throw .keyMissing("ways_ms")
            }
            ms.append(number)
        }
        return RideRecord.Travel(source: source, from: from, to: to, ms: ms)
    }

    private static func places(_ key: String, _ fields: Fields) throws(DecodeError) -> [Position] {
        var places: [Position] = []
        for place in try fields.text(key, bytesMax: bytesMax).split(separator: " ") {
            let parts = place.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, let position = position(String(parts[0]), String(parts[1])) else {
                throw .keyMissing(key)
            }
            places.append(position)
        }
        return places
    }

    private static func text(_ places: [Position]) -> JSONValue {
        .text(places.map { "\(degrees($0.latitude)),\(degrees($0.longitude))" }.joined(separator: " "))
    }

    private static func person(_ fields: Fields) throws(DecodeError) -> RideRecord.Person {
        RideRecord.Person(
            name: try fields.text("name", bytesMax: nameBytesMax),
            photo: try fields.optionalText("photo", bytesMax: textBytesMax))
    }

    private static func pickup(_ fields: Fields) throws(DecodeError) -> RideRecord.Pickup {
        let passengers = try fields.integer("passengers")
        guard (1...100).contains(passengers) else { throw .keyMissing("passengers") }
        var pickup = RideRecord.Pickup(
            request: try fields.id("request"), rider: try fields.id("rider"), passengers: Int(passengers),
            from: try fields.position("from_"), to: try fields.position("to_"))
        pickup.fromAddress = try fields.optionalText("from_address", bytesMax: textBytesMax)
        pickup.toAddress = try fields.optionalText("to_address", bytesMax: textBytesMax)
        pickup.description = try fields.optionalText("description", bytesMax: textBytesMax)
        return pickup
    }

    private static func settings(_ fields: Fields) throws(DecodeError) -> CampusSettings {
        var settings = CampusSettings(name: try fields.text("name", bytesMax: nameBytesMax), boundary: [])
        // `lat,lon lat,lon …` in degrees.
        settings.boundary = try places("boundary", fields)
        guard (3...CampusSettings.cornersMax).contains(settings.boundary.count) else { throw .keyMissing("boundary") }
        for key in CampusSettings.Key.allCases {
            settings.numbers[key] = try fields.optionalScaled(key.rawValue, decimals: 3, key.range)
        }
        for key in CampusSettings.TableKey.allCases {
            guard let text = try fields.optionalText(key.rawValue, bytesMax: CampusSettings.tableBytesMax) else {
                continue
            }
            do throws(DayHours.Fault) { try key.check(text) } catch { throw .keyMissing(key.rawValue) }
            settings.tables[key] = text
        }
        // Whether there is such a zone is looked at where it is published: the log knows no zones.
        settings.timeZone = try fields.optionalText("time_zone", bytesMax: 60)
        settings.places = named(fields)
        settings.placesVersion = fields.has("places_version") ? try fields.integer("places_version") : 0
        settings.placesBase = fields.has("places_base") ? try fields.integer("places_base") : nil
        return settings
    }

    /// A line a place, `lat,lon name`. A line that cannot be read is passed over: no name may cost a campus its settings.
    private static func named(_ fields: Fields) -> [CampusPlace]? {
        guard let text = try? fields.optionalText("places", bytesMax: bytesMax) else { return nil }
        let places = text.utf8.split(separator: UInt8(ascii: "\n")).lazy.compactMap { line -> CampusPlace? in
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let at = parts[0].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            guard at.count == 2,
                let place = position(String(decoding: at[0], as: UTF8.self), String(decoding: at[1], as: UTF8.self))
            else { return nil }
            return CampusPlace(name: String(decoding: parts[1], as: UTF8.self), place: place)
        }
        return Array(places.prefix(CampusPlace.countMax))
    }

    private static func text(_ places: [CampusPlace]) -> JSONValue {
        .text(
            places.map { "\(degrees($0.place.latitude)),\(degrees($0.place.longitude)) \($0.name)" }.joined(
                separator: "\n"))
    }

    fileprivate static func position(_ latitude: String, _ longitude: String) -> Position? {
        guard let north = Decimal.scaled(latitude.utf8, decimals: 7), (-900_000_000...900_000_000).contains(north),
            let east = Decimal.scaled(longitude.utf8, decimals: 7), (-1_800_000_000...1_800_000_000).contains(east)
        else { return nil }
        return Position(latitude: Int32(north), longitude: Int32(east))
    }

    // MARK: Writing

    public static func encode(_ record: RideRecord) -> [UInt8] {
        let (kind, own) = fields(record.kind)
        let common: [(String, JSONValue?)] = [
            ("schema", .integer(1)), ("kind", .text(kind)), ("id", .text(record.id)),
            ("campus", .text(record.campus)), ("ts", .integer(record.ts)),
            ("by", record.by.isEmpty ? nil : .text(record.by)),
        ]
        return Array(
            JSONValue.object((common + own).compactMap { key, value in value.map { (key, $0) } }).rendered().utf8)
    }

    private static func fields(_ kind: RideRecord.Kind) -> (String, [(String, JSONValue?)]) {
        switch kind {
        case .campus(let settings): return ("campus", fields(settings))
        case .profile(let rider, let person): return ("profile", [("rider", .text(rider))] + fields(person))
        case .pickup(let pickup): return ("pickup", fields(pickup))
        case .cancel(let request): return ("cancel", [("request", .text(request))])
        case .override(let request): return ("override", [("request", .text(request))])
        case .done(let request, let isPickup):
            return ("done", [("request", .text(request)), ("stop", .text(isPickup ? "pickup" : "dropoff"))])
        case .inService(let entered): return ("in_service", fields(entered))
        case .outOfService(let vehicle): return ("out_of_service", [("vehicle", .text(vehicle))])
        case .breakdown(let vehicle): return ("breakdown", [("vehicle", .text(vehicle))])
        case .end(let request, let say): return ("end", [("request", .text(request))] + fields(say))
        case .handOver(let request, let say): return ("hand_over", [("request", .text(request))] + fields(say))
        case .position(let vehicle, let place, let speed):
            return (
                "position",
                [("vehicle", .text(vehicle))] + fields(place, "") + [
                    ("speed_mps", speed.map { .number(Decimal.text($0, decimals: 3)) })
                ]
            )
        case .riderSign(let rider): return ("sign", [("rider", .text(rider))])
        case .vehicleSign(let vehicle): return ("sign", [("vehicle", .text(vehicle))])
        case .clock: return ("clock", [])
        case .surge(let thousandths): return ("surge", [("surge", .number(Decimal.text(thousandths, decimals: 3)))])
        case .hour(let hour): return ("surge", fields(hour))
        case .travel(let travel): return ("travel", fields(travel))
        case .decision(let offset, let text, let why):
            return ("decision", [("offset", .integer(offset)), ("decision", .text(text)), ("why", .text(why))])
        }
    }

    private static func fields(_ settings: CampusSettings) -> [(String, JSONValue?)] {
        let numbers: [(String, JSONValue?)] = CampusSettings.Key.allCases.map { key in
            (key.rawValue, settings.numbers[key].map { .number(Decimal.text($0, decimals: 3)) })
        }
        let tables: [(String, JSONValue?)] = CampusSettings.TableKey.allCases.map { key in
            (key.rawValue, settings.tables[key].map { .text($0) })
        }
        return [("name", .text(settings.name)), ("boundary", text(settings.boundary))] + numbers + tables
            + [
                ("time_zone", settings.timeZone.map { .text($0) }), ("places", settings.places.map(text)),
                ("places_version", settings.placesVersion == 0 ? nil : .integer(settings.placesVersion)),
                ("places_base", settings.placesBase.map { .integer($0) }),
            ]
    }

    private static func fields(_ pickup: RideRecord.Pickup) -> [(String, JSONValue?)] {
        [
            ("request", .text(pickup.request)), ("rider", .text(pickup.rider)),
            ("passengers", .integer(Int64(pickup.passengers))),
        ] + fields(pickup.from, "from_") + fields(pickup.to, "to_") + [
            ("from_address", pickup.fromAddress.map { .text($0) }),
            ("to_address", pickup.toAddress.map { .text($0) }),
            ("description", pickup.description.map { .text($0) }),
        ]
    }

    private static func fields(_ entered: RideRecord.InService) -> [(String, JSONValue?)] {
        [
            ("vehicle", .text(entered.vehicle)), ("driver", .text(entered.driver)),
            ("capacity", .integer(Int64(entered.capacity))),
        ] + fields(entered.person) + fields(entered.place, "")
    }

    private static func fields(_ hour: RideRecord.Hour) -> [(String, JSONValue?)] {
        [
            ("surge", .number(Decimal.text(hour.surge, decimals: 3))), ("hour_ts", .integer(hour.startMs)),
            ("speed_kmh", hour.speedKmh.map { .number(Decimal.text($0, decimals: 3)) }),
            ("weather", hour.weather.map { .text($0) }),
        ]
    }

    private static func fields(_ travel: RideRecord.Travel) -> [(String, JSONValue?)] {
        let ways = travel.ms.map { $0.map(String.init) ?? "-" }
        return [
            ("source", .text(travel.source)), ("from", text(travel.from)), ("to", text(travel.to)),
            ("ways_ms", .text(ways.joined(separator: " "))),
        ]
    }

    private static func fields(_ say: RideRecord.Say) -> [(String, JSONValue?)] {
        [("role", .text(say.role.rawValue)), ("reason", .text(say.reason))]
    }

    private static func fields(_ person: RideRecord.Person) -> [(String, JSONValue?)] {
        [("name", .text(person.name)), ("photo", person.photo.map { .text($0) })]
    }

    private static func fields(_ place: Position, _ prefix: String) -> [(String, JSONValue?)] {
        [
            (prefix + "latitude_deg", .number(degrees(place.latitude))),
            (prefix + "longitude_deg", .number(degrees(place.longitude))),
        ]
    }

    private static func degrees(_ stored: Int32) -> String { Decimal.text(Int64(stored), decimals: 7) }
}

/// The fields of a record by their keys.
private struct Fields {
    private let values: [String: JSONValue]

    init(_ fields: [JSONValue.Field]) { values = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) }) }

    func has(_ key: String) -> Bool { values[key] != nil && values[key] != .null }

    func optionalText(_ key: String, bytesMax: Int) throws(DecodeError) -> String? {
        guard has(key) else { return nil }
        guard case .text(let text)? = values[key], text.utf8.count <= bytesMax, !text.utf8.contains(0) else {
            throw .keyMissing(key)
        }
        return text
    }

    func text(_ key: String, bytesMax: Int) throws(DecodeError) -> String {
        guard let text = try optionalText(key, bytesMax: bytesMax) else { throw .keyMissing(key) }
        return text
    }

    /// The ids of campuses, people, vehicles and requests are made alike.
    func id(_ key: String) throws(DecodeError) -> String {
        let text = try text(key, bytesMax: 64)
        guard VehicleID.isValid(text.utf8) else { throw .keyMissing(key) }
        return text
    }

    func integer(_ key: String) throws(DecodeError) -> Int64 {
        guard case .number(let text)? = values[key], let number = Int64(text) else { throw .keyMissing(key) }
        return number
    }

    func optionalScaled(
        _ key: String, decimals: Int, _ range: ClosedRange<Int64>
    ) throws(DecodeError) -> Int64? {
        has(key) ? try scaled(key, decimals: decimals, range) : nil
    }

    func scaled(_ key: String, decimals: Int, _ range: ClosedRange<Int64>) throws(DecodeError) -> Int64 {
        guard case .number(let text)? = values[key], let number = Decimal.scaled(text.utf8, decimals: decimals),
            range.contains(number)
        else { throw .keyMissing(key) }
        return number
    }

    func position(_ prefix: String) throws(DecodeError) -> Position {
        guard case .number(let latitude)? = values[prefix + "latitude_deg"],
            case .number(let longitude)? = values[prefix + "longitude_deg"],
            let place = RideRecords.position(latitude, longitude)
        else { throw .keyMissing(prefix + "latitude_deg") }
        return place
    }
}
