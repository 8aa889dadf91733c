internal import CZlib

/// Compresses a stream of bytes (RFC 1951) without holding more of it than it needs.
@safe
final class Deflater {
    private static let chunkBytes = 64 << 10
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // Only a lack of memory fails here.
        guard unsafe drover_deflate_begin(stream) == Z_OK else { preconditionFailure("no memory to compress with") }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The compressed output so far; with `isLast` also everything that is still buffered.
    func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var (out, isMore): ([UInt8], Bool) = ([], true)
        unsafe bytes.withUnsafeBufferPointer { input in
            // zlib does not write to its input.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            while isMore {
                out += unsafe [UInt8](unsafeUninitializedCapacity: Deflater.chunkBytes) { buffer, count in
                    unsafe stream.pointee.next_out = buffer.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(buffer.count)
                    _ = unsafe deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    unsafe count = buffer.count - Int(stream.pointee.avail_out)
                    // A buffer that is full may have more behind it.
                    isMore = unsafe stream.pointee.avail_out == 0
                }
            }
        }
        return out
    }
}
