package import Alerts

/// An account, as far as it matters for telling it something.
package struct NoticeAccount: Sendable {
    package let id: String
    /// Nil: erased.
    package var mail: String?
    /// First and last name; may be empty.
    package var name = ""
    package var units = DriverSettings.Units.metric
    package var zone: String
    /// Confirmed and not disabled.
    package var isEnabled = true
    /// Browsers that it may be pushed to.
    package var pushes = 0
    /// Whom to tell when it does not acknowledge, and after how many minutes.
    package var steps: [(afterMin: Int, colleague: String)] = []
    package var setting: NoticeSetting

    package init(id: String, mail: String?, zone: String = "UTC", setting: NoticeSetting = NoticeSetting()) {
        self.id = id
        self.mail = mail
        self.zone = zone
        self.setting = setting
    }
}
