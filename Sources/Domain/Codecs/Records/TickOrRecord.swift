/// A message of a topic that holds ticks beside records of one kind.
public enum TickOrRecord<Record> {
    case tick(Tick)
    case record(Record)

    public typealias Decode = (_ value: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) throws(DecodeError) ->
        TickOrRecord

    /// Decodes a message that is not on the log yet as it will be decoded there.
    public init(_ value: [UInt8], key: [UInt8], _ decode: Decode) throws(DecodeError) {
        // A closure with a typed error: the standard library's own rethrows any.
        let result = unsafe value.withUnsafeBytes { value in
            unsafe key.withUnsafeBytes { key in
                Result { () throws(DecodeError) in try unsafe decode(value, key) }
            }
        }
        self = try result.get()
    }
}

extension TickOrRecord: Sendable where Record: Sendable {}
extension TickOrRecord: Equatable where Record: Equatable {}
