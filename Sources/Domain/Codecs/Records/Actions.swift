internal import Basics
public import Fleet
internal import Formats

/// People's actions as records, both ways.
extension RecordDecoder {
    static let actionTextBytesMax = 2_000

    /// `isMachine`: the record stands on the machines' topic.
    /// `uploader`: who hands it in, whatever the record says.
    func action(
        _ ts: Int64, key: UnsafeRawBufferPointer?, isMachine: Bool, uploader: String? = nil
    ) throws(DecodeError) -> Action {
        let kind = try kind(ts, isMachine: isMachine)
        guard isMachine ? kind.isOfMachines : kind.isOfCars else { throw .kindUnknown }
        var vehicle: VehicleID?
        if kind.isOfAll, scanner.isAbsent(.vehicle) {
            // It stands in every partition and has no key.
            if let key = unsafe key, unsafe !key.isEmpty { throw .keyDiffers }
        } else {
            vehicle = try self.vehicle()
            if let key = unsafe key, unsafe !scanner.isText(.vehicle, key) { throw .keyDiffers }
        }
        guard let by = uploader ?? scanner.text(.by, bytesMax: 200), !by.isEmpty else { throw .keyMissing("by") }
        return Action(
            id: try id(.id, "id"), vehicle: vehicle, ts: ts, by: by, note: try text(.note, "note"), kind: kind)
    }

    private func kind(_ ts: Int64, isMachine: Bool) throws(DecodeError) -> Action.Kind {
        let kind: Action.Kind
        if scanner.isText(.kind, "registration") {
            kind = .registration(try registration(isCar: !isMachine))
        } else if scanner.isText(.kind, "service") {
            guard case .scaled(let hours) = scanner.number(MachineParameter.engineHours, decimals: 3),
                MachineParameter.engineHours.row.isPossible(hours)
            else { throw .keyMissing("engine_hours_h") }
            kind = .service(atHours: hours)
        } else if scanner.isText(.kind, "acknowledgement") {
            kind = .acknowledgement(alert: try id(.alert, "alert"))
        } else if let triage = try triage() {
            kind = .triage(triage)
        } else if scanner.isText(.kind, "silence") {
            kind = .silence(try silence())
        } else if scanner.isText(.kind, "poll_request") {
            kind = .pollRequest(untilMs: try untilMs(), try wanted())
        } else if scanner.isText(.kind, "poll_answer") {
            guard let answer = try text(.text, "text") else { throw .keyMissing("text") }
            kind = .pollAnswer(request: try id(.request, "request"), isDone: scanner.isTrue(.done), text: answer)
        } else {
            return try carKind(ts)
        }
        return kind
    }

    /// Nil: it is none.
    private func triage() throws(DecodeError) -> Action.Triage? {
        let word: Action.Triage.Word
        if scanner.isText(.kind, "alert_assignment") {
            word = .assigned(to: scanner.isAbsent(.account) ? nil : try id(.account, "account"))
        } else if scanner.isText(.kind, "alert_comment") {
            guard try text(.note, "note") != nil else { throw .keyMissing("note") }
            word = .comment
        } else if scanner.isText(.kind, "alert_reopening") {
            word = .reopened
        } else if scanner.isText(.kind, "alert_mute") {
            word = .muted(untilMs: scanner.isAbsent(.untilTs) ? nil : try untilMs())
        } else {
            return nil
        }
        return Action.Triage(alert: try id(.alert, "alert"), word)
    }

