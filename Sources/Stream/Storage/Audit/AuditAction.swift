/// Actions in the audit log. The raw values are stored, shown and filtered by: they stay as they are (docs/audit.md).
package enum AuditAction: String, CaseIterable, Sendable {
    // Ways in. The first four are counted: one entry a minute, account and address, and one with how often
    case logIn = "log_in"
    case logInFailed = "log_in_failed"
    case logOut = "log_out"
    case sessionEnded = "session_ended"
    case linkGiven = "link_given"
    case databaseLoginGiven = "database_login_given"
    case databaseLoginEnded = "database_login_ended"
    case tokenAdded = "token_added"
    case tokenRevoked = "token_revoked"
    case campusTokenAdded = "campus_token_added"
    case campusTokenRevoked = "campus_token_revoked"

    // Accounts and what they may
    case accountAdded = "account_added"
    case accountConfirmed = "account_confirmed"
    case accountDisabled = "account_disabled"
    case accountEnabled = "account_enabled"
    case accountErased = "account_erased"
    case passwordChanged = "password_changed"
    case secondFactorChanged = "second_factor_changed"
    case rolesChanged = "roles_changed"
    case fleetJoined = "fleet_joined"
    case fleetLeft = "fleet_left"
    case fleetChanged = "fleet_changed"
    case dealershipChanged = "dealership_changed"

    // What alerts say
    case rulesPublished = "rules_published"
    case rulesEdited = "rules_edited"
    case alertSilenced = "alert_silenced"
    case alertAcknowledged = "alert_acknowledged"
    case alertReopened = "alert_reopened"
    case alertAssigned = "alert_assigned"
    case alertCommented = "alert_commented"

    // What was taken away and looked at: counted by the hour
    case exportTaken = "export_taken"
    case reportRun = "report_run"
    case reportMailed = "report_mailed"
    case queryRun = "query_run"
    case scheduleChanged = "schedule_changed"
    case dataSeen = "data_seen"
    // Each time: to look at one person is no page that keeps itself up to date
    case personSeen = "person_seen"

    // What operators do to the machinery
    case clockSetBack = "clock_set_back"
    case offsetsReset = "offsets_reset"
    case quarantineRetried = "quarantine_retried"
    case logShortened = "log_shortened"
}
