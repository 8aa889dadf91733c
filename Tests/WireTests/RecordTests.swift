import Fleet
import SimKit
import Testing
import Wire

struct RecordTests {
    private func decode(_ json: String, key: String = "car-1", machine: Bool = false) throws -> Record {
        let decoder = RecordDecoder()
        return try unsafe Array(json.utf8).withUnsafeBytes { value in
            try unsafe Array(key.utf8).withUnsafeBytes { try unsafe decoder.decode(value, key: $0, isMachine: machine) }
        }
    }

    @Test("What is written is read back", arguments: 0..<20 as Range<UInt64>)
    func identity(seed: UInt64) throws {
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

    @Test func ticksNeedNoKey() throws {
        #expect(
            try decode(String(decoding: RecordWriter.tick(1_700_000_000_000), as: UTF8.self), key: "")
                == .tick(1_700_000_000_000))
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

    @Test("No bytes crash the decoder", arguments: 0..<20 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        let good = Array(
            #"{"schema":1,"kind":"reading","id":"a","vehicle":"car-1","ts":1700000000000,"speed_kmh":5.5,"connected_device_names":["x","y"],"model":"8R Tractor"}"#
                .utf8)
        let decoder = RecordDecoder()
        for _ in 0..<500 {
            var bytes = good
            for _ in 0...chance.below(4) { bytes[Int(chance.below(Int64(bytes.count)))] = UInt8(chance.below(256)) }
            unsafe bytes.withUnsafeBytes { value in
                unsafe Array("car-1".utf8).withUnsafeBytes { key in
                    _ = unsafe try? decoder.decode(value, key: key, isMachine: chance.once(in: 2))
                }
            }
        }
    }

    @Test(
        "A NUL in a text never gets in: no database takes it",
        arguments: [
            (#""model":"8R\u0000","serial":"S""#, false), (#""model":"\u0000""#, false),
            (#""model":"8R","serial":"S\u0000""#, true),
            (#""model":"8R","firmware":"\u0000""#, true),
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
        #expect(reading.serial == nil && reading.firmware == nil)
        #expect(reading.connectedDevices == (keys.contains("names") ? ["b"] : nil))
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
