internal import Basics
internal import Fleet

/// An alert as people were told of it: a row of drover.alert. The episode is the present result of the readings; id and revision belong to
/// what was told before.
public struct ToldAlert: Equatable, Sendable {
    /// Made of the opening that was told first; it stays when late data moves the opening.
    public let id: String
    public let firstOpenedMs: Int64
    /// When the records that told first of its opening, and of its end as it is now, were pushed; nil: not known.
    public let toldMs: Int64?
    public internal(set) var resolvedToldMs: Int64?
    public var episode: Episode
    /// Late data took it back: the readings do not say so any more. The episode is the last one told.
    public var isWithdrawn: Bool
    /// The number of corrections after it was told.
    public var revision: Int32
    /// When the record that made the last correction was pushed.
    public var revisedMs: Int64?

    public var state: AlertState { isWithdrawn ? .withdrawn : AlertState(episode.state) }

    public init(
        id: String, firstOpenedMs: Int64, toldMs: Int64? = nil, resolvedToldMs: Int64? = nil, episode: Episode,
        isWithdrawn: Bool = false, revision: Int32 = 0, revisedMs: Int64? = nil
    ) {
        self.id = id
        self.firstOpenedMs = firstOpenedMs
        self.episode = episode
        self.toldMs = toldMs
        self.resolvedToldMs = resolvedToldMs
        self.isWithdrawn = isWithdrawn
        self.revision = revision
        self.revisedMs = revisedMs
    }
}

extension ToldAlert {
    /// Readings after `lastMs` can touch it, or tell of an alert of its id: it was not over then (a service may have closed
    /// it since) or opened later; or so it was when what is still open opened, which may not have been told.
    public func isReached(after lastMs: Int64, open: [Episode]) -> Bool {
        func isReached(_ ms: Int64) -> Bool {
            firstOpenedMs >= ms || !isWithdrawn && episode.resolvedMs ?? .max > ms
        }
        return isReached(lastMs) || open.contains { $0.isOfSame(as: episode) && isReached($0.openedMs) }
    }
}

/// The cause of a change to an alert.
public struct AlertCause: Equatable, Sendable {
    /// The broker's time stamp of the record.
    public let pushedMs: Int64
    /// A reading that is not later than the machine's latest, or rules for readings already judged.
    public let isLate: Bool
    public init(pushedMs: Int64, isLate: Bool) { (self.pushedMs, self.isLate) = (pushedMs, isLate) }
}

/// The alerts told of one machine, as far back as judging again can reach.
public struct ToldAlerts: Equatable, Sendable {
    public private(set) var all: [ToldAlert]
    /// The alerts that `tell` changed.
    public private(set) var changedIDs: Set<String> = []

    public init(_ all: [ToldAlert] = []) { self.all = all }

    /// Leaves what readings after a state can touch.
    public func remaining(after state: AlertFold) -> ToldAlerts {
        ToldAlerts(all.filter { $0.isReached(after: state.lastMs ?? .min, open: state.open) })
    }

    /// Adopts an alert from elsewhere if readings after `state` can change it.
    public mutating func adopt(_ alert: ToldAlert, after state: AlertFold) {
        if let index = all.firstIndex(where: { $0.id == alert.id }) {
            all[index] = alert
        } else if alert.isReached(after: state.lastMs ?? .min, open: state.open) {
            all.append(alert)
        }
    }

    /// The alerts in `changedIDs`, by id.
    public var changed: [ToldAlert] { all.filter { changedIDs.contains($0.id) }.sorted { $0.id < $1.id } }

    /// How episodes relate to an alert that was told.
    public enum Reach: Sendable {
        /// They do not touch it.
        case untouched
        /// One of them stands in its place, or it is withdrawn.
        case judged
        /// One of them may stand in its place; else a later one decides.
        case goingOn
        /// The one with its own opening may stand in its place; else a later one decides.
        case reserved
    }

    /// Replaces the alerts by `episodes`, which are complete. Unchanged ones are not told. An episode that overlaps a told alert takes
    /// over its id; the remaining alerts are withdrawn.
    public mutating func tell(
        _ episodes: [Episode], cause: AlertCause, isJudged: (ToldAlert) -> Bool
    ) -> [AlertTransition] {
        tell(episodes, cause: cause) { isJudged($0) ? .judged : .untouched }
    }

