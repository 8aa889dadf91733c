internal import ExternalServices
internal import Gateways
internal import HTTPServer
internal import Ingest
internal import Reports
internal import Settings
internal import Telemetry
internal import Trips
internal import Web

/// What stands behind the page and the API, and which site answers where.
struct PageParts {
    package let assets: AssetFiles
    package let campuses: CampusSite
    package let gate: BodyGate
    /// In this order. What the broker acknowledged last is still marked: uploads before surveys.
    package let stops: [() -> Void]

    private let settings: Settings
    private let log: Log
    private let isSecure: Bool
    private let rules: TripRules
    private let queries: ReportQueries
    /// Of threshold files.
    private let folder: String
    private let base: BaseMap
    private let uploads: UploadSender
    private let streams: AlertStreams
    private let live: LiveStreams
    private let door: Door
    private let secondFactor: SecondFactorRule
    private let post: AccountSite.Post?
    private let models: ModelFiles
    private let codes: TroubleCodeFolder
    private let exports: ExportDesk
    private let questions: QuestionDesk
    private let surveys: SurveySite
    private let roads: RouteDesk?

    init(_ settings: Settings, isSecure hasCertificate: Bool, log: Log) throws {
        self.settings = settings
        self.log = log
        let (reader, page) = (settings.readerConninfo, settings.text("postgres.page_url"))
        rules = try settings.tripRules()
        queries = try Home.reportQueries()
        folder = try Home.path(settings.text("alerts.thresholds_dir"))
        let nodes = try PageRole.nodes(settings)
        assets = try Home.assets()
        base = try PageRole.baseMap(settings, assets, log: log)
        uploads = UploadSender(
            try Roles.kafka(settings, clientID: "drover-serve", log: log), shape: settings.topicShape,
            metrics: MetricsRole.of("serve"), health: HealthRole.shared, log: log)
        streams = AlertStreams(conninfo: reader, log: log)
        live = LiveStreams(conninfo: reader, log: log)
        isSecure = hasCertificate || settings.text("web.public_url").hasPrefix("https://")
        secondFactor = try settings.secondFactorRule()
        gate = BodyGate(conninfo: reader, isSecure: isSecure, secondFactor: secondFactor, log: log)
        door = Door(conninfo: page, isSecure: isSecure, secondFactor: secondFactor, log: log)
        post = try PageRole.accountPost(settings)
        models = ModelFiles(folder: folder)
        codes = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
        exports = ExportDesk(conninfo: reader, pageConninfo: page, log: log)
        questions = QuestionDesk(
            conninfo: settings.text("postgres.query_url"), patienceS: Int(settings.integer("web.query_s")))
        surveys = SurveySite(
            conninfo: settings.surveyConninfo, uploads: uploads, nodes: nodes, shelf: try settings.weatherShelf(),
            log: log)
        campuses = try AppsRole.campuses(settings, queries: queries, uploads: uploads, door: door, log: log)
        roads = try settings.routeDesk(conninfo: reader)
        stops = [
            campuses.stop, { [roads] in roads?.stop() }, uploads.stop, surveys.stop, streams.stop, live.stop, base.stop,
        ]
    }

    /// Of two addresses that both fit, the one that was added first answers.
    func routes() throws -> Router {
        var router = Site(
            conninfo: settings.readerConninfo, rules: rules, price: settings.fuelPrice, queries: queries,
            models: models, troubleCodes: codes, uploads: uploads, streams: streams, exports: exports,
            questions: questions, door: door, log: log
        ).router()
        assets.add(to: &router)
        base.add(to: &router)
        try addFleet(to: &router)
        try addReports(to: &router)
        addQuestions(to: &router)
        try addPeople(to: &router)
        addThresholds(to: &router)
        try addSurveys(to: &router)
        try addCampuses(to: &router)
        return router
    }

