public import Fleet

/// People's actions as records, both ways.
extension RecordDecoder {
    static let actionTextBytesMax = 2_000

    func action(_ ts: Int64, key: UnsafeRawBufferPointer?) throws(DecodeError) -> MachineAction {
        let kind: MachineAction.Kind
        if scanner.isText(.kind, "registration") {
            kind = .registration(try registration())
        } else if scanner.isText(.kind, "service") {
            guard case .scaled(let hours) = scanner.number(MachineParameter.engineHours, decimals: 3),
                MachineParameter.engineHours.row.isPossible(hours)
            else { throw .keyMissing("engine_hours_h") }
            kind = .service(atHours: hours)
        } else if scanner.isText(.kind, "acknowledgement") {
            kind = .acknowledgement(alert: try id(.alert, "alert"))
        } else if scanner.isText(.kind, "silence") {
            kind = .silence(try silence())
        } else if scanner.isText(.kind, "poll_request") {
            kind = .pollRequest(untilMs: try untilMs())
        } else if scanner.isText(.kind, "poll_answer") {
            guard let answer = try text(.text, "text") else { throw .keyMissing("text") }
            kind = .pollAnswer(request: try id(.request, "request"), isDone: scanner.isTrue(.done), text: answer)
        } else {
            throw .kindUnknown
        }
        var vehicle: VehicleID?
        if case .silence = kind, scanner.isAbsent(.vehicle) {
            // Of every machine, so it stands in every partition and has no key.
            if let key = unsafe key, unsafe !key.isEmpty { throw .keyDiffers }
        } else {
            vehicle = try self.vehicle()
            if let key = unsafe key, unsafe !scanner.isText(.vehicle, key) { throw .keyDiffers }
        }
        guard let by = scanner.text(.by, bytesMax: 200), !by.isEmpty else { throw .keyMissing("by") }
        return MachineAction(
            id: try id(.id, "id"), vehicle: vehicle, ts: ts, by: by, note: try text(.note, "note"), kind: kind)
    }

    private func id(_ key: JSONScanner.Common, _ name: String) throws(DecodeError) -> String {
        guard let id = scanner.text(key, bytesMax: 64), VehicleID.isValid(id.utf8) else { throw .keyMissing(name) }
        return id
    }

    /// Nil when it is absent; what is there must be a text that fits.
    private func text(
        _ key: JSONScanner.Common, _ name: String, bytesMax: Int = actionTextBytesMax
    ) throws(DecodeError) -> String? {
        if scanner.isAbsent(key) { return nil }
        guard let text = scanner.text(key, bytesMax: bytesMax), !text.isEmpty else { throw .keyMissing(name) }
        return text
    }

    private func registration() throws(DecodeError) -> MachineAction.Registration {
        var registration = MachineAction.Registration()
        registration.name = try text(.name, "name", bytesMax: 200)
        registration.model = try text(.model, "model", bytesMax: 64)
        registration.isDisabled = scanner.isTrue(.disabled)
        registration.tags = scanner.strings(.tags, bytesMax: 64) ?? []
        guard let host = try text(.host, "host", bytesMax: 253) else { return registration }
        guard let port = scanner.integer(.port), (1...65_535).contains(port) else { throw .keyMissing("port") }
        let certificate = try text(.certificateSHA256, "certificate_sha256", bytesMax: 64)
        if let certificate, certificate.utf8.count != 64 || !certificate.utf8.allSatisfy(RecordDecoder.isHexDigit) {
            throw .keyMissing("certificate_sha256")
        }
        registration.address = MachineAction.Address(
            host: host, port: Int32(port), certificateSHA256: certificate)
        return registration
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private func untilMs() throws(DecodeError) -> Int64 {
        guard let ms = scanner.integer(.untilTs), UTC.plausible.contains(ms) else { throw .keyMissing("until_ts") }
        return ms
    }

    private func silence() throws(DecodeError) -> MachineAction.Silence {
        let untilMs = try untilMs()
        var parameter: MachineParameter?
        if let name = try text(.parameter, "parameter") {
            parameter = MachineParameter.allCases.first { $0.row.name == name }
            if parameter == nil { throw .keyMissing("parameter") }
        }
        return MachineAction.Silence(
            model: try text(.model, "model", bytesMax: 64), parameter: parameter, untilMs: untilMs)
    }
}

extension RecordWriter {
    public static func action(_ action: MachineAction) -> [UInt8] {
        let (kind, own): (String, [(String, JSONValue?)]) =
            switch action.kind {
            case .registration(let registration): ("registration", fields(registration))
            case .service(let atHours): ("service", [("engine_hours_h", .number(Decimal.text(atHours, decimals: 3)))])
            case .acknowledgement(let alert): ("acknowledgement", [("alert", .text(alert))])
            case .pollRequest(let untilMs): ("poll_request", [("until_ts", .integer(untilMs))])
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
            }
        let common: [(String, JSONValue?)] = [
            ("schema", .integer(1)), ("kind", .text(kind)), ("id", .text(action.id)),
            ("vehicle", action.vehicle.map { .text($0.text) }), ("ts", .integer(action.ts)), ("by", .text(action.by)),
            ("note", action.note.map { .text($0) }),
        ]
        return Array(
            JSONValue.object((common + own).compactMap { key, value in value.map { (key, $0) } }).rendered().utf8)
    }

    private static func fields(_ registration: MachineAction.Registration) -> [(String, JSONValue?)] {
        let address = registration.address
        return [
            ("name", registration.name.map { .text($0) }), ("model", registration.model.map { .text($0) }),
            ("host", address.map { .text($0.host) }), ("port", address.map { .integer(Int64($0.port)) }),
            ("certificate_sha256", (address?.certificateSHA256).map { .text($0) }),
            ("tags", .list(registration.tags.map { .text($0) })), ("disabled", .bool(registration.isDisabled)),
        ]
    }
}
