internal import Synchronization

/// Trials of rules at once: few, and one a person, so that dragging a slider does not take every thread from the others.
final class RuleTrialTurns: Sendable {
    private static let turnsMax = 2
    private let accounts = Mutex<Set<String>>([])

    /// Nil: it is not one's turn; ask again.
    func taking<R>(for account: String, _ body: () throws -> R) rethrows -> R? {
        let isMine = accounts.withLock { accounts in
            accounts.count < RuleTrialTurns.turnsMax && accounts.insert(account).inserted
        }
        guard isMine else { return nil }
        defer { accounts.withLock { _ = $0.remove(account) } }
        return try body()
    }
}
