public import Fleet
internal import Wire

extension Upload {
    /// Records of one campus, in their order. Checked with the worker's own decoder: what is on the log it takes.
    public init(rides records: [RideRecord]) throws(Fault) {
        self.init(topic: Topic.dispatch)
        for record in records {
            let (key, value) = (Array(record.campus.utf8), RideRecords.encode(record))
            do throws(DecodeError) {
                _ = try Upload.decoded(value, key)
            } catch {
                throw .body("\(error)")
            }
            items.append(Item(key: key, value: value))
            reasons.append(nil)
        }
    }

    private static func decoded(_ value: [UInt8], _ key: [UInt8]) throws(DecodeError) -> RideRecords.Decoded {
        // A closure with a typed error: the standard library's own rethrows any.
        let result = unsafe value.withUnsafeBytes { value in
            unsafe key.withUnsafeBytes { key in
                Result { () throws(DecodeError) in try unsafe RideRecords.decode(value, key: key) }
            }
        }
        return try result.get()
    }
}
