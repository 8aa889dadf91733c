internal import Alerts
internal import Presentation
internal import Reports

/// What pages say in more than one place: counts, ages, severities, states. In another language the catalogue has their texts (`Languages`);
/// one that builds its sentences otherwise has a type like `English`: the compiler names what it lacks.
///
/// A sentence that stands on one page only stands there; a second page that needs it moves it here.
protocol Words: Sendable {
    /// `1 alert`, `3 alerts`
    func count(_ number: Int, _ thing: Thing) -> String
    /// How long ago, or in how long: `now`, `12 min ago`, `in 2 h`; a date beyond a week.
    func when(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String
    /// How old a value is, to the second and never as a date: `12 s ago`, `4 min ago`, `26 h ago`, `3 days ago`.
    func age(_ ms: Int64, nowMs: Int64) -> String
    /// `45 s`, `12 min`, `2 h 5 min`, `3 days`
    func span(_ ms: Int64) -> String
    /// `24 Nov`, with its year where that is another than now.
    func day(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String
    /// `15:07` of today, else `24 Nov 15:07`.
    func moment(_ ms: Int64, nowMs: Int64, _ clock: ZoneClock) -> String
    /// `20 Nov`
    func date(_ date: CivilDate) -> String
    /// `Fri 20 Nov 2026`
    func fullDate(_ date: CivilDate) -> String

    func severity(_ severity: Episode.Severity) -> String
    func state(_ state: AlertState) -> String
    func state(_ state: VehicleState) -> String

    var timeRange: String { get }
    func range(_ range: TimeRange, _ clock: ZoneClock) -> String
    /// - Parameter shown: the time that is shown instead.
    func fault(_ fault: TimeRange.Fault, shown: String) -> String
    /// Search found nothing by that name.
    func nothingCalled(_ text: String) -> String
    /// Before the nearest names.
    var didYouMean: String { get }
    /// What search finds.
    var searchAbout: String { get }
    func kind(_ kind: SearchIndex.Kind) -> String
    func kinds(_ kind: SearchIndex.Kind) -> String
}

/// What is counted on pages.
enum Thing: CaseIterable {
    case account, alert, answer, day, device, hour, machine, message, minute, photo, point, query, reading, report
    case result, ride, row, rule, second, service
    case sighting, species, stop, survey, tour, trip, value, vehicle, week
}

extension PageCaller {
    /// As English builds them, in the words of the language of the page.
    var words: some Words { English() }
}

extension HTML {
    /// `12 min ago`, and the exact time for who points at it.
    static func relativeTime(_ ms: Int64, _ nowMs: Int64, _ clock: ZoneClock, words: some Words = English()) -> HTML {
        "<time datetime=\"\(clock.machine(ms))\" title=\"\(clock.minute(ms))\">\(words.when(ms, nowMs: nowMs, clock))</time>"
    }

    /// A severity as shape, word and colour.
    static func severity(_ severity: Episode.Severity, words: some Words = English()) -> HTML {
        pill(severity.rawValue, words.severity(severity))
    }

    /// The state of a vehicle as shape, word and colour.
    static func state(_ state: VehicleState, words: some Words = English()) -> HTML {
        switch state {
        case .moving: pill("info", words.state(state))
        case .idling: pill("idle", words.state(state))
        case .parked: pill("quiet", words.state(state))
        case .silent: pill("silent", words.state(state))
        }
    }
}

extension VehicleState {
    /// Within a line: `3 moving`
    var inLine: String {
        switch self {
        case .moving: t("moving")
        case .idling: t("idling")
        case .parked: t("parked")
        case .silent: t("silent")
        }
    }

    /// The class of its `.dot`.
    var dot: String {
        switch self {
        case .moving: "info"
        case .idling: "idle"
        case .parked: "quiet"
        case .silent: "silent"
        }
    }
}
