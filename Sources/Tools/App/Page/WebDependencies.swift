internal import ExternalServices
internal import Gateways
internal import HTTPServer
internal import Ingest
internal import Reports
internal import Settings
internal import Telemetry
internal import Trips
internal import Web

/// The parts behind the page and the API, and which site answers where.
struct WebDependencies {
    package let assets: AssetFiles
    package let campuses: CampusRoutes
    package let gate: BodyAdmission
    /// In this order. What the broker acknowledged last is still marked: uploads before surveys.
    package let stops: [() -> Void]

    private let settings: Settings
    private let log: Log
    private let isSecure: Bool
    private let rules: TripRules
    private let queries: ReportQueries
    /// The folder of threshold files.
    private let folder: String
    private let base: BaseMap
    private let uploads: UploadSender
    private let streams: AlertStreams
    private let live: LiveStreams
    private let access: AccessControl
    private let secondFactor: SecondFactorRule
    private let accountMail: AccountRoutes.AccountMail?
    private let models: ModelFileRoutes
    private let codes: TroubleCodeFolder
    private let exports: ExportService
    private let questions: QuestionService
    private let surveys: SurveyAppRoutes
    private let roads: RoadLineService?
    private let sample: SampleAccounts?

    init(_ settings: Settings, isSecure hasCertificate: Bool, sample: SampleAccounts?, log: Log) throws {
        self.settings = settings
        self.sample = sample
        self.log = log
        let (reader, page) = (settings.readerConninfo, settings.text("postgres.page_url"))
        rules = try settings.tripRules()
        queries = try Home.reportQueries()
        folder = try Home.path(settings.text("alerts.thresholds_dir"))
        let nodes = try PageRole.nodes(settings)
        assets = try Home.assets()
        base = try PageRole.baseMap(settings, assets, log: log)
        uploads = UploadSender(
            try ServiceRoles.kafka(settings, clientID: "drover-serve", log: log), shape: settings.topicShape,
            metrics: MetricsRole.of("serve"), health: HealthRole.shared, log: log)
        streams = AlertStreams(conninfo: reader, log: log)
        live = LiveStreams(conninfo: reader, log: log)
        isSecure = hasCertificate || settings.text("web.public_url").hasPrefix("https://")
        secondFactor = try settings.secondFactorRule()
        gate = BodyAdmission(conninfo: reader, isSecure: isSecure, secondFactor: secondFactor, log: log)
        access = AccessControl(conninfo: page, isSecure: isSecure, secondFactor: secondFactor, log: log)
        accountMail = try PageRole.accountMail(settings)
        models = ModelFileRoutes(folder: folder)
        codes = TroubleCodeFolder(try Home.path(settings.text("cars.trouble_codes_dir")))
        exports = ExportService(conninfo: reader, pageConninfo: page, log: log)
        questions = QuestionService(
            conninfo: settings.text("postgres.query_url"), patienceS: Int(settings.integer("web.query_s")))
        surveys = SurveyAppRoutes(
            conninfo: settings.surveyConninfo, uploads: uploads, nodes: nodes, cache: try settings.weatherCache(),
            log: log)
        campuses = try AppsRole.campuses(settings, queries: queries, uploads: uploads, access: access, log: log)
        roads = try settings.roadLines(conninfo: reader)
        stops = [
            campuses.stop, { [roads] in roads?.stop() }, uploads.stop, surveys.stop, streams.stop, live.stop, base.stop,
        ]
    }

    /// The routes. Of two addresses that both fit, the one that was added first answers.
    func routes() throws -> Router {
        var router = WebRoutes(
            conninfo: settings.readerConninfo, rules: rules, price: settings.fuelPrice, queries: queries,
            models: models, troubleCodes: codes, uploads: uploads, streams: streams, exports: exports,
            questions: questions, access: access, log: log
        ).router()
        assets.add(to: &router)
        base.add(to: &router)
        try addFleet(to: &router)
        try addReports(to: &router)
        addQuestions(to: &router)
        try addPeople(to: &router)
        try addThresholds(to: &router)
        try addSurveys(to: &router)
        try addCampuses(to: &router)
        return router
    }