    private func carKind(_ ts: Int64) throws(DecodeError) -> Action.Kind {
        if scanner.isText(.kind, "trip_start") { return .tripStart }
        if scanner.isText(.kind, "trip_stop") { return .tripStop }
        if scanner.isText(.kind, "trip_discard") { return .tripDiscard(atMs: try time(.tripTs, "trip_ts")) }
        if scanner.isText(.kind, "trip_tag") {
            return .tripTag(atMs: try time(.tripTs, "trip_ts"), tag: try text(.tag, "tag", bytesMax: 64))
        }
        if scanner.isText(.kind, "driving") {
            let fromMs = try time(.fromTs, "from_ts")
            guard fromMs <= ts else { throw .keyMissing("from_ts") }
            return .driving(fromMs: fromMs)
        }
        if scanner.isText(.kind, "assignment") {
            return .assignment(driver: scanner.isAbsent(.driver) ? nil : try id(.driver, "driver"))
        }
        if scanner.isText(.kind, "settings") {
            guard let text = try text(.settings, "settings", bytesMax: 10_000) else { throw .keyMissing("settings") }
            return .settings(account: try id(.account, "account"), text: text)
        }
        if scanner.isText(.kind, "scan_request") { return .scanRequest(untilMs: try untilMs()) }
        if scanner.isText(.kind, "scan") { return .scan(try healthScan()) }
        if scanner.isText(.kind, "support") {
            guard let pids = scanner.strings(.pids, bytesMax: 4) else { throw .keyMissing("pids") }
            return .support(pids: pids)
        }
        if scanner.isText(.kind, "trip_summary") { return .tripSummary(try tripSummary(ts)) }
        if scanner.isText(.kind, "weather") { return try weather() }
        throw .kindUnknown
    }

    private func weather() throws(DecodeError) -> Action.Kind {
        let hourMs = try time(.hourTs, "hour_ts")
        guard hourMs % WeatherAnswer.hourMs == 0 else { throw .keyMissing("hour_ts") }
        guard let text = try text(.answer, "answer", bytesMax: WeatherAnswer.bytesMax) else {
            throw .keyMissing("answer")
        }
        guard try WeatherAnswer(told: Array(text.utf8)).tells(ofHour: hourMs) else {
            throw .weather("`ts` is more than an hour and a half from `hour_ts`")
        }
        return .weather(hourMs: hourMs, answer: text)
    }

    private func tripSummary(_ ts: Int64) throws(DecodeError) -> Action.TripSummary {
        var summary = Action.TripSummary(fromMs: try time(.fromTs, "from_ts"))
        guard summary.fromMs <= ts else { throw .keyMissing("from_ts") }
        func value(
            _ key: JSONScanner.Common, _ name: String, _ range: ClosedRange<Int64>, decimals: Int = 3
        ) throws(DecodeError) -> Int64? {
            try number(key, name, decimals: decimals, in: range).map { Int64($0) }
        }
        summary.distanceMilliKm = try value(.distanceKm, "distance_km", 0...10_000_000)
        summary.averageSpeedMilliKmh = try value(.averageSpeedKmh, "average_speed_kmh", 0...400_000)
        summary.maxSpeedMilliKmh = try value(.maxSpeedKmh, "max_speed_kmh", 0...400_000)
        summary.fuelMl = try value(.fuelL, "fuel_l", 0...2_000_000)
        summary.averageMilliMpg = try value(.averageMpg, "average_mpg", 0...1_000_000)
        summary.idleMs = try value(.idleS, "idle_s", 0...1_000_000_000)
        summary.maxCoolantMilliC = try value(.maxCoolantC, "max_coolant_c", -40_000...215_000)
        let counts: ClosedRange<Int64> = 0...1_000_000
        summary.sharpAccelerations = try value(.sharpAccelerations, "sharp_accelerations", counts, decimals: 0)
        summary.sharpBrakings = try value(.sharpBrakings, "sharp_brakings", counts, decimals: 0)
        return summary
    }

    private func healthScan() throws(DecodeError) -> Action.HealthScan {
        guard let words = try text(.text, "text") else { throw .keyMissing("text") }
        var scan = Action.HealthScan(
            request: scanner.isAbsent(.request) ? nil : try id(.request, "request"),
            isDone: try flag(.done, "done") ?? false, text: words)
        scan.stored = try codes(.stored, "stored")
        scan.pending = try codes(.pending, "pending")
        scan.permanent = try codes(.permanent, "permanent")
        scan.isLampOn = try flag(.lamp, "lamp")
        scan.notReady = try texts(.notReady, "not_ready", bytesMax: 64)
        scan.vin = try text(.vin, "vin", bytesMax: 17)
        scan.freezeFrame = try text(.freezeFrame, "freeze_frame", bytesMax: 10_000)
        return scan
    }

