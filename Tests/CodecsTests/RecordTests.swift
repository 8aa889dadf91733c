import Codecs
import Fleet
import SimKit
import Testing

struct RecordTests {
    private func decode(_ json: String, key: String = "car-1", machine: Bool = false) throws -> Record {
        let decoder = RecordDecoder()
        return try unsafe Array(json.utf8).withUnsafeBytes { value in
            try unsafe Array(key.utf8).withUnsafeBytes { try unsafe decoder.decode(value, key: $0, isMachine: machine) }
        }
    }

    @Test("What is written is read back", arguments: 0..<20 as Range<UInt64>) func identity(seed: UInt64) throws {
        let car = VehicleID("car-1")!
        for var reading in SeededDrive.readings(seed: seed, count: 100) {
            reading.disputed = false
            let json = String(decoding: RecordWriter.car(car, reading, id: "r-1"), as: UTF8.self)
            #expect(try decode(json) == .car(car, reading, droppedFields: 0))
        }
    }

    @Test func impossibleFieldsAreDroppedAndCounted() throws {
        var wanted = CarReading(ts: 1_700_000_000_000)
        wanted[.rpm] = 900_000
        let json =
            #"{"schema":1,"kind":"reading","vehicle":"car-1","ts":1700000000000,"speed_kmh":-1,"rpm":900,"coolant_c":"hot","voltage_v":1e300,"maf_gps":null,"extra":{"a":[1]}}"#
        #expect(try decode(json) == .car(VehicleID("car-1")!, wanted, droppedFields: 3))
    }

    @Test("A tick says who sends it, and a name that is none is refused") func sendersOfTicks() throws {
        #expect(
            try decode(#"{"schema":1,"kind":"tick","ts":1700000000000}"#, key: "") == .tick(Tick(1_700_000_000_000)))
        for by in [#""a b""#, #""""#, "\"\(String(repeating: "a", count: 65))\""] {
            #expect(throws: DecodeError.keyMissing("by")) {
                try decode(#"{"schema":1,"kind":"tick","ts":1700000000000,"by":\#(by)}"#, key: "")
            }
        }
        let back = RecordWriter.clockSet(1_700_000_000_000, by: "Ann Smith", reason: "its clock ran", id: "a-1")
        #expect(
            try decode(String(decoding: back, as: UTF8.self), key: "")
                == .tick(Tick(1_700_000_000_000, isSetBack: true)))
        #expect(Tick.sender(role: "work", instance: "Ann's host/ü") == "work.Ann-s-host---")
    }

