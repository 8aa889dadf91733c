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

/// How a release of a target is compiled. What every record passes is optimized as a whole and across targets (Kafka → Wire →
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

func target(_ name: String, _ dependencies: [Target.Dependency] = [], _ speed: Speed) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict + speed.settings)
}

func library(_ name: String, pkgConfig: String?, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict + Speed.cold.settings)
}

let package = Package(
    name: "drover",
    products: [.executable(name: "drover", targets: ["drover"])],
    targets: [
        // C libraries, one importer each.
        library("CRdkafka", pkgConfig: "rdkafka", apt: "librdkafka-dev"),
        library("CLibpq", pkgConfig: "libpq", apt: "libpq-dev"),
        library("CMicrohttpd", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        library("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        library("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        library("CXlsxwriter", pkgConfig: "xlsxwriter", apt: "libxlsxwriter-dev"),
        library("CPango", pkgConfig: "pangocairo", apt: "libpango1.0-dev"),
        library("CYaml", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
        .systemLibrary(name: "CEpoll"),
        .target(
            name: "CSimdjson",
            cxxSettings: [.unsafeFlags(["-O2", "-Wno-deprecated-declarations"])],
            linkerSettings: [.linkedLibrary("simdjson")]),

        // Pure: no clock, file, socket, environment or global chance.
        // libm: rounding of floating values on platforms where the compiler calls it.
        .target(name: "Fleet", swiftSettings: strict + Speed.hot.settings, linkerSettings: [.linkedLibrary("m")]),
        target("Wire", ["Fleet", "CSimdjson"], .hot),
        target("Trips", ["Fleet", "Wire"], .hot),
        target("Alerts", ["Fleet", "Wire"], .hot),
        target("Itineraries", ["Fleet", "Wire"], .hot),
        target("Surveys", ["Fleet", "Wire"], .warm),
        target("Pipeline", ["Fleet", "Wire", "Trips", "Alerts", "Itineraries"], .hot),

        target("Settings", ["Fleet", "CYaml"], .cold),
        target("Trials", ["Fleet", "Wire", "Alerts", "Itineraries", "Pipeline", "Settings"], .warm),

        // I/O: decide nothing about fleets.
        target("Observe", ["Fleet"], .hot),
        target("Kafka", ["Observe", "CRdkafka"], .hot),
        target("Postgres", ["Fleet", "CLibpq"], .hot),
        target("HTTP", ["Fleet", "Observe", "CMicrohttpd"], .warm),
        target("Zip", ["CZlib"], .warm),
        target("Tours", ["Fleet", "Wire", "Itineraries", "Zip"], .cold),
        target("Tiles", ["Wire", "Zip", "CSQLite"], .warm),
        target("Secrets", ["Fleet", "COpenSSL", "CSodium"], .cold),
        target("Paper", ["CPango"], .cold),
        target("Sockets", ["Fleet", "CEpoll", "COpenSSL"], .warm),
        target("Outbound", ["Sockets", "CCurl"], .cold),
        target(
            "Storage",
            ["Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "Pipeline", "Kafka", "Secrets", "Postgres"],
            .hot),
        target("Outside", ["Fleet", "Wire", "Outbound", "Secrets", "Postgres", "Storage", "Observe"], .cold),
        target(
            "Gateways",
            [
                "Fleet", "Wire", "Kafka", "Postgres", "Sockets", "Outbound", "Outside", "Secrets", "Storage", "Observe",
                "CSQLite",
            ], .warm),
        target(
            "Worker",
            ["Fleet", "Wire", "Trips", "Alerts", "Surveys", "Pipeline", "Kafka", "Storage", "Postgres", "Observe"], .hot
        ),
        target(
            "Reports",
            [
                "Fleet", "Wire", "Trips", "Alerts", "Trials", "Surveys", "Storage", "Postgres", "Observe", "Paper",
                "Zip", "CXlsxwriter",
            ], .warm),
        target(
            "Notices",
            [
                "Fleet", "Wire", "Alerts", "Kafka", "Sockets", "Outbound", "Postgres", "Secrets", "Storage", "Surveys",
                "Reports",
                "Observe", "COpenSSL",
            ], .cold),
        target(
            "Web",
            [
                "Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "HTTP", "Secrets", "Postgres", "Gateways",
                "Outside", "Outbound",
                "Storage", "Reports", "Tiles", "Tours", "Trials", "Observe", "Zip",
            ], .cold),
        target("Emulate", ["Fleet", "Wire", "Settings", "Observe", "Secrets", "Sockets"], .cold),
        target("Embedded", ["Observe", "Postgres", "Kafka"], .cold),
        // What `drover bench` times itself.
        target(
            "Benches",
            [
                "Fleet", "Wire", "Trips", "Itineraries", "Pipeline", "Observe", "Kafka", "Postgres", "Secrets",
                "Outbound", "Gateways",
                "Storage", "Worker", "Reports", "Notices",
            ], .warm),

        .executableTarget(
            name: "drover",
            dependencies: [
                "Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "Pipeline", "Observe", "Kafka",
                "Postgres",
                "HTTP", "Secrets", "Outbound",
                "Gateways", "Worker", "Storage", "Notices", "Reports", "Web", "Embedded", "Settings",
                "Trials", "Sockets", "Emulate", "Outside", "Tiles", "Benches",
            ],
            swiftSettings: strict + Speed.cold.settings),

        .executableTarget(
            name: "peer-job",
            dependencies: [
                "Alerts", "CSimdjson", "Kafka", "Observe", "Pipeline", "Postgres", "Storage", "Trips", "Wire", "Worker",
            ],
            path: "Tests/Peers", exclude: ["dispatch", "pages", "queries", "reports", "static", "surveys"],
            swiftSettings: strict),
        // The search of benchmark files with a depot, beside PyVRP, VROOM and OR-Tools.
        .target(
            name: "DepotRoutes", path: "Tests/Peers/static/DepotRoutes", swiftSettings: strict + Speed.warm.settings),
        .executableTarget(
            name: "peer-plan", dependencies: ["DepotRoutes"], path: "Tests/Peers/static/plan", swiftSettings: strict),
        .target(
            name: "SimKit", dependencies: ["Fleet", "Pipeline", "Trips", "Alerts"], path: "Tests/SimKit",
            swiftSettings: strict),
        tests("FleetTests", ["Fleet", "SimKit"]),
        tests("WireTests", ["Wire", "Fleet", "CSimdjson", "SimKit"]),
        tests("TripsTests", ["Trips", "Fleet", "Wire", "SimKit"]),
        tests("AlertsTests", ["Alerts", "Fleet", "Wire", "SimKit"]),
        tests("ItinerariesTests", ["Itineraries", "SimKit"]),
        tests("SurveysTests", ["Surveys", "Fleet", "Wire", "SimKit"]),
        tests("SettingsTests", ["Settings"]),
        tests(
            "FuzzTests", ["Fleet", "Wire", "Alerts", "Settings", "Emulate", "Reports", "Tours", "Zip", "SimKit"]),
        tests("TrialsTests", ["Trials", "Alerts", "Itineraries", "Pipeline", "Fleet", "Wire", "SimKit"]),
        tests("ObserveTests", ["Observe"]),
        tests("PostgresTests", ["Postgres"]),
        tests("KafkaTests", ["Kafka"]),
        tests("HTTPTests", ["HTTP"]),
        tests("ZipTests", ["Zip"]),
        tests("ToursTests", ["Tours", "Fleet", "Wire", "SimKit"]),
        tests("TilesTests", ["Tiles"]),
        tests("SecretsTests", ["Secrets", "Fleet"]),
        tests(
            "LibrariesTests",
            [
                "CRdkafka", "CLibpq", "CMicrohttpd", "CSQLite", "CCurl", "COpenSSL", "CSodium", "CXlsxwriter", "CYaml",
                "Wire", "SimKit",
            ]),
        tests("SocketsTests", ["Sockets"]),
        tests("GatewaysTests", ["Gateways", "Wire", "Fleet", "Sockets", "SimKit"]),
        tests("EmulateTests", ["Emulate", "Wire", "Fleet", "Settings", "Pipeline"]),
        tests("OutsideTests", ["Outside", "Fleet", "Wire", "Observe", "SimKit"]),
        tests("PipelineTests", ["Pipeline", "Itineraries", "Alerts", "Trips", "Fleet", "Wire", "SimKit"]),
        tests("NoticesTests", ["Notices", "Storage", "Kafka", "Outbound", "Sockets", "SimKit"]),
        tests(
            "StorageTests", ["Storage", "Pipeline", "Alerts", "Trips", "Fleet", "Wire", "Kafka", "Postgres", "SimKit"]),
        tests("DepotRoutesTests", ["DepotRoutes", "SimKit"]),
        tests("EmbeddedTests", ["Embedded"]),
        tests("ReportsTests", ["Reports", "Alerts", "Fleet", "Postgres"]),
    ],
    cxxLanguageStandard: .cxx17
)
