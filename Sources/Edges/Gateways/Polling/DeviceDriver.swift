internal import Fleet
internal import Ingest
internal import Storage
internal import Telemetry

/// A kind of devices: how one is talked to, and what comes of what it says. Facts in, actions out;
/// the loop that connects, stores, backs off and answers is `DevicePoller`'s, one for all kinds.
protocol DeviceDriver: AnyObject {
    /// The memory of one device from connection to connection.
    associatedtype Memory
    /// The conversation on one connection.
    associatedtype Session
    /// How a connection ended.
    associatedtype Ending

    typealias Device = PolledDevice<Memory, Session>
    typealias Call = DeviceCall<Memory, Session>
    typealias DriverAction = DeviceAction<Ending>

    static var kind: VehicleKind { get }
    static var topic: String { get }
    static var words: DeviceWords { get }
    /// How often deadlines are looked at; what comes from devices is taken at once.
    static var lookMs: Int64 { get }
    /// The interval at which readings are stored; 0: at the end of each round.
    static var storeMs: Int64 { get }
    /// Pages that wait in memory while the spool's file fails; with more, nobody is polled.
    static var unstoredMax: Int { get }

    /// From one success to the next connection. The first ones of devices registered together are spread over it.
    var intervalMs: Int64 { get }
    var gauges: DeviceGauges { get }

    func memory(of registration: DeviceRegistration) -> Memory
    func session(with device: Device, _ now: Moment) -> Session
    func ending(_ fault: LineFault) -> Ending

    // Facts of one connection.
    func happened(_ fact: LineFact, on call: Call, _ now: Moment) -> [DriverAction]
    /// Somebody asks for it while it is connected.
    func requested(_ request: DeviceRequest, on call: Call, _ now: Moment) -> [DriverAction]
    /// The time for a look at deadlines.
    func looked(at call: Call, _ now: Moment) -> [DriverAction]
    /// It is reached in another way now, or to be polled no more.
    func moved(_ call: Call) -> [DriverAction]
    func spoolFilled(_ call: Call) -> [DriverAction]
    /// The page that `store` gave is in the spool.
    func stored(_ page: SpooledPage, of call: Call, isFull: Bool) -> [DriverAction]
    /// It is not: how the call ends.
    func unstored(_ error: SpoolError) -> Ending
    /// It ends for a reason of ours: what was said so far.
    func cut(_ call: Call) -> [DeviceNews]

    // Facts of a device.
    /// - Parameter session: nil: it could not be connected to.
    func ended(_ device: Device, _ session: Session?, startMs: Int64, _ ending: Ending) -> [DeviceNews]
    func contactChanged(_ device: Device, _ ending: Ending)
    func dropped(_ device: Device) -> [DeviceNews]
    func spoolHasRoom(for device: Device)

    func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) -> Action
    /// For the log.
    func cannotStore(_ error: SpoolError, kept: Int, repeated: Int)
    func sayFigures(devices: Int, calls: [Call])
}

/// An action on a connection.
enum DeviceAction<Ending> {
    case send([UInt8])
    /// To be stored in one transaction with what else this round brings; then `stored` is told.
    case store(SpooledPage)
    case tell(DeviceNews)
    case end(Ending)
}

/// News of a device that are to be told.
enum DeviceNews {
    /// Kept in memory until it is stored.
    case put(SpooledPage)
    case answer(DeviceRequest, isDone: Bool, String)
    /// By what was put.
    case answered(DeviceRequest)
    /// In vain: told when its time has come.
    case failed(DeviceRequest)
}

/// A kind of devices in the log.
struct DeviceWords {
    let device: String
    let devices: String
    let vehicle: String
    /// Those that are polled.
    let polled: String
    let spoolFull: String
}

struct DeviceGauges {
    let polled: Gauge
    let withoutContact: Gauge
    let connections: Gauge
}
