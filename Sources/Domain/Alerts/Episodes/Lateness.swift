public import Fleet

/// Whether something came long after it was so: in a backlog, an upload, a spool that had to wait. By the broker's time
/// stamp of the record that told of it, so that a replay says the same.
public enum Lateness {
    /// The longest back-off of a gateway (`gateway.back_off_s_max`), and the shipped `<absent>` of GPS: a reading in time
    /// has not passed its own deadline.
    public static let afterMs: Int64 = 300_000

    public static func isLate(_ ts: Int64, pushedMs: Int64) -> Bool { ts + afterMs < pushedMs }
}

extension MachineReading {
    /// The reading as of its push. A late one does not prove that the machine still reports: in a backlog all but the newest are already
    /// followed by others, and silence after them would be told and withdrawn one by one.
    public func pushed(atMs pushedMs: Int64) -> MachineReading {
        var reading = self
        if Lateness.isLate(ts, pushedMs: pushedMs) { reading.isReporting = false }
        return reading
    }
}
