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
    // The hot path crosses targets (Kafka → Wire → Pipeline → Trips): small functions are inlined there, too.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

func target(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func library(_ name: String, pkgConfig: String?, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
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
        .target(name: "Fleet", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
        target("Wire", ["Fleet", "CSimdjson"]),
        target("Trips", ["Fleet", "Wire"]),
        target("Alerts", ["Fleet", "Wire"]),
        target("Itineraries", ["Fleet", "Wire"]),
        target("Surveys", ["Fleet", "Wire"]),
        target("DepotRoutes"),
        target("Pipeline", ["Fleet", "Wire", "Trips", "Alerts", "Itineraries"]),

        target("Settings", ["Fleet", "CYaml"]),
        target("Trials", ["Fleet", "Wire", "Alerts", "Itineraries", "Pipeline", "Settings"]),

        // I/O: decide nothing about fleets.
        target("Observe", ["Fleet"]),
        target("Kafka", ["Observe", "CRdkafka"]),
        target("Postgres", ["CLibpq"]),
        target("HTTP", ["Observe", "CMicrohttpd"]),
        target("Zip", ["CZlib"]),
        target("Tours", ["Fleet", "Wire", "Itineraries", "Zip"]),
        target("Tiles", ["Wire", "Zip", "CSQLite"]),
        target("Secrets", ["CSodium"]),
        target("Paper", ["CPango"]),
        target("Outbound", ["CCurl"]),
        target("Sockets", ["CEpoll", "COpenSSL", "CSodium"]),
        target("Outside", ["Fleet", "Wire", "Outbound", "Secrets", "Postgres", "Observe"]),
        target(
            "Gateways",
            [
                "Fleet", "Wire", "Kafka", "Postgres", "Sockets", "Outbound", "Outside", "Secrets", "Observe", "CSQLite",
            ]),
        target(
            "Storage",
            ["Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "Pipeline", "Kafka", "Secrets", "Postgres"]),
        target(
            "Worker",
            ["Fleet", "Wire", "Trips", "Alerts", "Surveys", "Pipeline", "Kafka", "Storage", "Postgres", "Observe"]),
        target(
            "Reports",
            [
                "Fleet", "Wire", "Trips", "Alerts", "Trials", "Surveys", "Storage", "Postgres", "Observe", "Paper",
                "Zip",
            ]),
        target(
            "Notices",
            [
                "Fleet", "Wire", "Alerts", "Kafka", "Outbound", "Postgres", "Secrets", "Storage", "Surveys", "Reports",
                "Observe", "COpenSSL",
            ]),
        target(
            "Web",
            [
                "Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "HTTP", "Secrets", "Postgres", "Gateways",
                "Outside", "Outbound",
                "Storage", "Reports", "Tiles", "Tours", "Trials", "Observe", "Zip",
            ]),
        target("Emulate", ["Fleet", "Wire", "Settings", "Observe", "Sockets"]),
        target("Embedded", ["Observe", "Postgres", "Kafka"]),

        .executableTarget(
            name: "drover",
            dependencies: [
                "Fleet", "Wire", "Trips", "Alerts", "Itineraries", "Surveys", "Pipeline", "Observe", "Kafka",
                "Postgres",
                "HTTP", "Secrets", "Outbound",
                "Gateways", "Worker", "Storage", "Notices", "Reports", "Web", "Embedded", "Settings",
                "Trials", "Sockets", "Emulate", "Outside", "DepotRoutes", "Tiles",
            ],
            swiftSettings: strict),

        .executableTarget(
            name: "peer-job",
            dependencies: [
                "Alerts", "CSimdjson", "Kafka", "Observe", "Pipeline", "Postgres", "Storage", "Trips", "Wire", "Worker",
            ],
            path: "Tests/Peers", exclude: ["dispatch", "pages", "queries", "reports", "static", "surveys"],
            swiftSettings: strict),
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
        tests("SecretsTests", ["Secrets"]),
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
        tests("NoticesTests", ["Notices", "Storage", "Kafka", "Outbound", "SimKit"]),
        tests(
            "StorageTests", ["Storage", "Pipeline", "Alerts", "Trips", "Fleet", "Wire", "Kafka", "Postgres", "SimKit"]),
        tests("DepotRoutesTests", ["DepotRoutes", "SimKit"]),
        tests("EmbeddedTests", ["Embedded"]),
        tests("ReportsTests", ["Reports", "Alerts", "Fleet"]),
    ],
    cxxLanguageStandard: .cxx17
)
