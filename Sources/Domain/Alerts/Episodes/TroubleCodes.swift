public import Fleet

/// Trouble codes as alerts: one an episode, from the scan that first shows it to the first later one without it. A scan
/// that the car did not answer says nothing.
public enum TroubleCodes {
    /// The codes of a car that answered: stored, pending and permanent.
    public struct Scan: Equatable, Sendable {
        public let ts: Int64
        public let id: String
        public let codes: Set<String>
        public init(ts: Int64, id: String, codes: Set<String>) { (self.ts, self.id, self.codes) = (ts, id, codes) }
    }

    static let prefix = MachineParameter.troubleCode.row.name + " "

    /// All episodes of all the car's scans, in the order of their openings. Any order of `scans` gives the same.
    public static func episodes(
        vehicle: VehicleID, scans: [Scan], _ context: DriverContext
    ) -> [Episode] {
        var (over, open): ([Episode], [String: Episode]) = ([], [:])
        for scan in scans.sorted(by: { ($0.ts, $0.id) < ($1.ts, $1.id) }) {
            let account = context.judge(at: scan.ts)
            let rules = account.flatMap { context.rules[$0] }
            let settings = rules?.inForce(at: scan.ts).settings
            let isJudged = settings.map { $0.isOn(.alerts) && $0.isOn(.codesAlert) } ?? false
            let codes = isJudged ? scan.codes : []
            for (code, episode) in open where !codes.contains(code) {
                over.append(AlertFold.resolved(episode, scan.ts))
                open[code] = nil
            }
            guard let account, let version = rules?.timeline.inForce(at: scan.ts).version else { continue }
            for code in codes where open[code] == nil {
                open[code] = episode(code, of: vehicle, account: account, openedMs: scan.ts, version)
            }
        }
        return (over + open.values).sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
    }

    private static func episode(
        _ code: String, of vehicle: VehicleID, account: String, openedMs: Int64, _ version: String
    ) -> Episode {
        let name = prefix + code
        return Episode(
            id: Episode.id(vehicle, .troubleCode, name: name, openedMs: openedMs), vehicle: vehicle, model: account,
            parameter: .troubleCode, name: name, unit: "", severity: .warning, state: .open, test: .above,
            threshold: nil, sinceMs: openedMs, openedMs: openedMs, openingValue: nil, worstValue: nil,
            worstMs: openedMs, resolvedMs: nil, audience: .farmer, recommended: nil,
            advice: "Look the code up in the car's health scan.", rulesVersion: version)
    }
}
