import Basics

/// An event on a tour, told by a visitor's phone, usually later when it has a network again. A record on `drover.tours`, keyed by the
/// tour. It identifies nobody: the phone makes a random id.
public struct TourEvent: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The package was downloaded whole.
        case download
        /// The visitor was at a waypoint.
        case visit(waypoint: String)
    }

    /// Id of this event: sent again it counts once.
    public var id: String
    public var tour: String
    public var version: Int
    /// Epoch milliseconds, by the phone's clock.
    public var ts: Int64
    /// Local time there minus UTC: the date of the visit is the visitor's.
    public var offsetMin: Int
    public var kind: Kind

    public init(id: String, tour: String, version: Int, ts: Int64, offsetMin: Int, kind: Kind) {
        self.id = id
        self.tour = tour
        self.version = version
        self.ts = ts
        self.offsetMin = offsetMin
        self.kind = kind
    }

    public static let versionMax = 1_000_000
    /// Local times are UTC-12 to UTC+14.
    public static let offsets = -720...840

    /// Days since 1970-01-01, where the visitor was.
    public var localDay: Int64 { UTC.day(of: ts + Int64(offsetMin) * 60_000) / 86_400_000 }

    /// The kind of event that phones tell of tours, as it stands in the tables.
    public enum Word: String, CaseIterable, Sendable { case download, visit }

    public var word: Word {
        switch kind {
        case .download: .download
        case .visit: .visit
        }
    }

    public var waypoint: String? { if case .visit(let waypoint) = kind { waypoint } else { nil } }
}
