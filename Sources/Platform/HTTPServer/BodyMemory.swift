internal import Synchronization

/// For whom a body is held.
package enum BodyOwner: Hashable, Sendable {
    case address(String)
    case account(String)
}

/// Bytes of the bodies that are being received or handled, in all and per client. The larger a body is, the more room it must leave to
/// others: whoever uses up the room of large bodies keeps nobody from logging in or sending a reading.
package final class BodyMemory: Sendable {
    private struct State {
        var inAll = 0
        var byHolder: [BodyOwner: Int] = [:]
    }

    private let limits: Limits
    private let state = Mutex(State())

    package init(_ limits: Limits) { self.limits = limits }

    /// Nil: the bytes are reserved until they are released.
    /// - Parameter size: of the whole body, as far as it is known.
    package func reserve(_ count: Int, of size: Int, for holder: BodyOwner) -> Response? {
        let (inAllMax, ownMax) = (inAllMax(size), ownMax(holder))
        return state.withLock { state in
            let own = state.byHolder[holder, default: 0] + count
            if own > ownMax { return Refusal.busyOfOne }
            if state.inAll + count > inAllMax { return Refusal.busy }
            state.inAll += count
            state.byHolder[holder] = own
            return nil
        }
    }

    package func release(_ count: Int, of holder: BodyOwner) {
        guard count > 0 else { return }
        state.withLock { state in
            state.inAll -= count
            let own = state.byHolder[holder, default: 0] - count
            state.byHolder[holder] = own > 0 ? own : nil
        }
    }

    package var inAll: Int { state.withLock(\.inAll) }

    private func inAllMax(_ size: Int) -> Int {
        if size <= limits.smallBodyBytes { return limits.allBodiesBytesMax }
        let room = size <= limits.bodyBytesMax ? limits.roomForSmallBytes : limits.roomForUsualBytes
        return limits.allBodiesBytesMax - room
    }

    private func ownMax(_ holder: BodyOwner) -> Int {
        switch holder {
        case .address: limits.bodiesPerAddressBytesMax
        case .account: limits.bodiesPerAccountBytesMax
        }
    }
}
