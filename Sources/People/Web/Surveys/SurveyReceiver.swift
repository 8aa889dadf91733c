internal import Basics
internal import Codecs
internal import Crypto
internal import ExternalServices
internal import Fleet
internal import Formats
internal import Ingest
internal import Postgres
internal import Storage
internal import Surveys
internal import Telemetry

/// Accepts surveys: a promise in PostgreSQL, then the record on the log, then a mark. A crash in between leaves a promise; the client,
/// which got no answer, sends the same again, and duplicates on the log count once.
final class SurveyReceiver: Sendable {
    enum Outcome: Sendable {
        /// On the log, on all replicas.
        case stored(SurveyReceiptStore.Receipt, digest: [UInt8], isNew: Bool)
        /// Another one of its site and id was handed in before.
        case taken
        case brokerAway
        case busy
        case databaseAway(any Error)
        /// It cannot stand on the log.
        case unfit(String)
    }

    private let pool: ConnectionPool
    private let uploads: UploadSender
    private let cache: WeatherCache?
    private let marks: ReceiptMarker

    init(_ pool: ConnectionPool, conninfo: String, uploads: UploadSender, cache: WeatherCache?) {
        self.pool = pool
        self.uploads = uploads
        self.cache = cache
        marks = ReceiptMarker(conninfo: conninfo)
    }

    func stop() { marks.stop() }

    /// `then` is called once, here or on another thread.
    /// - Parameter by: who says it: a token's id, or a person.
    func accept(
        _ survey: Survey, of account: String, by: String, then: @escaping @Sendable (Outcome) -> Void
    ) {
        let digest = SurveyReceiver.digest(survey)
        let receipt: SurveyReceiptStore.Receipt
        let upload: Upload
        do {
            // Before the promise: only a survey that fits the log may be promised.
            var made = try Upload(surveys: [SurveyReceiver.record(survey, digest, of: account, by: by)])
            let found = try pool.withConnection { connection in
                let receipt = try SurveyReceiptStore.promise(
                    site: survey.site, survey: survey.survey, digest: digest, account: account, token: by,
                    on: connection)
                return try receipt.map {
                    ($0, weather: $0.isLogged ? nil : try weather(of: survey, account, connection))
                }
            }
            guard let found else { return then(.taken) }
            receipt = found.0
            // The place of the last record is the survey's.
            if let weather = found.weather { try made.insert(survey: weather) }
            upload = made
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
            let place = SurveyReceiptStore.Place(receipt.number, partition: place!.partition, offset: place!.offset)
            // It is on the log, marked or not.
            marks.add(place) { then(.stored(receipt, digest: digest, isNew: true)) }
        }
    }

    /// The digest of the survey's content, however it was written.
    static func digest(_ survey: Survey) -> [UInt8] {
        Secrets.digest(Array(SurveyText.encode(survey).rendered().utf8))
    }

    private static func record(_ survey: Survey, _ digest: [UInt8], of account: String, by: String) -> SurveyRecord {
        SurveyRecord(
            id: "s-" + Hex.text(digest.prefix(16)), site: survey.site, ts: Clock.nowMs(), account: account,
            by: by, kind: .submitted(survey))
    }

    /// The available weather of its past hours; the rest is requested later, so that nobody waits.
    private func weather(of survey: Survey, _ account: String, _ connection: Connection) throws -> SurveyRecord? {
        let nowMs = Clock.nowMs()
        let hours = SurveyHours.of(survey).filter { $0 + SurveyHours.hourMs <= nowMs }
        guard let cache, let place = Walk(survey).place, let first = hours.first, let last = hours.last else {
            return nil
        }
        let known = try cache.known(at: place, from: first, through: last, nowMs: nowMs, on: connection)
        guard !known.isEmpty else { return nil }
        return SurveyRecord(weather: known, of: survey.survey, site: survey.site, account: account, ts: nowMs)
    }
}
