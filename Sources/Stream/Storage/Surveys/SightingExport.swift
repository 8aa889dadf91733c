internal import Basics
package import Fleet

/// Which sightings and walks leave, and what of them. The views are `drover.sighting_shown`,
/// `drover.survey_shown` and those with all of it (`…_exact`).
package struct SightingExport: Sendable {
    /// Things that the reader may see beside what everybody may.
    package struct Sight: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }
        /// Names, mail and phone of surveyors.
        package static let people = Sight(rawValue: 1)
        /// Sensitive species as they were found.
        package static let places = Sight(rawValue: 2)
    }

    /// The meaning of a row of a table or of a feature.
    package enum Rows: String, CaseIterable, Sendable {
        case sightings
        /// Walks, also those that found nothing.
        case surveys

        /// The form that `after` must have.
        package var afterForm: String {
            switch self {
            case .sightings: "STARTED_AT/SITE/SURVEY/SIGHTING"
            case .surveys: "STARTED_AT/SITE/SURVEY"
            }
        }
    }

    /// Where an export goes on: behind all surveys that began earlier, or behind one row.
    package struct After: Equatable, Sendable {
        package let startMs: Int64
        package let row: Row?
        package struct Row: Equatable, Sendable {
            package let site, survey: String
            /// Nil: the row is a walk.
            package let sighting: Int32?
        }

        package init(startMs: Int64) { (self.startMs, row) = (startMs, nil) }

        /// A time or `rows.afterForm`, the time being `started_at`; nil for anything else.
        package init?(_ text: String, _ rows: Rows) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard let startMs = UTC.parse(parts[0]) else { return nil }
            self.startMs = startMs
            guard parts.count > 1 else {
                row = nil
                return
            }
            guard parts.count == (rows == .surveys ? 3 : 4), VehicleID.isValid(parts[1].utf8),
                VehicleID.isValid(parts[2].utf8)
            else { return nil }
            let sighting = parts.count == 4 ? Int32(parts[3]) : nil
            guard rows == .surveys || sighting != nil else { return nil }
            row = Row(site: parts[1], survey: parts[2], sighting: sighting)
        }
    }

    package struct Circle: Equatable, Sendable {
        package let middle: Position
        package let metres: Double

        /// `LAT,LON,KM`, at most 2,000 km; nil for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: ",").map(String.init)
            guard parts.count == 3, let middle = Position(text: parts[0] + "," + parts[1]),
                let km = Double(parts[2]), km > 0, km <= 2_000
            else { return nil }
            self.middle = middle
            metres = km * 1_000
        }
    }

    /// South, west, north and east in degrees; over 180° where the west is greater than the east.
    package struct Box: Equatable, Sendable {
        package let southWest, northEast: Position

        /// `SOUTH,WEST,NORTH,EAST`; nil for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4, let southWest = Position(text: parts[0] + "," + parts[1]),
                let northEast = Position(text: parts[2] + "," + parts[3]), southWest.latitude <= northEast.latitude
            else { return nil }
            self.southWest = southWest
            self.northEast = northEast
        }
    }

    /// The reader. The database holds people to it: the views `drover.seen_…`.
    package enum Reader: Sendable {
        case program
        /// Somebody who is logged in, and sees the sightings of all.
        case person
        /// Somebody who is logged in, and sees what he handed in.
        case surveyor
    }

    package var sight: Sight
    package var reader = Reader.program
    /// Accepted names; empty: all.
    package var species: [String] = []
    /// With all that the taxonomy has below it; any name of it.
    package var taxon: String?
    package var site: String?
    package var behaviour: String?
    /// Takes `Sight.people`.
    package var surveyor: String?
    package var circle: Circle?
    package var box: Box?
    /// Seen from, and before, epoch milliseconds.
    package var fromMs: Int64?
    package var toMs: Int64?
    package var after: After?

    package init(sight: Sight) { self.sight = sight }

    /// Something is asked of sightings that not every walk has.
    var choosesSightings: Bool {
        !takesBareWalks || circle != nil || box != nil || fromMs != nil || toMs != nil
    }
    /// A walk can fit that has no sighting.
    var takesBareWalks: Bool { species.isEmpty && taxon == nil && behaviour == nil }
}
