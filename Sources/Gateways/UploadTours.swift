public import Fleet
internal import Wire

extension Upload {
    /// Downloads and visits, each keyed by its tour. Checked with the worker's own decoder: what is on the log it takes.
    public init(tours events: [TourEvent]) throws(Fault) {
        self.init(topic: Topic.tours)
        for event in events {
            let (key, value) = (Array(event.tour.utf8), TourRecords.encode(event))
            do throws(DecodeError) { _ = try Upload.tour(value, key) } catch { throw .body("\(error)") }
            items.append(Item(key: key, value: value))
            reasons.append(nil)
        }
    }

    private static func tour(_ value: [UInt8], _ key: [UInt8]) throws(DecodeError) -> TourRecords.Decoded {
        // A closure with a typed error: the standard library's own rethrows any.
        let result = unsafe value.withUnsafeBytes { value in
            unsafe key.withUnsafeBytes { key in
                Result { () throws(DecodeError) in try unsafe TourRecords.decode(value, key: key) }
            }
        }
        return try result.get()
    }
}
