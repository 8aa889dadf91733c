public import Fleet
internal import Wire

extension Upload {
    /// Records of one site, in their order. Checked with the worker's own decoder: what is on the log it takes.
    public init(surveys records: [SurveyRecord]) throws(Fault) {
        self.init(topic: Topic.sightings)
        items = try records.map { record throws(Fault) in try Upload.item(record) }
        reasons = items.map { _ in nil }
    }

    /// Goes to the log before the others.
    public mutating func insert(survey record: SurveyRecord) throws(Fault) {
        items.insert(try Upload.item(record), at: 0)
        reasons.insert(nil, at: 0)
    }

    private static func item(_ record: SurveyRecord) throws(Fault) -> Item {
        let (key, value) = (Array(record.site.utf8), SurveyRecords.encode(record))
        do throws(DecodeError) { _ = try survey(value, key) } catch { throw .body("\(error)") }
        return Item(key: key, value: value)
    }

    private static func survey(_ value: [UInt8], _ key: [UInt8]) throws(DecodeError) -> SurveyRecords.Decoded {
        // A closure with a typed error: the standard library's own rethrows any.
        let result = unsafe value.withUnsafeBytes { value in
            unsafe key.withUnsafeBytes { key in
                Result { () throws(DecodeError) in try unsafe SurveyRecords.decode(value, key: key) }
            }
        }
        return try result.get()
    }
}
