import Alerts
import Fleet
import Notifications

/// Facts to decide about.
enum NoticeSample {
    static func alert(_ severity: Episode.Severity, openedMs: Int64, toldMs: Int64) -> NoticeAlert {
        var alert = NoticeAlert(
            id: "8R-1-x", kind: .machine, vehicle: "8R-1", model: "8R Tractor", parameter: "Engine coolant temperature",
            unit: "°C", severity: severity, state: .open, test: .above, openedMs: openedMs)
        alert.threshold = 105
        alert.openingValue = 108
        alert.worstValue = 108
        alert.toldMs = toldMs
        return alert
    }

    static func account(_ id: String, setting: NoticeSetting = NoticeSetting()) -> NoticeAccount {
        NoticeAccount(id: id, mail: "\(id)@example.org", setting: setting)
    }
}
