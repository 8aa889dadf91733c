package import Alerts

/// A change of an alert that may have to be told, as a worker decided it: a row of `drover.notice_event`.
package struct NoticeEvent: Sendable {
    package let alert: String
    package let transition: AlertTransition.Kind
    /// When its record was pushed.
    package let toldMs: Int64

    package init(alert: String, transition: AlertTransition.Kind, toldMs: Int64) {
        self.alert = alert
        self.transition = transition
        self.toldMs = toldMs
    }
}

/// One occasion that one account is told of, or is not.
package struct Notice: Sendable, Equatable {
    package let id, alert, account: String
    package let occasion: NoticeOccasion
    package let round: Int
    package let vehicle: String
    package let relation: NoticeRelation
    package var manner: NoticeManner
    package var state: NoticeState
    package var reason: String
    package var decidedMs, dueMs: Int64

    package init(
        id: String, alert: String, account: String, occasion: NoticeOccasion, round: Int, vehicle: String,
        relation: NoticeRelation, manner: NoticeManner, state: NoticeState, reason: String, decidedMs: Int64,
        dueMs: Int64
    ) {
        self.id = id
        self.alert = alert
        self.account = account
        self.occasion = occasion
        self.round = round
        self.vehicle = vehicle
        self.relation = relation
        self.manner = manner
        self.state = state
        self.reason = reason
        self.decidedMs = decidedMs
        self.dueMs = dueMs
    }
}

extension Notice {
    /// As it is when nothing more will come of it.
    package func settled(_ state: NoticeState, _ reason: String) -> Notice {
        var notice = self
        notice.state = state
        notice.reason = reason
        return notice
    }

    package func waiting(until ms: Int64, _ reason: String) -> Notice {
        var notice = self
        notice.dueMs = ms
        notice.reason = reason
        return notice
    }
}
