/// The one of many members that makes a piece of work fail, found by doing it with some of them only.
package enum FailureBisection<Member: Sendable> {
    package enum Finding: Sendable {
        /// With all of them it can be done.
        case nobody
        /// It is no member's own fault: it fails without any, or each can be done alone.
        case noMember(reason: String)
        case found([(member: Member, reason: String)])
        /// These, and there may be others: nobody looked further.
        case tooMany([(member: Member, reason: String)])
    }

    /// - Parameters:
    ///   - most: with more than these the search ends.
    ///   - fails: does the work with these members, and undoes it; why it fails, or nil.
    ///
    /// With `k` culprits among `n` it is called at most 3 + k (2 log2 n + 3) times.
    package static func find(
        among members: [Member], most: Int, fails: ([Member]) throws -> String?
    ) rethrows -> Finding {
        guard let reason = try fails(members) else { return .nobody }
        if let reason = try fails([]) { return .noMember(reason: reason) }
        var found: [(member: Member, reason: String)] = []
        // Each part fails, or is the other half of one that does.
        var parts = [members[...]]
        while let part = parts.popLast(), found.count <= most {
            if part.count == 1 {
                if let reason = try fails(Array(part)) { found.append((part.first!, reason)) }
                continue
            }
            let middle = part.startIndex + part.count / 2
            let (first, second) = (part[..<middle], part[middle...])
            let isInFirst = try fails(Array(first)) != nil
            let isInSecond = try !isInFirst || fails(Array(second)) != nil
            if isInSecond { parts.append(second) }
            if isInFirst { parts.append(first) }
        }
        if found.isEmpty { return .noMember(reason: reason) }
        return found.count > most ? .tooMany(found) : .found(found)
    }
}
