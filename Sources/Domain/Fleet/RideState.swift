/// Where a ride stands. Raw values are in its table, on its topic and in what apps read.
public enum RideState: String, CaseIterable, Sendable {
    /// No vehicle can take it yet.
    case queued
    case assigned
    case onBoard = "on_board"
    case done, cancelled, expired, refused
    /// Over before its drop-off: somebody said so of a rider on board.
    case ended
}

/// Where a ride vehicle stands.
public enum RideVehicleState: String, CaseIterable, Sendable {
    case inService = "in_service"
    /// Drops those on board and takes nobody else.
    case leaving
    case out
}
