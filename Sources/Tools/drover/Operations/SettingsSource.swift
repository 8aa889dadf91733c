import App
import Foundation
import Kafka
import Settings
import Synchronization
import Telemetry

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
        ServiceRoles.logFormat.withLock { $0 = Log.Format(rawValue: settings.text("log.format"))! }
        return settings
    }

    /// Sources of settings that people gave, from weakest to strongest.
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

    /// Settings of a broker of our own: no TLS and SASL, whatever a file says of those in production.
    static func ownBroker(_ brokers: String) -> [String: String] { ownBroker(["kafka.brokers": brokers]) }

    /// - Parameter settings: that it is reached by; the others are those of a plain one.
    static func ownBroker(_ settings: [String: String]) -> [String: String] {
        let others = SettingRow.table.map(\.key).filter { key in
            key == "kafka.replication"
                || ["kafka.security_", "kafka.ca_", "kafka.certificate_", "kafka.key_", "kafka.sasl_"].contains {
                    key.hasPrefix($0)
                }
        }
        let plain = Dictionary(uniqueKeysWithValues: others.map { ($0, SettingRow.of($0)!.standard) })
        return plain.merging(settings) { $1 }
    }
}
