/// The occasion of a notice. Raw values stand in `drover.notice`, in webhooks' JSON and on the page.
package enum NoticeOccasion: String, CaseIterable, Sendable {
    case opened
    /// It became critical, or a service that was due soon is due.
    case worse
    /// Nobody has acknowledged it: said again, or to a colleague.
    case repeated, escalated
    case resolved
    /// Late readings changed, or took back, what was told.
    case corrected, withdrawn

    /// One of these tells of an alert first.
    package var isBeginning: Bool {
        switch self {
        case .opened, .worse, .escalated: true
        case .repeated, .resolved, .corrected, .withdrawn: false
        }
    }

    /// Somebody is to do something about it.
    package var asksToAct: Bool { isBeginning || isReminder }

    /// Pointless once it is acknowledged or over.
    package var isReminder: Bool { self == .repeated || self == .escalated }

    package var isCorrection: Bool { self == .corrected || self == .withdrawn }
}

/// How soon somebody is told.
package enum NoticeManner: String, CaseIterable, Sendable {
    case atOnce = "at_once"
    case daily, never
}

/// The state of a notice.
package enum NoticeState: String, CaseIterable, Sendable {
    case waiting, told
    case notTold = "not_told"
}

/// A way out to people.
package enum NoticeChannel: String, CaseIterable, Sendable { case mail, push, webhook }

/// The state of a message on its channel.
package enum NoticeMessageState: String, CaseIterable, Sendable { case waiting, sent, refused }

/// How somebody wants to be told of what was over or hours old when it reached us.
package enum NoticeBacklog: String, CaseIterable, Sendable {
    case asUsual = "as_usual"
    case daily, never
}

/// Why an account is near enough to an alert to be told. The text stands in `drover.notice` and on the page.
package enum NoticeRelation: RawRepresentable, Hashable, Sendable {
    case owner, dealer, driver, developer
    case stepsIn(for: String)
    /// As a later version wrote it: shown as it stands.
    case other(String)

    private static let stepsIn = "steps in for "

    package init(rawValue: String) {
        switch rawValue {
        case "owner": self = .owner
        case "dealer": self = .dealer
        case "driver": self = .driver
        case "developer": self = .developer
        default:
            self =
                rawValue.hasPrefix(NoticeRelation.stepsIn)
                ? .stepsIn(for: String(rawValue.dropFirst(NoticeRelation.stepsIn.count))) : .other(rawValue)
        }
    }

    package var rawValue: String {
        switch self {
        case .owner: "owner"
        case .dealer: "dealer"
        case .driver: "driver"
        case .developer: "developer"
        case .stepsIn(let account): NoticeRelation.stepsIn + account
        case .other(let text): text
        }
    }
}