    /// Trouble codes as people write them: a letter and four hexadecimal digits.
    private func codes(_ key: JSONScanner.Common, _ name: String) throws(DecodeError) -> [String] {
        let codes = try texts(key, name, bytesMax: 5)
        let isRight = codes.allSatisfy { code in
            code.utf8.count == 5 && "PCBU".utf8.contains(code.utf8.first!)
                && code.utf8.dropFirst().allSatisfy { RecordDecoder.isDigit($0) || (0x41...0x46).contains($0) }
        }
        guard isRight else { throw .keyMissing(name) }
        return codes
    }

    /// Empty when it is absent; otherwise it must be a list of texts.
    private func texts(_ key: JSONScanner.Common, _ name: String, bytesMax: Int) throws(DecodeError) -> [String] {
        if scanner.isAbsent(key) { return [] }
        guard let texts = scanner.strings(key, bytesMax: bytesMax) else { throw .keyMissing(name) }
        return texts
    }

    /// Nil when it is absent; otherwise it must be true or false.
    private func flag(_ key: JSONScanner.Common, _ name: String) throws(DecodeError) -> Bool? {
        if scanner.isAbsent(key) { return nil }
        guard let flag = scanner.flag(key) else { throw .keyMissing(name) }
        return flag
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private func time(_ key: JSONScanner.Common, _ name: String) throws(DecodeError) -> Int64 {
        guard let ms = scanner.integer(key), UTC.plausible.contains(ms) else { throw .keyMissing(name) }
        return ms
    }

    private func id(_ key: JSONScanner.Common, _ name: String) throws(DecodeError) -> String {
        guard let id = scanner.text(key, bytesMax: 64), VehicleID.isValid(id.utf8) else { throw .keyMissing(name) }
        return id
    }

    /// Nil when it is absent; otherwise it must be a text that fits.
    private func text(
        _ key: JSONScanner.Common, _ name: String, bytesMax: Int = actionTextBytesMax
    ) throws(DecodeError) -> String? {
        if scanner.isAbsent(key) { return nil }
        guard let text = scanner.text(key, bytesMax: bytesMax), !text.isEmpty else { throw .keyMissing(name) }
        return text
    }

    private func registration(isCar: Bool) throws(DecodeError) -> Action.Registration {
        var registration = Action.Registration()
        registration.name = try text(.name, "name", bytesMax: 200)
        registration.model = try text(.model, "model", bytesMax: 64)
        registration.isDisabled = scanner.isTrue(.disabled)
        registration.tags = scanner.strings(.tags, bytesMax: 64) ?? []
        if isCar { registration.car = try car() }
        guard let host = try text(.host, "host", bytesMax: 253) else { return registration }
        guard let port = scanner.integer(.port), (1...65_535).contains(port) else { throw .keyMissing("port") }
        let certificate = try text(.certificateSHA256, "certificate_sha256", bytesMax: 64)
        if let certificate, certificate.utf8.count != 64 || !certificate.utf8.allSatisfy(RecordDecoder.isHexDigit) {
            throw .keyMissing("certificate_sha256")
        }
        registration.address = Action.Address(
            host: host, port: Int32(port), certificateSHA256: certificate)
        return registration
    }

    private func car() throws(DecodeError) -> Action.Car {
        var car = Action.Car()
        car.vin = try text(.vin, "vin", bytesMax: 17)
        car.make = try text(.make, "make", bytesMax: 64)
        car.account = scanner.isAbsent(.account) ? nil : try id(.account, "account")
        if let name = try text(.fuel, "fuel", bytesMax: 16) {
            guard let fuel = Action.Car.Fuel(rawValue: name) else { throw .keyMissing("fuel") }
            car.fuel = fuel
        }
        car.year = try number(.year, "year", decimals: 0, in: 1_900...2_200)
        car.tankMl = try number(.tankL, "tank_l", decimals: 3, in: 1...2_000_000)
        car.displacementCc = try number(.displacementCc, "displacement_cc", decimals: 0, in: 1...100_000)
        // Above 100 %: turbochargers.
        car.volumetricEfficiencyMilliPct = try number(
            .volumetricEfficiencyPct, "volumetric_efficiency_pct", decimals: 3, in: 1...300_000)
        return car
    }

    /// Nil when it is absent; otherwise it must be a number in this range, scaled by 10^decimals.
    private func number(
        _ key: JSONScanner.Common, _ name: String, decimals: Int, in range: ClosedRange<Int64>
    ) throws(DecodeError) -> Int32? {
        switch scanner.number(key, decimals: decimals) {
        case .absent: return nil
        case .scaled(let value) where range.contains(value): return Int32(value)
        case .scaled, .wrong: throw .keyMissing(name)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte)
    }

    private func untilMs() throws(DecodeError) -> Int64 { try time(.untilTs, "until_ts") }

    /// Readings, where it does not say.
    private func wanted() throws(DecodeError) -> Action.Wanted {
        if scanner.isAbsent(.wants) { return .readings }
        guard scanner.isText(.wants, "debug_log") else { throw .keyMissing("wants") }
        return .debugLog
    }

    private func silence() throws(DecodeError) -> Action.Silence {
        let untilMs = try untilMs()
        var parameter: MachineParameter?
        if let name = try text(.parameter, "parameter") {
            parameter = MachineParameter.allCases.first { $0.row.name == name }
            if parameter == nil { throw .keyMissing("parameter") }
        }
        return Action.Silence(
            model: try text(.model, "model", bytesMax: 64), parameter: parameter, untilMs: untilMs)
    }
}

extension RecordWriter {
    public static func action(_ action: Action) -> [UInt8] {
        let (kind, own): (String, [(String, JSONValue?)]) =
            switch action.kind {
            case .registration(let registration): ("registration", fields(registration))
            case .service(let atHours): ("service", [("engine_hours_h", .number(Decimal.text(atHours, decimals: 3)))])
            case .acknowledgement(let alert): ("acknowledgement", [("alert", .text(alert))])
            case .triage(let triage): fields(triage)
            case .pollRequest(let untilMs, let wanted):
                (
                    "poll_request",
                    [("until_ts", .integer(untilMs)), ("wants", wanted == .readings ? nil : .text(wanted.rawValue))]
                )
            case .pollAnswer(let request, let isDone, let text):
                ("poll_answer", [("request", .text(request)), ("done", .bool(isDone)), ("text", .text(text))])
            case .silence(let silence):
                (
                    "silence",
                    [
                        ("model", silence.model.map { .text($0) }),
                        ("parameter", silence.parameter.map { .text($0.row.name) }),
                        ("until_ts", .integer(silence.untilMs)),
                    ]
                )
            case .tripStart: ("trip_start", [])
            case .tripStop: ("trip_stop", [])
            case .tripDiscard(let atMs): ("trip_discard", [("trip_ts", .integer(atMs))])
            case .tripTag(let atMs, let tag):
                ("trip_tag", [("trip_ts", .integer(atMs)), ("tag", tag.map { .text($0) })])
            case .driving(let fromMs): ("driving", [("from_ts", .integer(fromMs))])
            case .assignment(let driver): ("assignment", [("driver", driver.map { .text($0) })])
            case .settings(let account, let text):
                ("settings", [("account", .text(account)), ("settings", .text(text))])
            case .scanRequest(let untilMs): ("scan_request", [("until_ts", .integer(untilMs))])
            case .scan(let scan): ("scan", fields(scan))
            case .support(let pids): ("support", [("pids", texts(pids))])
            case .tripSummary(let summary): ("trip_summary", fields(summary))
            case .weather(let hourMs, let answer):
                ("weather", [("hour_ts", .integer(hourMs)), ("answer", .text(answer))])
            }
        let common: [(String, JSONValue?)] = [
            ("schema", .integer(1)), ("kind", .text(kind)), ("id", .text(action.id)),
            ("vehicle", action.vehicle.map { .text($0.text) }), ("ts", .integer(action.ts)), ("by", .text(action.by)),
            ("note", action.note.map { .text($0) }),
        ]
        return Array(
            JSONValue.object((common + own).compactMap { key, value in value.map { (key, $0) } }).rendered().utf8)
    }

