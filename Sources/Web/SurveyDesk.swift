internal import Fleet
internal import Gateways
internal import Observe
internal import Outside
internal import Postgres
internal import Secrets
internal import Storage
internal import Surveys
internal import Wire

/// Takes surveys: promised in PostgreSQL, then on the log, then marked. Whoever is killed in between leaves a promise, and
/// the client, which got no answer, hands the same in again; what stands on the log twice counts once.
final class SurveyDesk: Sendable {
    enum Outcome: Sendable {
        /// On the log, on all replicas.
        case stored(SurveyReceipts.Receipt, digest: [UInt8], isNew: Bool)
        /// Another one of its site and id was handed in before.
        case taken
        case brokerAway
        case busy
        case databaseAway(any Error)
        /// It cannot stand on the log.
        case unfit(String)
    }

    /// Marks that wait; beyond it a survey stays unmarked, and a repeat of it goes to the log once more.
    private static let marksMax = 10_000

    private let lender: ConnectionLender
    private let uploads: UploadSender
    private let shelf: WeatherShelf?
    private let marks: SideThread<ReceiptMarks>

    init(_ lender: ConnectionLender, conninfo: String, uploads: UploadSender, shelf: WeatherShelf?) {
        (self.lender, self.uploads, self.shelf) = (lender, uploads, shelf)
        marks = SideThread("survey-marks", waitingMax: SurveyDesk.marksMax) { ReceiptMarks(conninfo: conninfo) }
    }

    func stop() { marks.stop() }

    /// `then` is called once, here or on another thread.
    func take(_ survey: Survey, from use: TokenStore.Use, then: @escaping @Sendable (Outcome) -> Void) {
        let digest = SurveyDesk.digest(survey)
        let receipt: SurveyReceipts.Receipt
        let upload: Upload
        do {
            let submitted = SurveyDesk.record(survey, digest, from: use)
            // Before it is promised: what cannot stand on the log is no promise.
            _ = try Upload(surveys: [submitted])
            let found = try lender.withConnection { connection in
                let receipt = try SurveyReceipts.take(
                    site: survey.site, survey: survey.survey, digest: digest, account: use.account, token: use.id,
                    on: connection)
                return try receipt.map { ($0, weather: $0.isLogged ? nil : try weather(of: survey, use, connection)) }
            }
            guard let found else { return then(.taken) }
            receipt = found.0
            upload = try Upload(surveys: [submitted] + (found.weather.map { [$0] } ?? []))
        } catch let fault as Upload.Fault {
            return then(.unfit("\(fault)"))
        } catch {
            return then(.databaseAway(error))
        }
        if receipt.isLogged { return then(.stored(receipt, digest: digest, isNew: false)) }
        uploads.send(survey: upload) { [marks] outcome, place in
            switch outcome {
            case .brokerAway: return then(.brokerAway)
            case .busy: return then(.busy)
            case .acknowledged: break
            }
            let stored = Outcome.stored(receipt, digest: digest, isNew: true)
            let isMarked = marks.take { marks in
                // It is on the log, marked or not.
                if let place { marks.mark(receipt.number, place) }
                then(stored)
            }
            if !isMarked { then(stored) }
        }
    }

    /// Of what the survey says, however it was written.
    static func digest(_ survey: Survey) -> [UInt8] {
        Secrets.digest(Array(SurveyText.encode(survey).rendered().utf8))
    }

    private static func record(_ survey: Survey, _ digest: [UInt8], from use: TokenStore.Use) -> SurveyRecord {
        SurveyRecord(
            id: "s-" + Hex.text(digest.prefix(16)), site: survey.site, ts: Clock.nowMs(), account: use.account,
            by: use.id, kind: .submitted(survey))
    }

    /// What is at hand of its hours that are over; the rest is asked for later, by whom nobody waits for.
    private func weather(of survey: Survey, _ use: TokenStore.Use, _ connection: Connection) throws -> SurveyRecord? {
        let nowMs = Clock.nowMs()
        let hours = SurveyHours.of(survey).filter { $0 + SurveyHours.hourMs <= nowMs }
        guard let shelf, let place = Walk(survey).place, let first = hours.first, let last = hours.last else {
            return nil
        }
        let known = try shelf.known(at: place, from: first, through: last, nowMs: nowMs, on: connection)
        guard !known.isEmpty else { return nil }
        return SurveyRecord(weather: known, of: survey.survey, site: survey.site, account: use.account, ts: nowMs)
    }
}

/// Marks receipts. What is lost with a crash of the database costs a repeat, so nobody waits for its disk.
private final class ReceiptMarks {
    private static let againMs: Int64 = 1_000

    private let conninfo: String
    private var connection: Connection?
    private var tryAgainMs: Int64 = 0

    init(conninfo: String) { self.conninfo = conninfo }

    func mark(_ number: Int64, _ place: UploadSender.Place) {
        do {
            guard let open = try connect() else { return }
            try SurveyReceipts.logged(number, partition: place.partition, offset: place.offset, on: open)
        } catch {
            connection = nil
        }
    }

    /// Nil: the database was away a moment ago.
    private func connect() throws -> Connection? {
        if let connection { return connection }
        guard Clock.steadyMs() >= tryAgainMs else { return nil }
        tryAgainMs = Clock.steadyMs() + ReceiptMarks.againMs
        let made = try Connection(conninfo: conninfo, connectTimeoutS: 2, applicationName: "drover survey-marks")
        try made.execute("SET statement_timeout = '2s'; SET synchronous_commit = off")
        connection = made
        return made
    }
}
