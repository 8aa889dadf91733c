public import Fleet
internal import Formats

/// Records of sites on `drover.sightings`.
public enum SurveyRecords {
    public typealias Decoded = TickOrRecord<SurveyRecord>

    /// A record as it is written; room for what a survey grows by when its times and numbers are written in full.
    public static let bytesMax = 990_000
    /// The hours that a survey can touch.
    static let answersMax = 25

    /// `key` must be the record's site.
    public static func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(DecodeError) -> Decoded {
        let tree = try unsafe JSONValue(record: Array(value), bytesMax: bytesMax)
        let ts = try tree.recordTime()
        let kind = try text("kind", tree, bytesMax: 40)
        if let tick = try Tick.decoded(kind: kind, ts: ts, by: { () throws(DecodeError) in tree["by"]?.text }) {
            return .tick(tick)
        }
        let site = try tree.recordID("site")
        guard unsafe site.utf8.elementsEqual(key) else { throw .keyDiffers }
        return .record(
            SurveyRecord(
                id: try tree.recordID("id"), site: site, ts: ts, account: try tree.recordID("account"),
                by: try text("by", tree, bytesMax: 200), kind: try self.kind(kind, tree, site: site)))
    }

    private static func kind(_ kind: String, _ tree: JSONValue, site: String) throws(DecodeError) -> SurveyRecord.Kind {
        switch kind {
        case "survey": return .submitted(try survey(tree, site: site))
        case "review":
            let basedOn = try tree.recordInteger("based_on")
            guard (0...1_000_000).contains(basedOn) else { throw .keyMissing("based_on") }
            let isNoted = tree["note"].map { !$0.isNull } ?? false
            return .reviewed(
                try survey(tree, site: site), basedOn: Int(basedOn),
                note: isNoted ? try text("note", tree, bytesMax: SurveyText.commentBytesMax) : nil)
        case "weather":
            guard let items = tree["answers"]?.items, (1...answersMax).contains(items.count) else {
                throw .keyMissing("answers")
            }
            var answers: [String] = []
            for item in items {
                guard let answer = item.text else { throw .keyMissing("answers") }
                _ = try WeatherAnswer(told: Array(answer.utf8))
                answers.append(answer)
            }
            return .weather(survey: try tree.recordID("survey"), answers: answers)
        default: throw .kindUnknown
        }
    }

    private static func survey(_ tree: JSONValue, site: String) throws(DecodeError) -> Survey {
        guard let object = tree["survey"] else { throw .keyMissing("survey") }
        do throws(SurveyText.Faults) {
            let survey = try SurveyText.decode(object)
            guard survey.site == site else { throw SurveyText.Faults(all: ["site: differs from the record's"]) }
            return survey
        } catch {
            let more = error.all.count > 1 ? ", and \(error.all.count - 1) more" : ""
            throw .survey((error.all.first ?? "") + more)
        }
    }

    private static func text(_ key: String, _ tree: JSONValue, bytesMax: Int) throws(DecodeError) -> String {
        guard let text = tree[key]?.text, text.utf8.count <= bytesMax, SurveyFields.isPlain(text) else {
            throw .keyMissing(key)
        }
        return text
    }

    // MARK: Writing

    public static func encode(_ record: SurveyRecord) -> [UInt8] {
        let (kind, own) = fields(record.kind)
        let common: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text(kind)), ("id", .text(record.id)), ("site", .text(record.site)),
            ("ts", .integer(record.ts)), ("account", .text(record.account)), ("by", .text(record.by)),
        ]
        return Array(JSONValue.object(common + own).rendered().utf8)
    }

    private static func fields(_ kind: SurveyRecord.Kind) -> (String, [JSONValue.Field]) {
        switch kind {
        case .submitted(let survey): return ("survey", [("survey", SurveyText.encode(survey))])
        case .reviewed(let survey, let basedOn, let note):
            var fields: [JSONValue.Field] = [("based_on", .integer(Int64(basedOn)))]
            if let note { fields.append(("note", .text(note))) }
            return ("review", fields + [("survey", SurveyText.encode(survey))])
        case .weather(let survey, let answers):
            return ("weather", [("survey", .text(survey)), ("answers", .list(answers.map { .text($0) }))])
        }
    }
}
