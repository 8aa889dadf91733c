import Settings
import Testing

struct SettingsTests {
    private struct Missing: Error, CustomStringConvertible { let description: String }
    private static let files: [String: String] = ["secret": "dbname=x\nmore", "empty": "\nx", "crlf": "a\r\n"]
    private static func read(_ path: String) throws -> [UInt8] {
        guard let text = files[path] else { throw Missing(description: "\(path): is missing") }
        return Array(text.utf8)
    }

    @Test func aVariableMayNameTheFileOfAValue() {
        let source = SettingSource(
            environment: [
                "DROVER_POSTGRES_URL_FILE": "secret", "DROVER_KAFKA_GROUP_FILE": "crlf",
                "DROVER_WEB_HOST_FILE": "empty",
                "DROVER_WEB_PORT_FILE": "none", "DROVER_FUEL_CURRENCY": "EUR", "DROVER_FUEL_CURRENCY_FILE": "secret",
                // A setting of that name by itself.
                "DROVER_WEATHER_API_KEY_FILE": "secret",
            ], read: Self.read)
        #expect(
            source.values == [
                "postgres.url": "dbname=x", "kafka.group": "a", "fuel.currency": "EUR",
                "weather.api_key_file": "secret",
            ])
        #expect(
            source.faults == [
                "environment: DROVER_FUEL_CURRENCY_FILE: DROVER_FUEL_CURRENCY is set, too. Set one of them",
                "environment: DROVER_WEB_HOST_FILE: is empty, whose first line is empty. Write the value there",
                "environment: DROVER_WEB_PORT_FILE: none: is missing",
            ])
    }

    @Test func laterSourcesWin() throws {
        let yaml = YAML.settings(
            Array("kafka:\n  brokers: a:1\n  partitions: 3\nweb:\n  port: \"0\"\n".utf8), name: "drover.yaml")
        let settings = try Settings(sources: [
            yaml, SettingSource(environment: ["DROVER_KAFKA_PARTITIONS": "4"], read: Self.read),
        ])
        #expect(settings.text("kafka.brokers") == "a:1" && settings.integer("kafka.partitions") == 4)
        #expect(settings.integer("web.port") == 0 && settings.integer("trips.gap_s") == 10)
        #expect(settings.text("postgres.reader_url", or: "postgres.url") == "dbname=drover")
        #expect(settings.place("kafka.brokers") == "drover.yaml: line 2: kafka.brokers")
        #expect(settings.place("kafka.partitions") == "environment: DROVER_KAFKA_PARTITIONS")
        #expect(settings.place("trips.gap_s") == nil)
        #expect(settings.located("web.port: no") == "drover.yaml: line 5: web.port: no")
        #expect(settings.located("kafka.partitions: no") == "kafka.partitions: no")
    }

    @Test func allFaultsAreSaidAtOnceAndTheOthersStand() {
        let yaml = YAML.settings(
            Array("kafka:\n  batch_messages_max: 0\n  colour: red\n  brokers: a:1\n  brokers: b:1\n".utf8),
            name: "a.yaml")
        let reading = Settings.read([yaml, SettingSource("--set", ["trips.sharp_mps2": "fast"])])
        #expect(
            reading.faults.map { $0.prefix(60) } == [
                "a.yaml: line 5: brokers stands twice. Keep one",
                "a.yaml: line 2: kafka.batch_messages_max: is 0, must be 1 to",
                "a.yaml: line 3: kafka.colour: is not a setting. `drover sett",
                "--set: trips.sharp_mps2: is `fast`, must be a number with a ",
            ])
        #expect(reading.keys == ["kafka.batch_messages_max", "trips.sharp_mps2"])
        #expect(reading.settings.text("kafka.brokers") == "a:1")
        #expect(reading.settings.integer("kafka.batch_messages_max") == 10_000)
        #expect(throws: SettingsError.self) { try Settings(sources: [yaml]) }
    }

    @Test(
        "What is not a settings file says where",
        arguments: [
            "- a\n- b\n", "kafka: [1, 2]\n", "kafka:\n  brokers: a\n  brokers: b\n",
            "kafka: {brokers: {a: {b: {c: {d: {e: {f: {g: 1}}}}}}}}\n", "\tkafka: 1\n", "just text\n",
            "a: &x 1\nb: *x\n", "a: 1\n---\nb: 2\n", "{a: 1}: 2\n",
        ])
    func refuses(_ text: String) {
        let error = #expect(throws: SettingsError.self) { try YAML.flatten(Array(text.utf8), name: "drover.yaml") }
        #expect(error?.description.hasPrefix("drover.yaml: line ") == true)
    }

    @Test("Every default satisfies its own check, and a role reads it", arguments: SettingRow.table.map(\.key))
    func defaults(_ key: String) throws {
        let row = try #require(SettingRow.of(key))
        _ = try Settings(sources: [SettingSource("default", [key: row.standard])])
        #expect(!row.readers.isEmpty)
    }

    @Test(arguments: [
        ("gateway.back_off_s_max", "whole number, 1 to 86400 s"), ("iso.interval_min", "whole number, 1 to 1440 min"),
        ("trips.sharp_speed_kmh_min", "whole number, 0 to 200 km/h"), ("trips.sharp_mps2", "number, 0.5 to 20 m/s²"),
        ("web.plain_http_outside", "0 or 1"), ("kafka.partitions", "whole number, 1 to 1024"),
        ("gateway.spool_bytes_max", "whole number, 1000000 to 1000000000000 bytes"),
        ("trips.trip_gap_min", "whole number, 1 to 100000 min"),
        ("apps.key", "file, secret"),
    ])
    func aTypeSaysItsUnit(_ key: String, _ type: String) { #expect(SettingRow.of(key)?.type == type) }

    @Test func variablesThatAreNoneAreSaidOnlyWhenTheyLookLikeOne() {
        let source = SettingSource(
            environment: [
                "DROVER_KAFKA_BROKER": "a", "DROVER_LOG": "info", "DROVER_TEST_BROKERS": "a", "HOME": "/",
                "DROVER_WEB_HOST": "::1",
            ], read: Self.read)
        #expect(
            source.faults == [
                "environment: DROVER_KAFKA_BROKER: is not a setting. Did you mean DROVER_KAFKA_BROKERS? `drover settings` lists them"
            ])
        #expect(source.values == ["web.host": "::1"])
    }
}
