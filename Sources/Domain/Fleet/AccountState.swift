/// Whether somebody may log in, as administrators read it.
public enum AccountState: String, CaseIterable, Sendable {
    case confirmed
    case notConfirmed = "not confirmed"
    case disabled
}
