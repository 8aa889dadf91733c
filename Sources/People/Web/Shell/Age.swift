/// The age of a value in words (`12 s ago`, `4 min ago`, `26 h ago`, `3 days ago`).
enum Age {
    static func text(_ ms: Int64, nowMs: Int64) -> String {
        let seconds = max(0, nowMs - ms) / 1_000
        switch seconds {
        case ..<60: return "\(seconds) s ago"
        case ..<7_200: return "\(seconds / 60) min ago"
        case ..<172_800: return "\(seconds / 3_600) h ago"
        default: return "\(seconds / 86_400) days ago"
        }
    }
}
