/// Decisions as text for a record, with all that a replay needs: `expired=a,b|bus-1=12p 13p 12d|bus-2=`, separated by `;`. Ids contain
/// none of these characters.
public enum DecisionText {
    public static func encode(_ decisions: [Decision]) -> String {
        decisions.map { decision in
            let itineraries = decision.itineraries.map { itinerary in
                let stops = itinerary.stops.map { "\($0.rank)\($0.kind == .pickup ? "p" : "d")" }
                return itinerary.vehicle + "=" + stops.joined(separator: " ")
            }
            return (["expired=" + decision.expired.joined(separator: ",")] + itineraries).joined(separator: "|")
        }.joined(separator: ";")
    }

    /// Nil: this is no such text.
    public static func decode(_ text: String) -> [Decision]? {
        var decisions: [Decision] = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            var decision = Decision(outcome: .done)
            for (index, field) in part.split(separator: "|", omittingEmptySubsequences: false).enumerated() {
                let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2 else { return nil }
                if index == 0 {
                    guard sides[0] == "expired" else { return nil }
                    decision.expired = sides[1].split(separator: ",").map(String.init)
                } else {
                    let stops = sides[1].split(separator: " ").map(stop)
                    guard !stops.contains(nil) else { return nil }
                    decision.itineraries.append(.init(vehicle: String(sides[0]), stops: stops.compactMap { $0 }))
                }
            }
            decisions.append(decision)
        }
        return decisions
    }

    private static func stop(_ text: Substring) -> Stop? {
        guard let rank = Int64(text.dropLast()), rank > 0, text.last == "p" || text.last == "d" else { return nil }
        return Stop(rank: rank, kind: text.last == "p" ? .pickup : .dropoff)
    }
}

extension Campus {
    /// Whether the event leads to a decision: it is not refused, and more than a place changes.
    public func isDecided(_ event: DispatchEvent, atMs: Int64) -> Bool {
        var copy = self
        guard let effect = try? copy.absorb(event, atMs: atMs) else { return false }
        return !effect.isQuiet
    }
}
