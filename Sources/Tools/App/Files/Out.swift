internal import Foundation
internal import Synchronization
package import Telemetry

/// Results go to standard output, everything else to standard error.
package enum Out {
    /// A line end is added where there is none. Bytes decide: to Swift a CRLF is one character that does not end in LF.
    package static func result(_ text: String) {
        write(Data((text.utf8.last == 0x0A ? text : text + "\n").utf8), to: FileHandle.standardOutput)
    }
    /// As they are.
    package static func result(_ bytes: [UInt8]) { write(Data(bytes), to: FileHandle.standardOutput) }
    /// A line of the log where that is one for programs; the level counts there.
    package static func note(_ text: String, level: Log.Level = .info) {
        guard ServiceRoles.logFormat.withLock({ $0 }) == .text else {
            return Log(level: .debug, format: .json).log(level, text)
        }
        write(Data((text + "\n").utf8), to: FileHandle.standardError)
    }

    private static func write(_ data: Data, to handle: FileHandle) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Foundation.write(handle.fileDescriptor, bytes.baseAddress!, bytes.count)
            }
            let failure = errno
            if count >= 0 { rest = rest.dropFirst(count) }
            guard count < 0, failure != EINTR else { continue }
            // The reader is gone (`| head`): that is no news to anybody.
            if failure != EPIPE, handle.fileDescriptor != STDERR_FILENO {
                note("standard output cannot be written: \(unsafe String(cString: strerror(failure)))")
            }
            exit(1)
        }
    }
}
