import Settings
import Testing

/// Which ports are our own servers', as the settings say it.
@Suite struct OwnPortsTests {
    private static func ports(_ values: [String: String]) throws -> Set<UInt16> {
        try Settings(sources: [SettingSource("test", values)]).ownPorts
    }

    @Test func ofTheDefaults() throws { #expect(try Self.ports([:]) == [8_080, 9_092, 5_432]) }

    @Test func ofAnInstallation() throws {
        let ports = try Self.ports([
            "kafka.brokers": "one:19092, two:29092,three", "web.port": "443", "apps.port": "8443",
            "metrics.port": "9501", "postgres.url": "host='db one' port='6432' dbname=drover",
            "postgres.reader_url": "postgresql://web:secret@replica:7432,other:7433/drover?sslmode=verify-full",
            "mail.server": "smtps://mail.example.org:465",
        ])
        #expect(ports == [19_092, 29_092, 9_092, 443, 8_443, 9_501, 5_432, 6_432, 7_432, 7_433, 465])
    }

    @Test func ofAnyFreePortNothingIsKnown() throws {
        #expect(try Self.ports(["web.port": "0", "apps.port": "0"]) == [9_092, 5_432])
    }
}