    public mutating func tell(
        _ episodes: [Episode], cause: AlertCause, reach: (ToldAlert) -> Reach
    ) -> [AlertTransition] {
        let reaches = all.map { $0.isWithdrawn ? .untouched : reach($0) }
        var free = all.indices.filter { reaches[$0] != .untouched }
            .sorted { (all[$0].episode.openedMs, all[$0].id) < (all[$1].episode.openedMs, all[$1].id) }
        func remove(where fits: (Int) -> Bool) -> Int? { free.firstIndex(where: fits).map { free.remove(at: $0) } }
        // The same opening first: an overlap must not take an alert from the episode that it stands for.
        var told = episodes.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }.map { episode in
            let index = remove { index in
                all[index].episode.isOfSame(as: episode) && all[index].episode.openedMs == episode.openedMs
            }
            return (episode: episode, index: index)
        }
        for at in told.indices where told[at].index == nil {
            let episode = told[at].episode
            told[at].index = remove { reaches[$0] != .reserved && all[$0].episode.competes(with: episode) }
        }
        var transitions: [AlertTransition] = []
        for (episode, index) in told {
            transitions += index.map { update($0, to: episode, cause) } ?? open(episode, cause)
        }
        for index in free where reaches[index] == .judged {
            correct(index, cause)
            all[index].isWithdrawn = true
            changedIDs.insert(all[index].id)
            transitions.append(AlertTransition(.withdrawn, all[index], cause))
        }
        return transitions
    }

    private mutating func correct(_ index: Int, _ cause: AlertCause) {
        all[index].revision += 1
        all[index].revisedMs = UTC.stamp(cause.pushedMs)
    }

    private mutating func update(_ index: Int, to episode: Episode, _ cause: AlertCause) -> [AlertTransition] {
        let before = all[index].episode
        guard before != episode else { return [] }
        replace(index, by: episode, cause)
        // An alert that ended before and now has not, or ended at another time, is a correction, whatever caused it.
        guard !cause.isLate, before.openedMs == episode.openedMs, before.resolvedMs == nil else {
            correct(index, cause)
            return [AlertTransition(.revised, all[index], cause)]
        }
        let isDue = before.state == .dueSoon && episode.state == .open
        var kinds: [AlertTransition.Kind] = before.severity != episode.severity || isDue ? [.worse] : []
        if before.state != episode.state, episode.state == .resolved { kinds.append(.resolved) }
        return kinds.map { AlertTransition($0, all[index], cause) }
    }

    private mutating func replace(_ index: Int, by episode: Episode, _ cause: AlertCause) {
        if all[index].episode.resolvedMs != episode.resolvedMs {
            all[index].resolvedToldMs = episode.resolvedMs.flatMap { _ in UTC.stamp(cause.pushedMs) }
        }
        all[index].episode = episode
        changedIDs.insert(all[index].id)
    }

    /// An alert that is told for the first time, or again after it was withdrawn.
    private mutating func open(_ episode: Episode, _ cause: AlertCause) -> [AlertTransition] {
        var (id, count) = (episode.id, 1)
        while let index = all.firstIndex(where: { $0.id == id }) {
            if all[index].isWithdrawn {
                replace(index, by: episode, cause)
                all[index].isWithdrawn = false
                correct(index, cause)
                return [AlertTransition(.revised, all[index], cause)]
            }
            // The alert that was told first with this opening has moved elsewhere.
            count += 1
            id = "\(episode.id)-\(count)"
        }
        let (isOver, toldMs) = (episode.state == .resolved, UTC.stamp(cause.pushedMs))
        let alert = ToldAlert(
            id: id, firstOpenedMs: episode.openedMs, toldMs: toldMs, resolvedToldMs: isOver ? toldMs : nil,
            episode: episode)
        all.append(alert)
        changedIDs.insert(id)
        return (isOver ? [.opened, .resolved] : [.opened]).map { AlertTransition($0, alert, cause) }
    }
}

extension Episode {
    func isOfSame(as other: Episode) -> Bool {
        // Trouble codes are one parameter; the name tells which it is.
        parameter == other.parameter && (parameter != .troubleCode || name == other.name)
    }

    /// It is of the same parameter, and both say something of one time: they cannot both be so.
    public func competes(with other: Episode) -> Bool {
        isOfSame(as: other) && openedMs < other.resolvedMs ?? .max && other.openedMs < resolvedMs ?? .max
    }
}
