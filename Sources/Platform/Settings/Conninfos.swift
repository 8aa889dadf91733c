/// Connection strings by role, each with its fallback.
extension Settings {
    /// For pages, the API and reports.
    package var readerConninfo: String { text("postgres.reader_url", or: "postgres.url") }
    /// For `drover notify`.
    package var relayConninfo: String { text("postgres.relay_url", or: "postgres.url") }
    /// For `drover gateway` and the external services that it calls.
    package var gatewayConninfo: String { text("postgres.gateway_url", or: "postgres.url") }
    /// For readers of boxes' debug logs.
    package var debugConninfo: String { text("postgres.debug_url", or: "postgres.url") }
    /// For changes to tables, rights and accounts.
    package var ownerConninfo: String { text("postgres.owner_url", or: "postgres.url") }
    /// For surveyors' apps.
    package var surveyConninfo: String {
        let own = text("postgres.survey_url")
        return own.isEmpty ? readerConninfo : own
    }
}