    private static func fields(_ registration: Action.Registration) -> [(String, JSONValue?)] {
        let address = registration.address
        return [
            ("name", registration.name.map { .text($0) }), ("model", registration.model.map { .text($0) }),
            ("host", address.map { .text($0.host) }), ("port", address.map { .integer(Int64($0.port)) }),
            ("certificate_sha256", (address?.certificateSHA256).map { .text($0) }),
            ("tags", texts(registration.tags)), ("disabled", .bool(registration.isDisabled)),
        ] + (registration.car.map(fields) ?? [])
    }

    private static func fields(_ car: Action.Car) -> [(String, JSONValue?)] {
        func number(_ value: Int32?, _ decimals: Int) -> JSONValue? {
            value.map { .number(Decimal.text(Int64($0), decimals: decimals)) }
        }
        return [
            ("vin", car.vin.map { .text($0) }), ("make", car.make.map { .text($0) }), ("year", number(car.year, 0)),
            ("fuel", car.fuel.map { .text($0.rawValue) }), ("tank_l", number(car.tankMl, 3)),
            ("displacement_cc", number(car.displacementCc, 0)),
            ("volumetric_efficiency_pct", number(car.volumetricEfficiencyMilliPct, 3)),
            ("account", car.account.map { .text($0) }),
        ]
    }