    private func addFleet(to router: inout Router) throws {
        // Before single vehicles, for `/vehicles/new` is none.
        VehicleSite(
            door: door, assets: assets, queries: queries, uploads: uploads, models: models,
            mayBeAt: try settings.mayBeAt()
        ).add(to: &router)
        FleetSite(
            door: door, queries: queries, rules: rules, price: settings.fuelPrice, assets: assets, base: base,
            uploads: uploads, live: live, models: models, codes: codes
        ).add(to: &router)
        DriveSite(
            door: door, conninfo: settings.readerConninfo, assets: assets, queries: queries, rules: rules,
            price: settings.fuelPrice, uploads: uploads, streams: streams, troubleCodes: codes
        ).add(to: &router)
        DealerSite(door: door, assets: assets, post: post).add(to: &router)
    }

    private func addReports(to router: inout Router) throws {
        // Before single reports.
        ScheduleSite(
            door: door, assets: assets, queries: queries, leastMinutes: Int(settings.integer("web.schedule_min"))
        ).add(to: &router)
        ReportSite(door: door, assets: assets, queries: queries, rules: rules, price: settings.fuelPrice)
            .add(to: &router)
        QuerySite(
            door: door, assets: assets, fleets: queries, queries: try Home.readyQueries(),
            patienceS: Int(settings.integer("web.query_s"))
        ).add(to: &router)
    }

    private func addQuestions(to router: inout Router) {
        QuestionSite(door: door, assets: assets, desk: questions).add(to: &router)
    }

    private func addPeople(to router: inout Router) throws {
        let provider = try settings.openIDProvider()
        let accounts = AccountSite(
            conninfo: settings.readerConninfo, isSecure: isSecure, post: post,
            codeKey: try MailRole.codeKey(settings), secondFactor: secondFactor, assets: assets,
            provider: provider?.name, log: log)
        accounts.add(to: &router)
        if let provider {
            OpenIDSite(provider, accounts: accounts, address: settings.text("web.public_url")).add(to: &router)
        }
        AdministrationSite(door: door, assets: assets).add(to: &router)
        AuditSite(door: door, assets: assets).add(to: &router)
        SettingsSite(door: door, assets: assets, uploads: uploads).add(to: &router)
        LimitsSite(door: door, assets: assets, uploads: uploads).add(to: &router)
        NoticeSite(
            door: door, conninfo: settings.readerConninfo, assets: assets, uploads: uploads,
            ways: try NoticeRole.ways(settings), log: log
        ).add(to: &router)
    }

    private func addThresholds(to router: inout Router) {
        let (folder, publication) = (folder, RulesPublication(settings: settings))
        let desk = RuleDesk(
            folder: folder, read: { try Rules.read(folder) }, load: { try Rules.load($0, folder) },
            tests: { try Rules.tests(inFolderOf: folder) }, publish: { _ = try publication.publish($0) })
        ThresholdSite(door: door, assets: assets, queries: queries, desk: desk, log: log).add(to: &router)
    }

    private func addSurveys(to router: inout Router) throws {
        surveys.add(to: &router)
        TourSite(
            conninfo: settings.readerConninfo, uploads: uploads, assets: assets, base: base,
            tellsPerMinute: Int(settings.integer("tours.tells_per_minute")), log: log
        ).add(to: &router)
        SightingSite(
            door: door, assets: assets, base: base, exports: exports, patienceS: Int(settings.integer("web.query_s"))
        ).add(to: &router)
        SurveyPages(door: door, assets: assets, surveys: surveys, uploads: uploads).add(to: &router)
        AboutPage(assets: assets, base: base, version: try Home.version()).add(to: &router)
        TourPanel(door: door, assets: assets, base: base).add(to: &router)
    }

    private func addCampuses(to router: inout Router) throws {
        let codes = CodeDesk(campuses, key: try MailRole.codeKey(settings), hasMail: MailRole.isSet(settings))
        CampusPages(
            campuses, codes: codes, door: door, assets: assets, base: base, queries: queries, routes: roads
        ).add(to: &router)
    }
}
