/// Connection strings by who connects, each with the one that stands in where it has none of its own.
extension Settings {
    /// Of pages, the API and reports.
    package var readerConninfo: String { text("postgres.reader_url", or: "postgres.url") }
    /// Of `drover notify`.
    package var relayConninfo: String { text("postgres.relay_url", or: "postgres.url") }
    /// Of `drover gateway`, and of what is asked of services of others beside it.
    package var gatewayConninfo: String { text("postgres.gateway_url", or: "postgres.url") }
    /// Of who reads boxes' debug logs.
    package var debugConninfo: String { text("postgres.debug_url", or: "postgres.url") }
    /// Of what changes tables, rights and accounts.
    package var ownerConninfo: String { text("postgres.owner_url", or: "postgres.url") }
    /// Of what surveyors' apps ask.
    package var surveyConninfo: String {
        let own = text("postgres.survey_url")
        return own.isEmpty ? readerConninfo : own
    }
}
