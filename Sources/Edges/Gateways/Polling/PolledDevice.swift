internal import Fleet
internal import Sockets
internal import Storage

/// A box or an adapter and what is known of it from connection to connection.
final class PolledDevice<Memory, Session> {
    var registration: DeviceRegistration
    var schedule: CallSchedule
    var memory: Memory
    /// Requests that wait for the next connection, or for the end of this one.
    var requests: [DeviceRequest] = []
    /// Nil between connections.
    var call: DeviceCall<Memory, Session>?

    init(_ registration: DeviceRegistration, _ schedule: CallSchedule, _ memory: Memory) {
        self.registration = registration
        self.schedule = schedule
        self.memory = memory
    }

    var vehicle: VehicleID { registration.vehicle }

    func takeRequests() -> [DeviceRequest] {
        defer { requests = [] }
        return requests
    }
}

/// One connection to it.
final class DeviceCall<Memory, Session>: DeviceLine {
    let device: PolledDevice<Memory, Session>
    var session: Session

    init(
        _ device: PolledDevice<Memory, Session>, _ stream: Stream, _ session: Session, slot: Int, startMs: Int64,
        deadlineMs: Int64
    ) {
        self.device = device
        self.session = session
        super.init(stream, slot: slot, startMs: startMs, deadlineMs: deadlineMs)
    }
}