    private func addFleet(to router: inout Router) throws {
        // Before single vehicles, for `/vehicles/new` is none.
        VehicleRoutes(
            access: access, assets: assets, queries: queries, uploads: uploads, models: models,
            publicAddress: settings.text("web.public_url"), isSecure: isSecure, mayBeAt: try settings.mayBeAt()
        ).add(to: &router)
        FleetRoutes(
            access: access, queries: queries, rules: rules, price: settings.fuelPrice, assets: assets, base: base,
            uploads: uploads, live: live, models: models, codes: codes, site: settings.text("web.public_url")
        ).add(to: &router)
        DriveRoutes(
            access: access, conninfo: settings.readerConninfo, assets: assets, base: base, queries: queries,
            rules: rules,
            price: settings.fuelPrice, uploads: uploads, streams: streams, troubleCodes: codes
        ).add(to: &router)
        DealerRoutes(access: access, assets: assets, accountMail: accountMail).add(to: &router)
    }

    private func addReports(to router: inout Router) throws {
        // Before single reports.
        ScheduleRoutes(
            access: access, assets: assets, queries: queries, leastMinutes: Int(settings.integer("web.schedule_min"))
        ).add(to: &router)
        ReportRoutes(access: access, assets: assets, queries: queries, rules: rules, price: settings.fuelPrice)
            .add(to: &router)
        QueryRoutes(
            access: access, assets: assets, fleets: queries, queries: try Home.readyQueries(),
            patienceS: Int(settings.integer("web.query_s"))
        ).add(to: &router)
    }

    private func addQuestions(to router: inout Router) {
        QuestionRoutes(access: access, assets: assets, service: questions, queries: queries).add(to: &router)
    }

    private func addPeople(to router: inout Router) throws {
        let provider = try settings.openIDProvider()
        let accounts = AccountRoutes(
            conninfo: settings.readerConninfo, isSecure: isSecure, accountMail: accountMail,
            codeKey: try MailRole.codeKey(settings), secondFactor: secondFactor, assets: assets,
            provider: provider?.name, sample: sample, log: log)
        accounts.add(to: &router)
        if let provider {
            OpenIDRoutes(provider, accounts: accounts, address: settings.text("web.public_url")).add(to: &router)
        }
        AdministrationRoutes(access: access, assets: assets, accountMail: accountMail).add(to: &router)
        AuditRoutes(access: access, assets: assets).add(to: &router)
        SettingsRoutes(access: access, assets: assets, uploads: uploads).add(to: &router)
        LimitsRoutes(access: access, assets: assets, uploads: uploads).add(to: &router)
        NoticeRoutes(
            access: access, conninfo: settings.readerConninfo, assets: assets, uploads: uploads,
            ways: try NoticeRole.ways(settings), log: log
        ).add(to: &router)
    }

    private func addThresholds(to router: inout Router) throws {
        let (folder, publication) = (folder, RulesPublication(settings: settings))
        let thresholdFiles = ThresholdFiles(
            folder: folder, read: { try Rules.read(folder) }, load: { try Rules.load($0, folder) },
            tests: { try Rules.tests(inFolderOf: folder) }, publish: { _ = try publication.publish($0) })
        ThresholdRoutes(access: access, assets: assets, queries: queries, thresholdFiles: thresholdFiles, log: log).add(
            to: &router)
        SearchRoutes(
            access: access, assets: assets, queries: queries, ready: try Home.readyQueries(), rules: thresholdFiles,
            log: log
        ).add(to: &router)
    }

    private func addSurveys(to router: inout Router) throws {
        surveys.add(to: &router)
        TourAppRoutes(
            conninfo: settings.readerConninfo, uploads: uploads, assets: assets, base: base,
            tellsPerMinute: Int(settings.integer("tours.tells_per_minute")), log: log
        ).add(to: &router)
        SightingRoutes(
            access: access, assets: assets, base: base, exports: exports,
            patienceS: Int(settings.integer("web.query_s"))
        ).add(to: &router)
        SurveyRoutes(access: access, assets: assets, surveys: surveys, uploads: uploads).add(to: &router)
        AboutRoutes(assets: assets, base: base, version: try Home.version()).add(to: &router)
        TourRoutes(access: access, assets: assets, base: base).add(to: &router)
    }

    private func addCampuses(to router: inout Router) throws {
        let codes = PersonCodeRoutes(campuses, key: try MailRole.codeKey(settings), hasMail: MailRole.isSet(settings))
        CampusPageRoutes(
            campuses, codes: codes, access: access, assets: assets, base: base, queries: queries, routes: roads
        ).add(to: &router)
    }
}
