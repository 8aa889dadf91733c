/// Where an alert stands as people see it: its episode's state, or taken back by late readings.
public enum AlertState: String, CaseIterable, Sendable {
    case dueSoon = "due_soon"
    case open, resolved, withdrawn

    public var isOpen: Bool {
        switch self {
        case .dueSoon, .open: true
        case .resolved, .withdrawn: false
        }
    }

    public init(_ state: Episode.State) {
        switch state {
        case .dueSoon: self = .dueSoon
        case .open: self = .open
        case .resolved: self = .resolved
        }
    }
}
