internal import Basics
internal import Fleet

/// A field that a machine works lane by lane, up and down, and then back again.
struct EmulatedField: Equatable, Sendable {
    private let corner: Position
    /// The end of the first lane, and where the last one begins.
    private let end: Position
    private let side: Position
    private let lanes: Int64
    private let metresPerHour: Int64

    /// `60.3630,25.1994 60.3630,25.2060 60.3648,25.1994 lanes 8 at 6 km/h`
    init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 8, words[3] == "lanes", words[5] == "at", words[7] == "km/h",
            let corner = Position(text: words[0]), let end = Position(text: words[1]),
            let side = Position(text: words[2]),
            let lanes = Int64(words[4]), (2...1_000).contains(lanes),
            let speed = Decimal.scaled(words[6].utf8, decimals: 3), (1...60_000).contains(speed), corner != end
        else { return nil }
        (self.corner, self.end, self.side) = (corner, end, side)
        self.lanes = lanes
        metresPerHour = speed
    }

    func place(atMs ts: Int64) -> Position {
        let (length, width) = (corner.metres(to: end), corner.metres(to: side))
        let across = width / Double(lanes - 1)
        // A lane and the turn to the next.
        let step = length + across
        let whole = step * Double(lanes) - across
        // There and back.
        let period = Int64(2 * whole / Double(metresPerHour) * 3_600_000)
        let driven = Double(ts % max(1, period)) / Double(max(1, period)) * 2 * whole
        let metres = min(whole, driven <= whole ? driven : 2 * whole - driven)
        let lane = min(Double(lanes - 1), (metres / step).rounded(.down))
        let (along, turn) = (min(length, metres - lane * step), max(0, metres - lane * step - length))
        let isBack = Int64(lane) % 2 == 1
        let share = isBack ? 1 - along / length : along / length
        let sideways = width > 0 ? min(1, (lane * across + turn) / width) : 0
        let first = corner.towards(end, share: share)
        return Position(
            latitude: first.latitude + Int32((Double(side.latitude - corner.latitude) * sideways).rounded()),
            longitude: first.longitude + Int32((Double(side.longitude - corner.longitude) * sideways).rounded()))
    }
}
