/// A survey of one site with its sightings, as its surveyors hand it in: whole, or not at all.
public struct Survey: Equatable, Sendable {
    /// The client's own id of it; with the site it names one survey for good.
    public var survey: String
    public var site: String
    public var siteName: String?
    public var route: String?
    /// Epoch milliseconds.
    public var startMs: Int64
    public var stopMs: Int64
    /// How far the surveyors' clocks were ahead of UTC; times are written with it.
    public var offsetMin: Int
    /// The place, by its surveyors: a site's place where no path is given.
    public var place: Position?
    /// In the order walked.
    public var waypoints: [Waypoint] = []
    public var sections: [Section] = []
    public var surveyors: [Surveyor] = []
    /// The number of observers when none is named.
    public var observers: Int?
    /// `pollard-walk` is judged by its rules; any other is kept as it is called.
    public var surveyProtocol: String?
    /// Northern upland: the Pollard walk's lowest temperature is lower there.
    public var isUpland = false
    public var comments: String?
    /// The collector that it is meant for, where its account passes surveys on; nil: whichever the operator has set.
    public var forwardTo: String?
    /// As the surveyors measured it.
    public var weather = OwnWeather()
    public var sightings: [Sighting] = []
    /// Fields that are not known here: kept and exported.
    public var others: [OtherField] = []

    public init(survey: String, site: String, startMs: Int64, stopMs: Int64, offsetMin: Int) {
        self.survey = survey
        self.site = site
        self.startMs = startMs
        self.stopMs = stopMs
        self.offsetMin = offsetMin
    }

    /// A field of a name that is not known here, with its value as JSON without blanks; in the order of their names.
    public struct OtherField: Equatable, Sendable {
        public let key: String
        public let json: String
        public init(key: String, json: String) { (self.key, self.json) = (key, json) }
    }

    public struct Waypoint: Equatable, Sendable {
        public var place: Position
        /// When it was passed; nil: not noted.
        public var atMs: Int64?
        public var others: [OtherField] = []
        public init(place: Position, atMs: Int64?) { (self.place, self.atMs) = (place, atMs) }
    }

    /// A stretch of the route.
    public struct Section: Equatable, Sendable {
        public var section: String
        public var distanceMm: Int64?
        public var habitat: String?
        public var others: [OtherField] = []
        public init(section: String, distanceMm: Int64?, habitat: String?) {
            self.section = section
            self.distanceMm = distanceMm
            self.habitat = habitat
        }
    }

    /// A person. Mail and phone leave only to whoever may see them.
    public struct Surveyor: Equatable, Sendable {
        public enum Role: String, CaseIterable, Sendable { case recorder, observer }
        public var name: String
        public var role: Role
        public var expertise: String?
        public var mail: String?
        public var phone: String?
        public var others: [OtherField] = []
        public init(name: String, role: Role) { (self.name, self.role) = (name, role) }
    }

    /// Weather that people measured or saw themselves, apart from a service's. In thousandths of the unit.
    public struct OwnWeather: Equatable, Sendable {
        public var temperatureC: Int64?
        public var windSpeedMps: Int64?
        /// The Beaufort scale, 0 to 12, in whole steps.
        public var windBeaufort: Int?
        /// Where it comes from, degrees from north.
        public var windDirectionDeg: Int64?
        public var cloudCoverPct: Int64?
        /// Share of the walk with sun; not the complement of the clouds.
        public var sunPct: Int64?
        public var isRaining: Bool?
        public var others: [OtherField] = []
        public init() {}
        public var isEmpty: Bool { self == OwnWeather() }
    }
}

/// One or more animals of a kind, at one place and time of a survey.
public struct Sighting: Equatable, Sendable {
    public enum Behaviour: String, CaseIterable, Sendable {
        case mating, nectaring, basking, puddling, perching, patrolling
    }
    public enum Certainty: String, CaseIterable, Sendable { case certain, probable, uncertain }

    /// The name as the surveyor gave it: scientific, a synonym, a common one or none that is known.
    public var species: String
    /// 0: looked for, and not there.
    public var count: Int
    /// Nil: some time of the survey.
    public var atMs: Int64?
    public var place: Position?
    public var uncertaintyM: Int?
    public var section: String?
    public var habitat: String?
    public var conditions: String?
    public var behaviour: String?
    public var certainty: Certainty?
    public var lifeStage: String?
    public var sex: String?
    /// Mark and recapture: the mark's code, and the action.
    public var mark: String?
    public var lightLux: Int64?
    /// Addresses, or digests of photos that were handed in.
    public var photos: [String] = []
    public var animals: String?
    public var plants: String?
    public var comments: String?
    public var weather = Survey.OwnWeather()
    public var others: [Survey.OtherField] = []

    public init(species: String, count: Int) { (self.species, self.count) = (species, count) }
}

/// A record of a site on `drover.sightings`.
public struct SurveyRecord: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// Handed in: the first of its id counts, whatever comes later.
        case submitted(Survey)
        /// A reviewer's version, whole; it follows the version that it was made from.
        case reviewed(Survey, basedOn: Int, note: String?)
        /// A service's data for the hours of a survey, each as `WeatherAnswer` reads it.
        case weather(survey: String, answers: [String])
    }

    public var id: String
    public var site: String
    /// Epoch milliseconds by the clock of who says it.
    public var ts: Int64
    public var account: String
    /// The author: a token's id, a person, or the client of an import.
    public var by: String
    public var kind: Kind

    public init(id: String, site: String, ts: Int64, account: String, by: String, kind: Kind) {
        self.id = id
        self.site = site
        self.ts = ts
        self.account = account
        self.by = by
        self.kind = kind
    }
}