    private static func fields(_ summary: Action.TripSummary) -> [(String, JSONValue?)] {
        func number(_ value: Int64?) -> JSONValue? { value.map { .number(Decimal.text($0, decimals: 3)) } }
        return [
            ("from_ts", .integer(summary.fromMs)), ("distance_km", number(summary.distanceMilliKm)),
            ("average_speed_kmh", number(summary.averageSpeedMilliKmh)),
            ("max_speed_kmh", number(summary.maxSpeedMilliKmh)), ("fuel_l", number(summary.fuelMl)),
            ("average_mpg", number(summary.averageMilliMpg)), ("idle_s", number(summary.idleMs)),
            ("max_coolant_c", number(summary.maxCoolantMilliC)),
            ("sharp_accelerations", summary.sharpAccelerations.map { .integer($0) }),
            ("sharp_brakings", summary.sharpBrakings.map { .integer($0) }),
        ]
    }

    private static func fields(_ scan: Action.HealthScan) -> [(String, JSONValue?)] {
        [
            ("request", scan.request.map { .text($0) }), ("done", .bool(scan.isDone)), ("text", .text(scan.text)),
            ("stored", texts(scan.stored)), ("pending", texts(scan.pending)), ("permanent", texts(scan.permanent)),
            ("lamp", scan.isLampOn.map { .bool($0) }), ("not_ready", texts(scan.notReady)),
            ("vin", scan.vin.map { .text($0) }), ("freeze_frame", scan.freezeFrame.map { .text($0) }),
        ]
    }

    private static func fields(_ triage: Action.Triage) -> (String, [(String, JSONValue?)]) {
        let alert: (String, JSONValue?) = ("alert", .text(triage.alert))
        return switch triage.word {
        case .assigned(let account): ("alert_assignment", [alert, ("account", account.map { .text($0) })])
        case .comment: ("alert_comment", [alert])
        case .reopened: ("alert_reopening", [alert])
        case .muted(let untilMs): ("alert_mute", [alert, ("until_ts", untilMs.map { .integer($0) })])
        }
    }

    private static func texts(_ texts: [String]) -> JSONValue { .list(texts.map { .text($0) }) }
}
