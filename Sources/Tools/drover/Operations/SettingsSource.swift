import Fleet
import Foundation
import Gateways
import Ingest
import Kafka
import Settings
import Synchronization
import Telemetry
import Trips

/// Where settings come from: `--settings FILE` (or ./drover.yaml), `DROVER_…` variables, `--set key=value`.
enum SettingsSource {
    static let options = [
        Command.Option("--settings", "FILE", "YAML file with settings (default: drover.yaml if it is there)"),
        Command.Option("--set", "KEY=VALUE", "one setting; may stand several times"),
    ]

    /// - Parameters:
    ///   - defaults: of the command, instead of the table's.
    ///   - overrides: count more than anything that a person says.
    static func load(
        _ arguments: Arguments, defaults: [String: String] = [:], overrides: [String: String] = [:]
    ) throws -> Settings {
        let settings = try Settings(
            sources: [SettingSource("defaults", defaults)] + said(arguments) + [SettingSource("options", overrides)])
        Roles.logFormat.withLock { $0 = Log.Format(rawValue: settings.text("log.format"))! }
        return settings
    }

    /// What people said, from weakest to strongest.
    static func said(_ arguments: Arguments) throws -> [SettingSource] {
        var sources: [SettingSource] = []
        let standard = "drover.yaml"
        if let path = arguments.text("--settings")
            ?? (FileManager.default.fileExists(atPath: standard) ? standard : nil)
        {
            sources.append(YAML.settings(try Files.read(path), name: path))
        }
        sources.append(
            SettingSource(environment: ProcessInfo.processInfo.environment) { try Files.read($0) })
        var typed: [String: String] = [:]
        for text in arguments.texts("--set") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw UsageError("--set \(text): must be KEY=VALUE") }
            typed[parts[0]] = parts[1]
        }
        return sources + [SettingSource("--set", typed)]
    }

    /// Of servers of our own: one broker without TLS and SASL, whatever a file says of those in production.
    static func ownBroker(_ brokers: String) -> [String: String] {
        let others = SettingRow.table.map(\.key).filter { key in
            key == "kafka.replication"
                || ["kafka.security_", "kafka.ca_", "kafka.certificate_", "kafka.key_", "kafka.sasl_"].contains {
                    key.hasPrefix($0)
                }
        }
        let plain = Dictionary(uniqueKeysWithValues: others.map { ($0, SettingRow.of($0)!.standard) })
        return plain.merging(["kafka.brokers": brokers]) { $1 }
    }
}

extension Settings {
    /// - Throws: when what is set of TLS and SASL does not go together.
    func kafka(clientID: String) throws -> KafkaSettings {
        let faults = KafkaRules.faults(self)
        guard faults.isEmpty else { throw SettingsError(faults: faults.map { located($0.text) }) }
        var kafka = KafkaSettings(brokers: text("kafka.brokers"), clientID: clientID, extra: [:])
        kafka.names = TopicNames(prefix: text("kafka.topic_prefix"))
        kafka.security.wire = text("kafka.security_protocol")
        kafka.security.rootsFile = text("kafka.ca_file")
        kafka.security.certificateFile = text("kafka.certificate_file")
        kafka.security.keyFile = text("kafka.key_file")
        kafka.security.mechanism = text("kafka.sasl_mechanism")
        kafka.security.user = text("kafka.sasl_user")
        kafka.security.keyPassword = kafkaSecret("kafka.key_password")
        kafka.security.password = kafkaSecret("kafka.sasl_password")
        return kafka
    }

    private func kafkaSecret(_ key: String) -> KafkaSecurity.Secret? {
        let (value, file) = (text(key), text(key + "_file"))
        return value.isEmpty ? file.isEmpty ? nil : .file(file) : .text(value)
    }

    var topicShape: TopicShape {
        TopicShape(
            partitions: Int32(integer("kafka.partitions")), replication: Int32(integer("kafka.replication")))
    }

    func tripRules() throws -> TripRules {
        var rules = TripRules()
        rules.gapMs = integer("trips.gap_s") * 1_000
        rules.tripGapMs = integer("trips.trip_gap_min") * 60_000
        rules.sharpMmPerS2 = thousandths("trips.sharp_mps2")
        rules.sharpLeastMetresPerHour = integer("trips.sharp_speed_kmh_min") * 1_000
        rules.sharpHoldMs = integer("trips.sharp_hold_ms")
        if let fault = rules.fault { throw Failure("trips.*: \(fault)") }
        return rules
    }

    var fuelPrice: FuelPrice {
        FuelPrice(perUSGallon: Double(thousandths("fuel.price_per_us_gal")) / 1_000, currency: text("fuel.currency"))
    }
}
