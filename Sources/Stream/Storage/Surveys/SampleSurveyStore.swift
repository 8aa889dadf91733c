package import Postgres

/// Receipts of the surveys of `drover up --sample`, through the owner's login: whoever walked them has them in the own list.
package enum SampleSurveyStore {
    package struct Receipt: Sendable {
        let site, survey: String
        let digest: [UInt8]
        let receivedMs: Int64

        package init(site: String, survey: String, digest: [UInt8], receivedMs: Int64) {
            self.site = site
            self.survey = survey
            self.digest = digest
            self.receivedMs = receivedMs
        }
    }

    /// In the order of their times. Those that are there stay.
    package static func put(_ receipts: [Receipt], of account: String, on connection: Connection) throws {
        for receipt in receipts.sorted(by: { $0.receivedMs < $1.receivedMs }) {
            try connection.query(
                """
                INSERT INTO drover.survey_receipt (site, survey, digest, account, token_id, received_at)
                VALUES ($1, $2, $3, $4, $4, $5) ON CONFLICT (site, survey) DO NOTHING
                """,
                [
                    .text(receipt.site), .text(receipt.survey), .bytes(receipt.digest), .text(account),
                    .timestampMs(receipt.receivedMs),
                ])
        }
    }
}
