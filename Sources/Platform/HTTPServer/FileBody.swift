internal import CMicrohttpd
internal import Glibc

/// An open file, of which answers send parts straight from the system's cache: no thread waits and nothing is held in memory.
/// The file must not change while it is here.
@safe
package final class FileBody: Sendable {
    private let descriptor: Int32
    package let count: Int

    /// - Parameter descriptor: taken over, and closed with this.
    package init(descriptor: Int32, count: Int) {
        precondition(descriptor >= 0 && count >= 0)
        self.descriptor = descriptor
        self.count = count
    }

    deinit { _ = close(descriptor) }

    /// The library's answer that sends `range`.
    func answer(_ range: Range<Int>) -> OpaquePointer? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a part of another file")
        // The library closes its own when the answer is gone.
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        let made = unsafe MHD_create_response_from_fd_at_offset64(UInt64(range.count), own, UInt64(range.lowerBound))
        if unsafe made == nil { _ = close(own) }
        return unsafe made
    }
}
