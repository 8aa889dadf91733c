internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer

/// A JSON object that an app sent, read key by key; each fault names its key and what it must be.
struct CampusRequestBody {
    static let bytesMax = 16 << 10

    struct Fault: Error {
        let response: Response

        init(_ status: Int, _ type: String, _ detail: String) {
            response = .problem(status, type: type, detail: detail)
        }

        init(_ key: String, _ rule: String) { self.init(422, "value", "`\(key)` must be \(rule).") }
    }

    private var values: [String: JSONValue] = [:]

    /// - Parameter mayBeEmpty: no body at all says as much as `{}`.
    init(_ request: Request, mayBeEmpty: Bool = false) throws(Fault) {
        if mayBeEmpty, request.body.isEmpty { return }
        guard request.contentType == "application/json" else {
            throw Fault(415, "content-type", "This is sent as application/json.")
        }
        guard request.headers["content-encoding"] ?? "identity" == "identity" else {
            throw Fault(415, "content-encoding", "This is sent as it is, not packed.")
        }
        guard request.body.count <= CampusRequestBody.bytesMax else {
            throw Fault(413, "body-too-large", "This has at most \(CampusRequestBody.bytesMax) bytes.")
        }
        let fields: [JSONValue.Field]
        do throws(FlatJSON.Fault) {
            fields = try FlatJSON.fields(request.body, bytesMax: CampusRequestBody.bytesMax)
        } catch {
            throw Fault(400, "not-json", "\(error.description).")
        }
        for field in fields where field.value != .null { values[field.key] = field.value }
    }

    func has(_ key: String) -> Bool { values[key] != nil }

    func optionalText(_ key: String, bytesMax: Int) throws(Fault) -> String? {
        guard let value = values[key] else { return nil }
        let isBreak = { (scalar: Unicode.Scalar) in scalar == "\n" || scalar == "\t" }
        guard case .text(let text) = value, (1...bytesMax).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control || isBreak($0) })
        else { throw Fault(key, "a text of 1 to \(bytesMax) bytes") }
        return text
    }

    func id(_ key: String) throws(Fault) -> String {
        guard case .text(let text)? = values[key], VehicleID.isValid(text.utf8) else {
            throw Fault(key, "an id: 1 to 64 letters, digits, -, _ or .")
        }
        return text
    }

    func integer(_ key: String, _ range: ClosedRange<Int64>) throws(Fault) -> Int64 {
        guard case .number(let text)? = values[key], let number = Int64(text), range.contains(number) else {
            throw Fault(key, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// In thousandths; nil: absent.
    func thousandths(_ key: String, _ range: ClosedRange<Int64>) throws(Fault) -> Int64? {
        guard let value = values[key] else { return nil }
        guard case .number(let text) = value, let number = Decimal.scaled(text.utf8, decimals: 3),
            range.contains(number)
        else { throw Fault(key, "a number from \(range.lowerBound / 1_000) to \(range.upperBound / 1_000)") }
        return number
    }

    func position(_ prefix: String = "") throws(Fault) -> Position {
        let latitude = try degrees(prefix + "latitude_deg", 90)
        return Position(latitude: latitude, longitude: try degrees(prefix + "longitude_deg", 180))
    }

    private func degrees(_ key: String, _ most: Int64) throws(Fault) -> Int32 {
        guard case .number(let text)? = values[key], let degrees = Decimal.scaled(text.utf8, decimals: 7),
            degrees.magnitude <= most * 10_000_000
        else { throw Fault(key, "a number of degrees from -\(most) to \(most)") }
        return Int32(degrees)
    }
}
