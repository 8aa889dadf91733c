internal import CLibpq
internal import Glibc

/// A notification for a session that listens.
package struct Notification: Equatable, Sendable {
    package let channel: String
    package let payload: String
}

extension Connection {
    /// From now on `notifications` tells what `NOTIFY` says on this channel.
    ///
    /// Precondition: the channel is a name of the program's own, for it stands in the statement as it is.
    package func listen(to channel: String) throws {
        precondition(channel.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }, "no name: \(channel)")
        try execute("LISTEN \(channel)")
    }

    /// Waits for notifications of the channels that this session listens to, at most `timeoutMs`; empty when there was
    /// none. Those that came during other statements are handed out first, without waiting.
    ///
    /// Also a cheap check that the session is alive: with 0 it sends nothing to the server.
    /// - Throws: `PostgresError` when the connection is lost.
    package func notifications(timeoutMs: Int32) throws -> [Notification] {
        var taken = try drainNotifications()
        guard taken.isEmpty, timeoutMs > 0 else { return taken }
        var socket = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
        // A signal ends the wait early: the caller looks at its own flag and comes again.
        if unsafe poll(&socket, 1, timeoutMs) > 0 { taken = try drainNotifications() }
        return taken
    }

    private func drainNotifications() throws -> [Notification] {
        guard unsafe PQconsumeInput(handle) == 1, isOpen else {
            throw PostgresError(
                sqlState: "", message: unsafe PostgresError.text(PQerrorMessage(handle)), isConnectionLost: true)
        }
        var taken: [Notification] = []
        while let notify = unsafe PQnotifies(handle) {
            unsafe taken.append(
                Notification(
                    channel: String(cString: notify.pointee.relname), payload: String(cString: notify.pointee.extra)))
            unsafe PQfreemem(notify)
        }
        return taken
    }
}
