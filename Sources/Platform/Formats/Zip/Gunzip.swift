internal import CZlib

/// Unpacks a body that came with `Content-Encoding: gzip` (RFC 1952).
public enum Gunzip {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notGzip
        case cutOff
        /// A few bytes can be made to unpack to gigabytes.
        case tooLarge(most: Int)

        public var description: String {
            switch self {
            case .notGzip: "the body is no gzip stream, or is damaged"
            case .cutOff: "the body's gzip stream is cut off"
            case .tooLarge(let most): "the body unpacks to more than \(most) bytes; send less at once"
            }
        }
    }

    /// Several members in a row are one text, as gzip itself has it.
    public static func unpack(_ bytes: [UInt8], bytesMax: Int) throws(Fault) -> [UInt8] {
        var (out, rest) = ([UInt8](), bytes[...])
        repeat {
            let used = try member(rest, into: &out, bytesMax: bytesMax)
            rest = rest.dropFirst(used)
        } while !rest.isEmpty
        return out
    }

    /// Returns how many bytes the member has.
    private static func member(
        _ bytes: ArraySlice<UInt8>, into out: inout [UInt8], bytesMax: Int
    ) throws(Fault) -> Int {
        var stream = unsafe z_stream()
        guard unsafe drover_gunzip_begin(&stream) == Z_OK else { throw .notGzip }
        defer { unsafe inflateEnd(&stream) }

        let fault = unsafe bytes.withUnsafeBufferPointer { input -> Fault? in
            // zlib does not write to its input.
            unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.avail_in = UInt32(input.count)
            while true {
                var (code, made) = (Z_OK, 0)
                let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                    unsafe stream.next_out = buffer.baseAddress
                    unsafe stream.avail_out = UInt32(buffer.count)
                    unsafe code = inflate(&stream, Z_NO_FLUSH)
                    unsafe made = buffer.count - Int(stream.avail_out)
                    count = made
                }
                out += chunk
                if out.count > bytesMax { return .tooLarge(most: bytesMax) }
                switch code {
                case Z_STREAM_END: return nil
                // It wants more input and there is none.
                case Z_BUF_ERROR: return .cutOff
                case Z_OK: if unsafe stream.avail_in == 0, made == 0 { return .cutOff }
                default: return .notGzip
                }
            }
        }
        if let fault { throw fault }
        return unsafe bytes.count - Int(stream.avail_in)
    }
}
