// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is held to the same rules: Swift 6 language mode, explicit `any`, imports that do not leak,
/// every unsafe expression marked, and no warning left standing.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// How a release of a target is compiled. What every record passes is optimized as a whole and across targets (Kafka → Codecs →
/// Pipeline → Trips); what a person waits for once compiles file by file, on all cores, without the optimizer: it is two thirds of
/// the code, and its time is the database's.
enum Speed {
    case hot, warm, cold

    var settings: [SwiftSetting] {
        switch self {
        case .hot: [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]
        case .warm: []
        case .cold:
            [
                .unsafeFlags(
                    ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"],
                    .when(configuration: .release))
            ]
        }
    }
}

/// A target is named as its folder, which stands in its storey's.
func target(
    _ path: String, _ dependencies: [Target.Dependency] = [], _ speed: Speed, exclude: [String] = [],
    links: [String] = []
) -> Target {
    .target(
        name: String(path.split(separator: "/").last!), dependencies: dependencies, path: "Sources/\(path)",
        exclude: exclude,
        swiftSettings: strict + speed.settings, linkerSettings: links.map { .linkedLibrary($0) })
}

func library(_ name: String, pkgConfig: String?, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict + Speed.cold.settings)
}

let package = Package(
    name: "drover",
    products: [.executable(name: "drover", targets: ["drover"])],
    // In the order of the storeys; a target imports only what stands above it (test_storeys.py).
    targets: [
        // C: module maps of libraries, and shims.
        library("CRdkafka", pkgConfig: "rdkafka", apt: "librdkafka-dev"),
        library("CLibpq", pkgConfig: "libpq", apt: "libpq-dev"),
        library("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        library("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        library("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        library("CXlsxwriter", pkgConfig: "xlsxwriter", apt: "libxlsxwriter-dev"),
        library("CPango", pkgConfig: "pangocairo", apt: "libpango1.0-dev"),
        library("CQrencode", pkgConfig: "libqrencode", apt: "libqrencode-dev"),
        library("CYaml", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        .systemLibrary(name: "CEpoll", path: "Sources/C/CEpoll"),
        .target(
            name: "CSimdjson",
            path: "Sources/C/CSimdjson",
            cxxSettings: [.unsafeFlags(["-O2", "-Wno-deprecated-declarations"])],
            linkerSettings: [.linkedLibrary("simdjson")]),

        // Platform: knows nothing of vehicles.
        // libm: rounding of floating values on platforms where the compiler calls it.
        target("Platform/Basics", [], .hot, links: ["m"]),
        target("Platform/Formats", ["Basics", "CZlib"], .hot),
        target("Platform/PDF", ["CPango", "CQrencode"], .cold),
        target("Platform/Telemetry", ["Basics"], .hot),
        target("Platform/Threads", ["Telemetry"], .hot),
        target("Platform/Crypto", ["Basics", "COpenSSL", "CSodium"], .cold),
        target("Platform/Kafka", ["Telemetry", "Crypto", "CRdkafka"], .hot),
        target("Platform/Postgres", ["Basics", "CLibpq"], .hot),
        target("Platform/Sockets", ["Basics", "COpenSSL", "CEpoll"], .warm),
        target("Platform/HTTPServer", ["Basics", "Threads", "CMicrohttpd"], .warm),
        target("Platform/Clients", ["Sockets", "CCurl"], .cold),
        target("Platform/Settings", ["Basics", "CYaml"], .cold),

        // Domain: pure: no clock, file, socket, environment or global chance.
        target("Domain/Fleet", ["Basics"], .hot),
        target("Domain/Codecs", ["Basics", "Formats", "Fleet", "CSimdjson"], .hot),
        target("Domain/Trips", ["Basics", "Fleet", "Codecs"], .hot),
        target("Domain/Alerts", ["Basics", "Formats", "Fleet", "Codecs"], .hot),
        target("Domain/Routing", ["Basics", "Fleet", "Codecs"], .hot),
        target("Domain/Surveys", ["Basics", "Formats", "Fleet", "Codecs"], .warm),
        target("Domain/Tours", ["Basics", "Formats", "Fleet", "Codecs", "Routing"], .cold),
        target("Domain/Pipeline", ["Basics", "Formats", "Fleet", "Codecs", "Trips", "Alerts", "Routing"], .hot),
        target(
            "Domain/Backtesting",
            ["Basics", "Formats", "Settings", "Fleet", "Codecs", "Alerts", "Routing", "Pipeline"], .warm),
        target("Domain/Presentation", ["Basics", "Fleet", "Alerts"], .warm),
        target("Domain/Notifications", ["Basics", "Formats", "Crypto", "Fleet", "Alerts", "Presentation"], .warm),

        // Stream: from the topics to the tables.
        target(
            "Stream/Ingest",
            [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Kafka", "Fleet", "Codecs", "Pipeline",
                "CSQLite",
            ], .warm),
        target(
            "Stream/Storage",
            [
                "Basics", "Formats", "Crypto", "Kafka", "Postgres", "Fleet", "Codecs", "Trips", "Alerts", "Routing",
                "Surveys", "Notifications", "Pipeline",
            ], .hot),
        target(
            "Stream/Worker",
            [
                "Basics", "Telemetry", "Threads", "Kafka", "Postgres", "Fleet", "Codecs", "Trips", "Alerts", "Surveys",
                "Pipeline", "Storage",
            ], .hot),

        // Edges: what comes in and goes out; decides nothing about fleets.
        target(
            "Edges/ExternalServices",
            ["Basics", "Formats", "Telemetry", "Crypto", "Postgres", "Clients", "Fleet", "Codecs", "Storage"], .cold),
        target(
            "Edges/Gateways",
            [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Kafka", "Postgres", "Sockets", "Clients",
                "Fleet", "Codecs", "Ingest", "Storage", "ExternalServices",
            ], .warm),
        target(
            "Edges/Delivery",
            [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Kafka", "Postgres", "Sockets", "Clients",
                "Fleet", "Codecs", "Alerts", "Surveys", "Presentation", "Notifications", "Storage", "COpenSSL",
            ], .cold),

        // People: what people and programs see.
        target("People/Tiles", ["Formats", "Codecs", "CSQLite"], .warm),
        target(
            "People/Reports",
            [
                "Basics", "Formats", "PDF", "Telemetry", "Threads", "Postgres", "Fleet", "Codecs", "Trips", "Alerts",
                "Surveys", "Backtesting", "Presentation", "Notifications", "Storage", "CXlsxwriter",
            ], .warm),
        target(
            "People/Web",
            [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Postgres", "HTTPServer", "Clients", "Fleet",
                "Codecs", "Trips", "Alerts", "Routing", "Surveys", "Tours", "Backtesting", "Presentation",
                "Notifications", "Ingest", "Storage", "ExternalServices", "Tiles", "Reports",
            ], .cold, exclude: ["Assets"]),

        // Tools: the command and what it starts.
        target("Tools/Emulators", ["Basics", "Telemetry", "Crypto", "Sockets", "Settings", "Fleet", "Codecs"], .cold),
        target("Tools/LocalServers", ["Threads"], .cold),
        // What `drover bench` times itself.
        target(
            "Tools/Bench",
            [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Kafka", "Postgres", "Clients", "Fleet",
                "Codecs", "Trips", "Alerts", "Routing", "Pipeline", "Ingest", "Storage", "Worker", "Gateways",
                "Delivery", "Reports",
            ], .warm),
        // Roles and pages, wired from settings.
        target(
            "Tools/App",
            [
                "Basics", "Telemetry", "Threads", "Crypto", "Kafka", "Postgres", "Sockets", "HTTPServer", "Clients",
                "Settings", "Fleet", "Codecs", "Trips", "Alerts", "Surveys", "Backtesting", "Ingest", "Storage",
                "Worker", "ExternalServices", "Gateways", "Delivery", "Tiles", "Reports", "Web",
            ], .cold),
        .executableTarget(
            name: "drover",
            dependencies: [
                "Basics", "Formats", "Telemetry", "Threads", "Crypto", "Kafka", "Postgres", "Sockets", "Clients",
                "Settings", "Fleet", "Codecs", "Trips", "Alerts", "Routing", "Surveys", "Pipeline", "Backtesting",
                "Presentation", "Ingest", "Storage", "Worker", "ExternalServices", "Gateways", "Delivery", "Reports",
                "Web", "Emulators", "LocalServers", "Bench", "App",
            ],
            path: "Sources/Tools/drover",
            swiftSettings: strict + Speed.cold.settings),

        // Tests.
        .executableTarget(
            name: "peer-job",
            dependencies: [
                "Telemetry", "Kafka", "Postgres", "Codecs", "Trips", "Alerts", "Pipeline", "Storage", "Worker",
                "CSimdjson",
            ],
            path: "Tests/Peers", exclude: ["dispatch", "pages", "queries", "reports", "static", "surveys"],
            swiftSettings: strict),
        .target(
            name: "SimKit", dependencies: ["Basics", "Fleet", "Codecs", "Trips", "Alerts", "Pipeline"],
            path: "Tests/SimKit",
            swiftSettings: strict),
        // The search of benchmark files with a depot, beside PyVRP, VROOM and OR-Tools.
        .target(
            name: "DepotRoutes", path: "Tests/Peers/static/DepotRoutes", swiftSettings: strict + Speed.warm.settings),
        .executableTarget(
            name: "peer-plan", dependencies: ["DepotRoutes"], path: "Tests/Peers/static/plan", swiftSettings: strict),
        tests(
            "FuzzTests",
            ["Formats", "Settings", "Fleet", "Codecs", "Alerts", "Tours", "Reports", "Emulators", "SimKit"]),
        tests(
            "LibrariesTests",
            [
                "Codecs", "SimKit", "CRdkafka", "CLibpq", "CMicrohttpd", "CSQLite", "CCurl", "COpenSSL", "CSodium",
                "CXlsxwriter", "CQrencode", "CYaml",
            ]),
        tests("BasicsTests", ["Basics", "SimKit"]),
        tests("FormatsTests", ["Formats", "Codecs", "SimKit"]),
        tests("TelemetryTests", ["Telemetry"]),
        tests("ThreadsTests", ["Telemetry", "Threads"]),
        tests("CryptoTests", ["Basics", "Crypto", "Fleet"]),
        tests("KafkaTests", ["Kafka"]),
        tests("PostgresTests", ["Postgres"]),
        tests("SocketsTests", ["Sockets"]),
        tests("HTTPServerTests", ["HTTPServer"]),
        tests("ClientsTests", ["Sockets", "Clients"]),
        tests("SettingsTests", ["Settings"]),
        tests("FleetTests", ["Fleet"]),
        tests("CodecsTests", ["Basics", "Formats", "Fleet", "Codecs", "SimKit", "CSimdjson"]),
        tests("TripsTests", ["Basics", "Fleet", "Codecs", "Trips", "SimKit"]),
        tests("AlertsTests", ["Basics", "Formats", "Fleet", "Codecs", "Alerts", "SimKit"]),
        tests("RoutingTests", ["Routing", "SimKit"]),
        tests("SurveysTests", ["Basics", "Fleet", "Codecs", "Surveys", "SimKit"]),
        tests("ToursTests", ["Formats", "Fleet", "Codecs", "Tours", "SimKit"]),
        tests(
            "PipelineTests",
            ["Basics", "Formats", "Fleet", "Codecs", "Trips", "Alerts", "Routing", "Pipeline", "SimKit"]),
        tests("BacktestingTests", ["Basics", "Fleet", "Alerts", "Routing", "Pipeline", "Backtesting", "SimKit"]),
        tests("PresentationTests", ["Presentation"]),
        tests("IngestTests", ["Fleet", "Ingest"]),
        tests(
            "StorageTests",
            [
                "Basics", "Kafka", "Postgres", "Fleet", "Codecs", "Trips", "Alerts", "Pipeline", "Storage", "Worker",
                "SimKit",
            ]),
        tests("ExternalServicesTests", ["Basics", "Telemetry", "Fleet", "Codecs", "ExternalServices", "SimKit"]),
        tests("GatewaysTests", ["Sockets", "Fleet", "Codecs", "Gateways", "SimKit"]),
        tests("NotificationsTests", ["Fleet", "Alerts", "Notifications", "SimKit"]),
        tests("DeliveryTests", ["Kafka", "Clients", "Storage", "Delivery"]),
        tests("TilesTests", ["Tiles"]),
        tests("ReportsTests", ["Postgres", "Fleet", "Alerts", "Presentation", "Reports"]),
        tests("EmulatorsTests", ["Settings", "Fleet", "Codecs", "Pipeline", "Emulators", "SimKit"]),
        tests("LocalServersTests", ["LocalServers"]),
        tests("DepotRoutesTests", ["SimKit", "DepotRoutes"]),
    ],
    cxxLanguageStandard: .cxx17
)
