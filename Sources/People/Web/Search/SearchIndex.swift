internal import Alerts
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Surveys

/// What somebody finds by typing: vehicles, pages, reports, queries, rules, species and people, as far as they may see them.
struct SearchIndex {
    enum Kind: CaseIterable {
        case vehicle, page, report, query, rule, species, person
    }

    struct Hit {
        let kind: Kind
        let name: String
        let about: String
        let icon: IconName
        let address: String
    }

    static let textMax = 100
    /// Of each kind.
    private static let hitsMax = 8
    /// Vehicles that a misspelt name is compared with.
    private static let nearMax: Int64 = 500
    private static let suggestionsMax = 3

    let caller: PageCaller
    let queries: ReportQueries
    let ready: [ReadyQuery]
    /// Names of parameters with their models.
    let rules: [(model: String, parameter: String)]

    /// Best first within a kind; the kinds as listed.
    func hits(_ text: String, on connection: Connection) throws -> [Hit] {
        guard !text.isEmpty else { return [] }
        let plain = SearchIndex.best(named, text)
        return try vehicles(like: SearchIndex.pattern(text), most: Int64(SearchIndex.hitsMax), on: connection) + plain
            + species(text, on: connection) + SearchIndex.best(people(on: connection), text)
    }

    /// The nearest names, where nothing has the letters in it.
    func near(_ text: String, on connection: Connection) throws -> [Hit] {
        let known =
            try named + people(on: connection) + vehicles(like: "%", most: SearchIndex.nearMax, on: connection)
        let distances = known.map { (hit: $0, changes: EditDistance.toBeginning(of: $0.name, typed: text)) }
        return distances.enumerated().sorted { ($0.element.changes, $0.offset) < ($1.element.changes, $1.offset) }
            .prefix(SearchIndex.suggestionsMax).map(\.element.hit)
    }

    // MARK: What there is

    /// All that is not in a table of its own.
    private var named: [Hit] { pages + reports + readyQueries + ruleHits }

    private var pages: [Hit] {
        let own =
            Navigation.entries(for: caller.roles)
            + Navigation.others.filter { $0.roles.isEmpty || !$0.roles.isDisjoint(with: caller.roles) }
        return own.map { Hit(kind: .page, name: $0.name, about: $0.about, icon: $0.icon, address: $0.path) }
    }

    private var reports: [Hit] {
        Report.all.filter { !$0.roles.isDisjoint(with: caller.roles) }.map {
            Hit(
                kind: .report, name: $0.title, about: PageShell.sentence($0.summary), icon: .chart,
                address: "/reports?report=\(URLText.escaped($0.name))")
        }
    }

    private var readyQueries: [Hit] {
        ready.map { Hit(kind: .query, name: $0.question, about: $0.name, icon: .query, address: "/queries/\($0.name)") }
    }

    private var ruleHits: [Hit] {
        rules.map {
            Hit(
                kind: .rule, name: $0.parameter, about: $0.model, icon: .rule,
                address: "/thresholds/models/\(URLText.escaped($0.model))")
        }
    }

    private func vehicles(like pattern: String, most: Int64, on connection: Connection) throws -> [Hit] {
        guard !caller.roles.isDisjoint(with: WebRoutes.fleetReaders) else { return [] }
        return try connection.query(queries["search_vehicles"], [.text(pattern), .int8(most)]).map { row in
            let (vehicle, name) = (try row.text("vehicle")!, try row.text("name"))
            let kind: VehicleKind = try row.word("kind")!
            let tags = try row.textArray("tags")!.compactMap { $0 }
            let about = ([name == nil ? nil : vehicle, try row.text("model")].compactMap { $0 } + tags).joined(
                separator: ", ")
            return Hit(
                kind: .vehicle, name: name ?? vehicle, about: about.isEmpty ? PageShell.sentence(kind.rawValue) : about,
                icon: kind == .car ? .car : .tractor,
                address: "/vehicles/\(URLText.escaped(vehicle))?kind=\(kind.rawValue)")
        }
    }

    private func species(_ text: String, on connection: Connection) throws -> [Hit] {
        guard !caller.roles.isDisjoint(with: SightingRoutes.readers) else { return [] }
        let folded = TaxonName.folded(text)
        guard !folded.isEmpty else { return [] }
        return try TaxonQueries.search(folded, most: SearchIndex.hitsMax, on: connection).map { match in
            Hit(
                kind: .species, name: match.given,
                about: match.given == match.accepted
                    ? TaxonView.rank(match.rank) : "\(match.accepted), \(TaxonView.rank(match.rank))",
                icon: .butterfly,
                address: (TaxonView.hasPage(match.rank) ? "/sightings/species/" : "/sightings?taxon=")
                    + URLText.escaped(match.accepted))
        }
    }

    private func people(on connection: Connection) throws -> [Hit] {
        guard caller.roles.contains(.administrator) else { return [] }
        return try AdministrationStore.accounts(on: connection).filter { $0.mail != nil || !$0.roles.isEmpty }.map {
            row in
            let about = [row.name.isEmpty ? nil : row.account, row.mail, Role.titles(row.roles)].compactMap { $0 }
            return Hit(
                kind: .person, name: row.called, about: about.joined(separator: ", "),
                icon: .person, address: "/administration/people/\(URLText.escaped(row.account))")
        }
    }

    // MARK: Order

    /// Names that begin so, then those with a word that does, then the rest.
    private static func best(_ all: [Hit], _ text: String) -> [Hit] {
        let text = text.lowercased()
        return Kind.allCases.flatMap { kind in
            let ranked = all.filter { $0.kind == kind }.compactMap { hit in rank(hit, text).map { (hit: hit, rank: $0) }
            }
            return ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
                .prefix(hitsMax).map(\.element.hit)
        }
    }

    private static func rank(_ hit: Hit, _ text: String) -> Int? {
        let name = hit.name.lowercased()
        if name.hasPrefix(text) { return 0 }
        if name.contains(" " + text) { return 1 }
        if name.contains(text) { return 2 }
        return hit.about.lowercased().contains(text) ? 3 : nil
    }

    /// Any part of a text, letter by letter: `%`, `_` and `\` stand for themselves.
    static func pattern(_ text: String) -> String {
        let escaped = text.lowercased().map { "%_\\".contains($0) ? "\\\($0)" : String($0) }
        return "%\(escaped.joined())%"
    }
}
