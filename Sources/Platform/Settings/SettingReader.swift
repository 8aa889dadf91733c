internal import Basics

/// A role that reads a setting; `drover up` is all of them at once.
package enum SettingReader: String, CaseIterable, Sendable {
    case work, serve, notify, gateway
    case iso = "gateway pull-iso"
    /// Commands that people run and that end by themselves, such as `drover report` or `drover migrate`.
    case commands

    /// All groups of the table; single settings that other processes read follow below.
    static let ofGroup: [String: [SettingReader]] = [
        "kafka": allCases,
        "postgres": [.commands],
        "surveys": [.serve],
        "notices": [.serve, .notify],
        "alertmanager": [.notify],
        "forward": [.notify],
        "work": [.work, .commands],
        "rejected": [.notify],
        "retention": [.commands],
        "ticks": [.work, .serve, .notify, .gateway],
        "gateway": [.gateway],
        "cars": [.serve, .commands],
        "trips": [.work, .serve, .notify, .commands],
        "alerts": [.work, .serve, .commands],
        "iso": [.iso],
        "outside": [.serve, .gateway, .commands],
        "weather": [.gateway, .commands],
        "travel": [.serve, .commands],
        "dispatch": [.serve, .commands],
        "geocoder": [.serve, .commands],
        "reports": [.notify],
        "mail": [.notify],
        "people": [.serve, .notify],
        "fuel": [.serve, .notify, .commands],
        "web": [.serve],
        "tours": [.serve],
        "metrics": [.work, .serve, .notify, .gateway, .commands],
        "health": [.work, .serve, .notify, .gateway],
        "log": allCases,
        "oidc": [.serve],
        "map": [.serve],
        "apps": [.serve],
    ]

    static let ofKey: [String: [SettingReader]] = [
        "kafka.group": [.work],
        "kafka.instance_id": [.work],
        "kafka.session_timeout_ms": [.work],
        "kafka.batch_messages_max": [.work, .commands],
        // The default of processes without a connection string of their own.
        "postgres.url": [.work, .serve, .notify, .gateway, .commands],
        "postgres.reader_url": [.serve, .commands],
        "postgres.page_url": [.serve, .notify],
        "postgres.query_url": [.serve, .commands],
        "postgres.relay_url": [.notify, .commands],
        "postgres.gateway_url": [.gateway, .commands],
        "postgres.debug_url": [.gateway, .commands],
        "postgres.survey_url": [.serve],
        "notices.group_wait_s": [.notify],
        "notices.ca_file": [.notify],
        "notices.webhook_cidrs": [.notify],
        "retention.vehicle_minute_days": [.work, .commands],
        "retention.machine_reading_days": [.work, .commands],
        "gateway.answer_timeout_ms": [.gateway, .commands],
        "gateway.plain_tcp_cidrs": [.serve, .gateway, .commands],
        "gateway.device_cidrs": [.serve, .gateway, .commands],
        "alerts.watch_s": [.serve],
        "outside.contact": [.serve, .notify, .gateway, .commands],
        "weather.provider": [.serve, .gateway, .commands],
        "weather.cell_deg": [.serve, .gateway, .commands],
        "weather.backfill_interval_s": [.gateway],
        "dispatch.weather_interval_s": [.gateway],
        "mail.server": [.serve, .notify],
        "mail.from": [.serve, .notify],
        "people.code_key_file": [.serve, .notify, .commands],
        "people.code_key_file_before": [.serve, .notify, .commands],
        "people.second_factor_roles": [.serve],
        "web.host": [.serve, .commands],
        // The others, because nobody is to be led to it.
        "web.port": [.serve, .notify, .gateway, .commands],
        "apps.port": [.serve, .notify, .gateway, .commands],
        "web.public_url": [.serve, .notify, .commands],
    ]
}

extension SettingRow {
    package var readers: [SettingReader] { SettingReader.ofKey[key] ?? SettingReader.ofGroup[group] ?? [] }

    /// How a change takes effect without a restart: only new content of the named file, never another name. Nil: it does not.
    package var readAgain: String? {
        switch key {
        case "web.certificate", "web.certificate_key", "apps.certificate", "apps.key", "apps.client_authority",
            "apps.client_revoked":
            return "the file, on SIGHUP"
        case "kafka.ca_file", "kafka.certificate_file", "kafka.key_file", "kafka.key_password_file",
            "kafka.sasl_password_file":
            return "the file, within seconds"
        case "alerts.thresholds_dir": return "its files, by `serve`, each `alerts.watch_s` and on SIGHUP"
        case "cars.trouble_codes_dir": return "its files, when asked for"
        default: return nil
        }
    }

    /// The type of a value, with its unit.
    package var type: String {
        switch kind {
        case .text: return "text"
        case .integer(0...1): return "0 or 1"
        case .integer(let range): return "whole number, \(range.lowerBound) to \(range.upperBound)\(spacedUnit)"
        case .thousandths(let range):
            let bounds = "\(SettingRow.decimal(range.lowerBound)) to \(SettingRow.decimal(range.upperBound))"
            return "number, \(bounds)\(spacedUnit)"
        case .choice(let words): return words.map { "`\($0)`" }.joined(separator: " or ")
        case .connection: return "connection string"
        case .secret: return "text, secret"
        case .file: return "file"
        case .secretFile: return "file, secret"
        case .folder: return "folder"
        case .shipped: return "file or folder of the program"
        case .fileToMake: return "file, made when missing"
        }
    }

    private static let units = [
        "ms": "ms", "s": "s", "min": "min", "h": "h", "days": "days", "bytes": "bytes", "kmh": "km/h", "mps2": "m/s²",
        "deg": "°", "cidrs": nil,
    ]

    /// The last part of a key is its unit, before a bound: `back_off_s_max`.
    private var spacedUnit: String {
        let parts = key.split { $0 == "." || $0 == "_" }.map(String.init)
        // `min` is a unit (`interval_min`) or a bound (`speed_kmh_min`): the one before it tells.
        for word in parts.suffix(2).reversed() where word != "max" {
            if word == "min", let before = parts.dropLast().last, SettingRow.units[before] != nil { continue }
            return (SettingRow.units[word] ?? nil).map { " " + $0 } ?? ""
        }
        return ""
    }

    static func decimal(_ thousandths: Int64) -> String { Decimal.text(thousandths, decimals: 3) }
}
