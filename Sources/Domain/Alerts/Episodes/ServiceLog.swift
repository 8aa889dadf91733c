internal import Fleet

/// The services recorded of one machine, by the times at which they were done; one a time. Whatever the order in which
/// they are recorded, the same ones make the same log.
public struct ServiceLog: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public let doneMs: Int64
        /// Engine hours at the service, in thousandths.
        public let atHours: Int64
        /// The record's id: of two services of one time the larger id counts.
        public let id: String
        public init(doneMs: Int64, atHours: Int64, id: String) {
            self.doneMs = doneMs
            self.atHours = atHours
            self.id = id
        }
    }

    public static let none = ServiceLog([])

    public private(set) var entries: [Entry] = []

    public init(_ entries: some Sequence<Entry>) { for entry in entries { _ = insert(entry) } }

    /// Nil when every reading is judged as before; else the readings whose last service has changed. The service may also close alerts
    /// that are open after the last reading.
    public mutating func insert(_ entry: Entry) -> RuleTimeline.Effect? {
        let index = entries.firstIndex { $0.doneMs >= entry.doneMs } ?? entries.count
        if index < entries.count, entries[index].doneMs == entry.doneMs {
            let before = entries[index]
            guard (before.id, before.atHours) < (entry.id, entry.atHours) else { return nil }
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
        let next = index + 1 < entries.count ? entries[index + 1].doneMs : nil
        return RuleTimeline.Effect(fromMs: entry.doneMs, untilMs: next)
    }

    func last(at ts: Int64) -> Entry? { entries.last { $0.doneMs <= ts } }
}

extension AlertFold {
    /// The service alerts that a service after the last reading has closed, as it was done. Before `endMs`.
    public func served(_ services: ServiceLog, rules: RuleTimeline, before endMs: Int64 = .max) -> [Episode] {
        guard let last, let service = services.entries.first(where: { $0.doneMs > last.ts && $0.doneMs < endMs }) else {
            return []
        }
        return open.compactMap { episode in
            guard episode.test != .absent else { return nil }
            let judged = rules.inForce(at: last.ts).judged(last.model, episode.vehicle)
            guard judged.contains(where: { $0.parameter == episode.parameter && $0.threshold.every != nil }) else {
                return nil
            }
            return AlertFold.resolved(episode, service.doneMs)
        }
    }
}
