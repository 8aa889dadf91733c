/// Why a service gave no answer. Holds no secret, no place and nothing of what the service wrote.
package struct ServiceError: Error, Sendable, CustomStringConvertible {
    package enum Reason: String, CaseIterable, Sendable {
        /// Its owner's limit, as the settings say, is reached.
        case limit
        /// It failed again and again and is left alone.
        case resting
        /// It said so: 429 or 503 with Retry-After.
        case toldToWait = "told_to_wait"
        case unreachable
        /// A status that is no answer.
        case status
        /// No answer that can be read.
        case unreadable
        /// It has no answer to this question.
        case noAnswer = "no_answer"
        /// The key or the user is refused.
        case refused
        /// PostgreSQL is away: without the shared count no service is called.
        case database
    }

    package let service: String
    package let reason: Reason
    /// Sensible time of the next try, epoch milliseconds; nil: not known.
    package var retryAtMs: Int64?
    /// Without the service's name.
    package let text: String

    init(_ service: String, _ reason: Reason, _ text: String, retryAtMs: Int64? = nil) {
        self.service = service
        self.reason = reason
        self.text = text
        self.retryAtMs = retryAtMs
    }

    package var description: String { "\(service): \(text)" }
}
