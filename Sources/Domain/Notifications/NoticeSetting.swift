package import Alerts

/// An account's choice of what it is told, how and when: a row of `drover.notice_setting`. The defaults are the table's.
package struct NoticeSetting: Sendable, Equatable {
    /// How alerts of one severity are told.
    package struct Way: Sendable, Equatable {
        package var manner: NoticeManner
        package var channels: Set<NoticeChannel>

        package init(_ manner: NoticeManner, _ channels: Set<NoticeChannel>) {
            self.manner = manner
            self.channels = channels
        }
    }

    /// Minutes of the local day; over midnight where `from` is the later one.
    package struct Quiet: Sendable, Equatable {
        package var from, until: Int

        package init(from: Int, until: Int) {
            self.from = from
            self.until = until
        }
    }

    package var critical = Way(.atOnce, [.mail, .push, .webhook])
    package var warning = Way(.daily, [.mail, .webhook])
    /// Minute of the local day at which what waits for the day's message is told.
    package var dailyMinute = 420
    /// When nothing is told; nil: no such hours.
    package var quiet: Quiet?
    /// Quiet hours hold critical ones back, too.
    package var isQuietForCritical = false
    /// The wish for alerts that are over or hours old when they get here.
    package var backlog = NoticeBacklog.daily
    /// Until an open alert that nobody has acknowledged is told again; 0: never.
    package var repeatMin = 240
    /// Also of machines that are seen as their maker.
    package var hasMadeMachines = false
    package var webhookURL: String?
    /// Encrypted.
    package var webhookKey: [UInt8]?
    /// No more mail, by one click in one.
    package var isMailEnded = false

    package init() {}

    package func way(_ severity: Episode.Severity) -> Way {
        switch severity {
        case .critical: critical
        case .warning: warning
        }
    }
}
