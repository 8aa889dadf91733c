/// Cuts what an adapter sends into replies, each up to its prompt `>`, whatever pieces it comes in.
public struct ELMPrompt: Sendable {
    /// Far longer than any answer of J1979 with headers and blanks.
    public static let bytesMax = 8_192

    public enum Event: Equatable, Sendable {
        /// All before a prompt, without it.
        case reply([UInt8])
        /// The reply before this prompt was too long and is dropped; reported once.
        case fault(ELMFault)
    }

    private var pending: [UInt8] = []
    private var isDropping = false

    public init() {}

    /// Whether a reply has begun and its prompt has not come.
    public var isInReply: Bool { isDropping || !pending.isEmpty }

    /// The replies that end within these bytes. NUL bytes are left out, as the data sheet asks for.
    public mutating func receive(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes where byte != 0 {
            if byte == 0x3E {
                if !isDropping { events.append(.reply(pending)) }
                pending = []
                isDropping = false
            } else if !isDropping {
                pending.append(byte)
                guard pending.count > ELMPrompt.bytesMax else { continue }
                pending = []
                isDropping = true
                events.append(.fault(.tooLong(bytesMax: ELMPrompt.bytesMax)))
            }
        }
        return events
    }

    /// Forgets what came: for a new connection.
    public mutating func clear() { self = ELMPrompt() }
}
