public import Fleet
internal import Wire

extension Upload {
    /// Records of one site, in their order. Checked with the worker's own decoder: what is on the log it takes.
    public init(surveys records: [SurveyRecord]) throws(Fault) {
        self.init(topic: Topic.sightings)
        for record in records {
            let (key, value) = (Array(record.site.utf8), SurveyRecords.encode(record))
            do throws(DecodeError) {
                _ = try Upload.survey(value, key)
            } catch {
                throw .body("\(error)")
            }
            items.append(Item(key: key, value: value))
            reasons.append(nil)
        }
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
