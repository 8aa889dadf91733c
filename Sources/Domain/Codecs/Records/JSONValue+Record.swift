internal import Basics
internal import Fleet
internal import Formats

/// Records that have lists and objects in them. What is plain goes through `FlatJSON` or `JSONScanner`.
extension JSONValue {
    /// An object with each key once, of the one schema that we know.
    init(record bytes: [UInt8], bytesMax: Int, valuesMax: Int = 200_000) throws(DecodeError) {
        do throws(Fault) { self = try JSONValue(bytes, bytesMax: bytesMax, valuesMax: valuesMax) } catch {
            throw .notJSON(error.description)
        }
        guard case .object(let fields) = self else { throw .notJSON("not an object") }
        guard Set(fields.map(\.key)).count == fields.count else { throw .notJSON("a key stands there more than once") }
        let schema = try recordInteger("schema")
        guard schema == 1 else { throw .schemaUnknown(schema) }
    }

    func recordInteger(_ key: String) throws(DecodeError) -> Int64 {
        guard case .number(let text)? = self[key], let number = Int64(text) else { throw .keyMissing(key) }
        return number
    }

    func recordID(_ key: String) throws(DecodeError) -> String {
        guard let text = self[key]?.text, VehicleID.isValid(text.utf8) else { throw .keyMissing(key) }
        return text
    }

    func recordTime() throws(DecodeError) -> Int64 {
        let ts = try recordInteger("ts")
        guard UTC.plausible.contains(ts) else { throw .timeImpossible(ts) }
        return ts
    }
}
