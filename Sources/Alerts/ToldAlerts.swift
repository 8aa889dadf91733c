internal import Fleet

/// An alert as people were told of it: a row of drover.alert. The episode is what the readings say now; id and
/// revision say what was told before.
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
    /// How often what had been told was corrected.
    public var revision: Int32
    /// When the record that made the last correction was pushed.
    public var revisedMs: Int64?

    public init(
        id: String, firstOpenedMs: Int64, toldMs: Int64? = nil, resolvedToldMs: Int64? = nil, episode: Episode,
        isWithdrawn: Bool = false, revision: Int32 = 0, revisedMs: Int64? = nil
    ) {
        (self.id, self.firstOpenedMs, self.episode) = (id, firstOpenedMs, episode)
        (self.toldMs, self.resolvedToldMs) = (toldMs, resolvedToldMs)
        (self.isWithdrawn, self.revision, self.revisedMs) = (isWithdrawn, revision, revisedMs)
    }
}

/// What changed an alert.
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
    /// Those that `tell` changed.
    public private(set) var changedIDs: Set<String> = []

    public init(_ all: [ToldAlert] = []) { self.all = all }

    /// Leaves what readings after `lastMs` can touch: what was open then (a service may have closed it since), and what an
    /// id of theirs could be taken by.
    public func remaining(after lastMs: Int64) -> ToldAlerts {
        ToldAlerts(
            all.filter {
                !$0.isWithdrawn && ($0.episode.resolvedMs ?? .max) > lastMs || $0.firstOpenedMs >= lastMs
            })
    }

    /// Takes over an alert as it stands elsewhere, if it is one of these.
    public mutating func replace(_ alert: ToldAlert) {
        guard let index = all.firstIndex(where: { $0.id == alert.id }) else { return }
        all[index] = alert
    }

    /// Makes the alerts that `isJudged` holds true for equal to `episodes`, which are all that there are in their stead.
    /// Unchanged ones say nothing. An episode that overlaps one told takes over its id; what is left is withdrawn.
    public mutating func tell(
        _ episodes: [Episode], cause: AlertCause, isJudged: (ToldAlert) -> Bool
    ) -> [AlertTransition] {
        var free = all.indices.filter { !all[$0].isWithdrawn && isJudged(all[$0]) }
            .sorted { (all[$0].episode.openedMs, all[$0].id) < (all[$1].episode.openedMs, all[$1].id) }
        func take(_ episode: Episode, where fits: (Episode) -> Bool) -> Int? {
            let at = free.firstIndex { index in
                let told = all[index].episode
                // Trouble codes are one parameter; the name tells which it is.
                let isSame =
                    told.parameter == episode.parameter
                    && (episode.parameter != .troubleCode || told.name == episode.name)
                return isSame && fits(told)
            }
            return at.map { free.remove(at: $0) }
        }
        // The same opening first: an overlap must not take an alert from the episode that it stands for.
        var told = episodes.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }.map { episode in
            (episode: episode, index: take(episode) { $0.openedMs == episode.openedMs })
        }
        for at in told.indices where told[at].index == nil {
            let episode = told[at].episode
            told[at].index = take(episode) { $0.overlaps(episode) }
        }
        var transitions: [AlertTransition] = []
        for (episode, index) in told {
            transitions += index.map { update($0, to: episode, cause) } ?? open(episode, cause)
        }
        for index in free {
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
        guard !cause.isLate, before.openedMs == episode.openedMs else {
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
    fileprivate func overlaps(_ other: Episode) -> Bool {
        openedMs < other.resolvedMs ?? .max && other.openedMs < resolvedMs ?? .max
    }
}
