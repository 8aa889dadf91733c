/// Why bytes from outside are not what they should be. The text names no value of a person or a position.
public enum DecodeError: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(String)
    case tooLarge(bytes: Int, most: Int)
    case schemaUnknown(Int64)
    case kindUnknown
    case keyMissing(String)
    case vehicleInvalid
    case timeImpossible(Int64)
    case timeAhead(ms: Int64)
    case timeNotKept(days: Int64)
    case keyDiffers
    case placeWrong(belongs: Int32)
    case tombstone
    case packed(String)
    case rules(String)
    case tripRules(String)
    case settings(String)
    case telematics(String)
    case weather(String)
    case campusUnknown
    case survey(String)
    case surveyDiffers
    case reviewOutdated(basedOn: Int)

    /// A reading further ahead of the time it was pushed than this is a device's wrong clock, and would hold its trip
    /// open until then.
    public static let aheadMsMax: Int64 = 86_400_000

    public var description: String {
        switch self {
        case .notJSON(let why): "not a JSON object: \(why)"
        case .tooLarge(let bytes, let most): "\(bytes) bytes, at most \(most) are read"
        case .schemaUnknown(let schema): "schema \(schema) is not known, 1 is"
        case .kindUnknown:
            "`kind` is not one of reading, tick, rules, trip_rules, registration, service, acknowledgement, silence, poll_request, poll_answer"
        case .keyMissing(let key): "`\(key)` is missing or of the wrong type"
        case .vehicleInvalid: "`vehicle` is not 1 to 64 letters, digits, -, _ or ."
        case .timeImpossible(let ts): "`ts` \(ts) is not epoch milliseconds between 1990 and 2100"
        case .timeAhead(let ms):
            "`ts` is more than \(ms / 3_600_000) hours ahead of the time it was pushed, at most 24 are believed"
        case .timeNotKept(let days):
            "`ts` is older than what is kept, \(days) days (retention.…_days): what it would be added to is deleted"
        case .keyDiffers: "the record's key is not its `vehicle`"
        case .placeWrong(let belongs):
            "the key belongs to partition \(belongs): its producer must use Kafka's murmur2 partitioner "
                + "(librdkafka: partitioner=murmur2_random); `drover rejected retry` puts it there"
        case .tombstone: "no value (a tombstone)"
        case .rules(let why): "`rules` is no rule set: \(why)"
        case .tripRules(let why): "`rules` are no trip rules: \(why)"
        case .settings(let why): "`settings` is no account's settings: \(why)"
        case .weather(let why): "no answer of a weather service: \(why)"
        case .telematics(let why): "no answer of ISO 15143-3: \(why)"
        case .survey(let why): "`survey` is no survey: \(why)"
        case .surveyDiffers:
            "a survey of this site and id was handed in before with other contents: the first counts; a reviewer may "
                + "correct it (`drover sightings review`)"
        case .reviewOutdated(let basedOn):
            "another review was made from version \(basedOn) before, or there is no such version: make it again from the "
                + "newest"
        case .campusUnknown:
            "its `campus` is not known: `drover campus publish FILE` says where it lies, then `drover rejected retry`"
        case .packed(let why): "packed samples: \(why)"
        }
    }
}