    @Test func ticksNeedNoKey() throws {
        #expect(
            try decode(String(decoding: RecordWriter.tick(1_700_000_000_000, by: "work-1"), as: UTF8.self), key: "")
                == .tick(Tick(1_700_000_000_000, by: "work-1")))
    }

    @Test(
        arguments: [
            ("", "empty"), ("{", "cut"),
            (#"{"schema":1,"kind":"reading","vehicle":"car-1","ts":17000"#, "cut in a number"),
            ("[]", "no object"), ("null", "null"), (#"{"schema":1,"kind":"tick","ts":1700000000000} x"#, "tail"),
            (#"{"schema":2,"kind":"tick","ts":1700000000000}"#, "schema of the future"),
            (#"{"schema":1,"kind":"party","ts":1700000000000}"#, "unknown kind"),
            (#"{"schema":1,"ts":1700000000000}"#, "no kind"),
            (#"{"schema":1,"kind":"tick","ts":12}"#, "a time in 1970"),
            (#"{"schema":1,"kind":"tick","ts":"now"}"#, "a time as text"),
            (#"{"schema":1,"kind":"reading","ts":1700000000000}"#, "no vehicle"),
            (#"{"schema":1,"kind":"reading","vehicle":"a b","ts":1700000000000}"#, "blank in the id"),
            (#"{"schema":1,"kind":"reading","vehicle":"car-2","ts":1700000000000}"#, "another car's key"),
            (#"{"schema":1,"schema":1,"kind":"tick","ts":1700000000000}"#, "a key twice"),
            ("\u{0}\u{1}\u{2}", "binary"), (String(repeating: "[", count: 5_000), "deep"),
        ] as [(String, String)])
    func refuses(_ json: String, _ why: String) { #expect(throws: DecodeError.self, "\(why)") { try decode(json) } }

    @Test("A car's record is decoded alike with and without its id made", arguments: 0..<20 as Range<UInt64>)
    func decodeCarAgrees(seed: UInt64) {
        let decoder = RecordDecoder()
        var records = RecordChance(seed: seed)
        var reading = CarReading(ts: 0)
        for input in 0..<500 {
            let json = records.odd()
            let key = Array((input % 8 == 0 ? "v00002" : "v00001").utf8)
            let (said, saidOfCar) = unsafe json.withUnsafeBytes { value in
                unsafe key.withUnsafeBytes { key in
                    (
                        Result { () throws(DecodeError) in try unsafe decoder.decode(value, key: key, isMachine: false)
                        },
                        Result { () throws(DecodeError) in try unsafe decoder.decodeCar(value, key: key, into: &reading)
                        }
                    )
                }
            }
            let isSame =
                switch (said, saidOfCar) {
                case (.success(.car(let vehicle, let whole, let dropped)), .success(.reading(let droppedFields))):
                    Array(vehicle.text.utf8) == key && whole == reading && dropped == droppedFields
                case (.success(.tick(let tick)), .success(.tick(let alike))): tick.ts == alike
                case (.success(.tick(let tick)), .success(.other)): tick.isSetBack
                // Who sends it is asked for when it is a tick.
                case (.failure(.keyMissing("by")), .success(.tick)): true
                case (.failure(.kindUnknown), .success(.other)): true
                case (.failure(let error), .failure(let alike)): error == alike
                default: false
                }
            #expect(
                isSame, "seed \(seed), input \(input): \(said), \(saidOfCar): \(String(decoding: json, as: UTF8.self))")
        }
    }

    @Test("Whether a key is an id is the caller's to ask, unless the record names another vehicle")
    func decodeCarTakesAnyKey() throws {
        let json = Array(#"{"schema":1,"kind":"reading","vehicle":"a b","ts":1700000000000,"rpm":900}"#.utf8)
        let decoder = RecordDecoder()
        var reading = CarReading(ts: 0)
        func decodeCar(key: String) throws -> CarRecord {
            try unsafe json.withUnsafeBytes { value in
                try unsafe Array(key.utf8).withUnsafeBytes {
                    try unsafe decoder.decodeCar(value, key: $0, into: &reading)
                }
            }
        }
        #expect(try decodeCar(key: "a b") == .reading(droppedFields: 0))
        #expect(reading[.rpm] == 900_000)
        #expect(throws: DecodeError.vehicleInvalid) { try decodeCar(key: "a") }
        #expect(throws: DecodeError.vehicleInvalid) { try decodeCar(key: "") }
    }

    @Test(
        "A NUL in a text never gets in: no database takes it",
        arguments: [
            (#""model":"8R\u0000","serial":"S""#, false), (#""model":"\u0000""#, false),
            (#""model":"8R","serial":"S\u0000""#, true), (#""model":"8R","firmware":"\u0000""#, true),
            (#""model":"8R","machine_id":"M\u0000""#, true),
            (#""model":"8R","connected_device_names":["a\u0000","b"]"#, true),
        ] as [(String, Bool)])
    func nul(_ keys: String, isTaken: Bool) throws {
        let json = #"{"schema":1,"kind":"reading","id":"a","vehicle":"m1","ts":1700000000000,"# + keys + "}"
        guard isTaken else {
            #expect(throws: DecodeError.self) { try decode(json, key: "m1", machine: true) }
            return
        }
        guard case .machine(let reading, _) = try decode(json, key: "m1", machine: true) else {
            Issue.record("no machine's reading")
            return
        }
        #expect(reading.serial == nil && reading.firmware == nil && reading.machineID == nil)
        #expect(reading.connectedDevices == (keys.contains("names") ? ["b"] : nil))
    }

    @Test(
        "A record of rules that lacks something is refused",
        arguments: [
            #""version":"v""#, #""rules":"x""#, #""version":1,"rules":"x""#, #""version":"v","rules":["x"]"#,
            #""version":"v","rules":"x\u0000""#,
        ])
    func rulesRefused(_ keys: String) {
        #expect(throws: DecodeError.self) {
            try decode(#"{"schema":1,"kind":"rules","ts":1700000000000,"# + keys + "}", machine: true)
        }
    }

    @Test(
        "Expected to go on reporting", arguments: [("true", true), ("false", false), ("1", false), ("\"yes\"", false)])
    func reporting(_ value: String, wanted: Bool) throws {
        let json =
            #"{"schema":1,"kind":"reading","id":"a","vehicle":"m1","ts":1700000000000,"model":"8R","reporting":"#
            + value + "}"
        guard case .machine(let reading, _) = try decode(json, key: "m1", machine: true) else { return }
        #expect(reading.isReporting == wanted)
    }

    @Test func machinesAreDecodedWhole() throws {
        let json =
            #"{"schema":1,"kind":"reading","id":"m1-7","vehicle":"m1","ts":1700000000000,"model":"8R Tractor","serial":"S1","coolant_c":90.5,"gps_available":true,"connected_devices":2,"connected_device_names":["a","b"],"last_cell_call_in_ts":1699999999999,"fuel_level_gal":-4,"latitude_deg":52.5}"#
        var wanted = MachineReading(vehicle: VehicleID("m1")!, ts: 1_700_000_000_000, id: "m1-7", model: "8R Tractor")
        wanted.serial = "S1"
        wanted.values = [
            .coolantTemperature: 90_500, .gpsAvailable: 1, .connectedDevices: 2, .lastCellCallIn: 1_699_999_999_999,
        ]
        wanted.connectedDevices = ["a", "b"]
        wanted.latitude = 525_000_000
        #expect(try decode(json, key: "m1", machine: true) == .machine(wanted, droppedFields: 1))
    }
}
