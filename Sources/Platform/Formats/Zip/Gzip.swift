internal import CZlib

/// Packs responses (RFC 1952). Those that repeat the content of a request that another site chose are not packed: their length would
/// reveal secrets beside it (CVE-2013-3587).
public enum Gzip {
    public static func pack(_ bytes: [UInt8]) -> [UInt8] {
        var stream = unsafe z_stream()
        guard unsafe drover_gzip_begin(&stream) == Z_OK else { preconditionFailure("no memory to compress with") }
        defer { unsafe deflateEnd(&stream) }
        // With room for everything one call is enough.
        let most = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        return unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: most) { output, count in
                // zlib does not write to its input.
                unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                guard unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END else {
                    preconditionFailure("deflateBound promises room")
                }
                count = unsafe Int(stream.total_out)
            }
        }
    }
}
