import Settings
import Testing

struct SettingsTests {
    @Test func laterSourcesWin() throws {
        let yaml = try YAML.flatten(
            Array("kafka:\n  brokers: a:1\n  partitions: 3\nweb:\n  port: \"0\"\n".utf8), name: "drover.yaml")
        let settings = try Settings(sources: [("drover.yaml", yaml), ("environment", ["kafka.partitions": "4"])])
        #expect(settings.text("kafka.brokers") == "a:1" && settings.integer("kafka.partitions") == 4)
        #expect(settings.integer("web.port") == 0 && settings.integer("trips.gap_s") == 10)
        #expect(settings.text("postgres.reader_url", or: "postgres.url") == "dbname=drover")
    }

    @Test func allFaultsAreSaidAtOnceWithFileValueAndBound() {
        let error = #expect(throws: SettingsError.self) {
            try Settings(sources: [
                ("drover.yaml", ["kafka.batch_messages_max": "0", "trips.sharp_mps2": "fast", "kafka.colour": "red"])
            ])
        }
        #expect(error?.faults.count == 3)
        #expect(error?.description.contains("drover.yaml: kafka.batch_messages_max: is 0, must be 1 to 100000") == true)
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
        #expect(error?.description.hasPrefix("drover.yaml: ") == true)
    }

    @Test("Every default satisfies its own check", arguments: SettingRow.table.map(\.key))
    func defaults(_ key: String) throws {
        let row = try #require(SettingRow.table.first { $0.key == key })
        _ = try Settings(sources: [("default", [key: row.standard])])
    }
}
