internal import Alerts
internal import Basics
internal import Formats
internal import HTTPServer
internal import Presentation
internal import Reports

/// What an address of the page of alerts asks for, and addresses that ask for something else.
struct AlertQuery {
    enum Tab: String, CaseIterable {
        case open, acknowledged, resolved, services

        var name: String {
            switch self {
            case .open: t("Open")
            case .acknowledged: t("Acknowledged")
            case .resolved: t("Resolved")
            case .services: t("Services")
            }
        }

        /// What its list is called.
        var list: String {
            switch self {
            case .open: t("Open alerts")
            case .acknowledged: t("Acknowledged alerts")
            case .resolved: t("Resolved alerts")
            case .services: t("Services due")
            }
        }
    }

    var tab = Tab.open
    var filter = TriagedAlert.Filter()
    /// Where a page of those that are over begins; nil: with the latest.
    var before: TriagedAlert.Place?

    init() {}

    init(_ request: Request) {
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        tab = Tab(rawValue: asked("tab")) ?? .open
        filter.severity = Episode.Severity(rawValue: asked("severity"))
        filter.tag = asked("group")
        filter.search = asked("search")
        filter.whom = TriagedAlert.Filter.Whom(rawValue: asked("with")) ?? .anybody
        if let ms = request.query["before"].flatMap({ Int64($0) }), UTC.plausible.contains(ms) {
            before = TriagedAlert.Place(ms: ms, id: String((request.query["id"] ?? "").prefix(200)))
        }
    }

    var isFiltered: Bool { filter != TriagedAlert.Filter() }

    /// The address; what is not asked for is left out.
    var path: String {
        let items: [(String, String?)] = [
            ("tab", tab == .open ? nil : tab.rawValue), ("severity", filter.severity?.rawValue),
            ("group", filter.tag.isEmpty ? nil : filter.tag), ("search", filter.search.isEmpty ? nil : filter.search),
            ("with", filter.whom == .anybody ? nil : filter.whom.rawValue),
            ("before", before.map { String($0.ms) }), ("id", before?.id),
        ]
        let query = items.compactMap { name, value in value.map { "\(name)=\(URLText.escaped($0))" } }
        return query.isEmpty ? "/alerts" : "/alerts?" + query.joined(separator: "&")
    }

    /// The address with something else chosen, from its first page on.
    func path(_ change: (inout AlertQuery) -> Void) -> String {
        var other = self
        other.before = nil
        change(&other)
        return other.path
    }
}
