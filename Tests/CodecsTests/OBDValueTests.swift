import Codecs
import Fleet
import Testing

/// Values, codes, readiness and VIN against examples of the standards. tests/System compares all bytes with another
/// decoder.
struct OBDValueTests {
    private static func answer(_ hex: String, bus: OBDBus? = nil) -> OBDAnswer {
        OBDAnswer(unit: nil, bus: bus, bytes: OBDRequest.hex(hex))
    }

    private static func values(_ hex: String, _ request: String) throws -> [String] {
        try answer(hex).values(of: OBDRequest(text: request.utf8)!).map { "\($0.row.key)=\($0.text)" }
    }

    @Test(
        "Values of one parameter and of several",
        arguments: [
            ("410C1AF8", "010C", ["rpm=1726"]), ("410C1AFB", "010C", ["rpm=1726.75"]),
            ("410500", "0105", ["coolant_c=-40"]), ("41101234", "0110", ["maf_gps=46.6"]),
            ("41423039", "0142", ["voltage_v=12.345"]), ("412F80", "012F", ["fuel_level_pct=50.196"]),
            ("415E0140", "015E", ["fuel_rate_lph=16"]), ("41447F00", "0144", ["lambda_ratio=0.992188"]),
            ("410607", "0106", ["short_fuel_trim_pct=-94.53125"]),
            (
                "41030403", "0103",
                ["fuel_system_status=open loop: load, or fuel cut on overrun", "fuel_system_2_status=3 (unknown)"]
            ),
            ("415104", "0151", ["fuel_type=diesel"]), ("415163", "0151", ["fuel_type=99 (unknown)"]),
            ("41325FFF", "0132", ["evap_pressure_pa=6143.75"]), ("4132FFFF", "0132", ["evap_pressure_pa=-0.25"]),
            ("41158AFF", "0115", ["o2_2_v=0.69", "o2_2_trim_pct=99.21875"]),
            ("411303", "0113", ["oxygen_sensors=bank 1, sensor 2; bank 1, sensor 1"]),
            ("4100BE3EA813", "0100", ["supported_01=01 03 04 05 06 07 0B 0C 0D 0E 0F 11 13 15 1C 1F 20"]),
            ("410D3200000000", "010D", ["speed_kmh=50"]),
            ("4100BE3EA81300", "0100", ["supported_01=01 03 04 05 06 07 0B 0C 0D 0E 0F 11 13 15 1C 1F 20"]),
            (
                "410BFF0C000011000D0005000F00", "01 0B 0C 11 0D 05 0F 3",
                ["map_kpa=255", "rpm=0", "throttle_pct=0", "speed_kmh=0", "coolant_c=-40", "intake_air_c=-40"]
            ),
            ("410C1AF80D320000", "010C0D", ["rpm=1726", "speed_kmh=50"]),
            ("420C001AF8", "020C00", ["rpm=1726"]), ("420C001AF8", "020C", ["rpm=1726"]),
            ("4202000133", "020200", ["freeze_code=P0133"]), ("4202000000", "0202", ["freeze_code=none"]),
            ("41A600123456", "01A6", ["odometer_km=119304.6"]),
        ] as [(String, String, [String])])
    func values(_ hex: String, _ request: String, _ expected: [String]) throws {
        let found = try Self.values(hex, request)
        #expect(found == expected)
    }

    @Test func whatIsNotThereIsSaid() {
        #expect(throws: OBDValueError.tooShort(pid: 0x0C, bytes: 1, need: 2)) { try Self.values("410C1A", "010C") }
        #expect(throws: OBDValueError.tooShort(pid: 0x0C, bytes: 0, need: 2)) { try Self.values("420C", "020C") }
        #expect(throws: OBDValueError.parameterUnknown(0xFE)) { try Self.values("41FE00", "01FE") }
        #expect(throws: OBDValueError.notAboutThis(mode: 3)) { try Self.values("4300", "03") }
    }

    /// The keys of records are those of the table, so that a gateway needs no second list.
    @Test func everySignalOfTheCarHasItsRow() {
        let own: Set<Signal> = [.mafCalculated, .latitude, .longitude]
        for signal in Signal.allCases where !own.contains(signal) {
            let rows = OBDTable.rows.filter { $0.key == signal.row.key }
            #expect(rows.count == 1 && rows[0].unit == signal.row.unit, "\(signal.row.key)")
        }
        #expect(Set(OBDTable.rows.map(\.key)).count == OBDTable.rows.count)
        #expect(OBDTable.rows.map(\.pid) == OBDTable.rows.map(\.pid).sorted())
    }

    @Test func aValueIsStoredAsItsSignal() throws {
        let value = try Self.answer("410C1AFB").values(of: .current(0x0C))[0]
        #expect(value.scaled(decimals: Signal.rpm.row.decimals) == 1_726_750)
    }

    @Test func aFormulaReachesTheEndsOfItsRange() {
        func range(_ key: String) -> String {
            guard case .number(let scale) = OBDTable.rows.first(where: { $0.key == key })?.kind else { return "" }
            return scale.range.least + ".." + scale.range.most
        }
        #expect(range("rpm") == "0..16383.75" && range("coolant_c") == "-40..215" && range("maf_gps") == "0..655.35")
        #expect(range("fuel_rate_lph") == "0..3276.75" && range("evap_pressure_pa") == "-8192..8191.75")
        #expect(range("injection_timing_deg") == "-210..301.9921875" && range("load_pct") == "0..100")
    }

    @Test func readinessOfBothKindsOfEngine() throws {
        func readiness(_ hex: String, _ pid: UInt8) throws -> Readiness? {
            guard case .readiness(let readiness) = try Self.answer(hex).values(of: .current(pid))[0].content else {
                return nil
            }
            return readiness
        }
        let spark = try #require(try readiness("410183076500", 0x01))
        #expect(spark.isLampOn == true && spark.codeCount == 3 && spark.ignition == .spark && spark.notReady == [])
        #expect(
            spark.monitors.map(\.name) == [
                "misfire", "fuel system", "components", "catalyst", "evaporative system", "oxygen sensor",
                "oxygen sensor heater",
            ])
        let compression = try #require(try readiness("4101007F9B82", 0x01))
        #expect(compression.isLampOn == false && compression.ignition == .compression)
        #expect(compression.notReady == ["misfire", "fuel system", "components", "NOx aftertreatment", "EGR or VVT"])
        let cycle = try #require(try readiness("414100070000", 0x41))
        #expect(cycle.isLampOn == nil && cycle.codeCount == nil && cycle.monitors.count == 3)
    }

    @Test(
        "Trouble codes with and without count",
        arguments: [
            ("4300", nil, []), ("43", nil, []), ("43000000000000", nil, []),
            ("43010133", nil, ["P0133"]), ("4302013341 23".filter { $0 != " " }, nil, ["P0133", "C0123"]),
            ("43013300000000", .older, ["P0133"]), ("43013302340345", nil, ["P0133", "P0234", "P0345"]),
            ("430133", .can, ["P0133"]), ("43010133000000", .can, ["P0133"]), ("43010133AAAAAA", .can, ["P0133"]),
            ("43013302340301", .can, ["P0133", "P0234", "P0301"]), ("47010420", nil, ["P0420"]),
            ("4A01D016", nil, ["U1016"]), ("4A0192340000", nil, ["B1234"]), ("4300000000", nil, []),
        ] as [(String, OBDBus?, [String])])
    func codes(_ hex: String, _ bus: OBDBus?, _ expected: [String]) throws {
        #expect(try Self.answer(hex, bus: bus).troubleCodes().map(\.text) == expected)
    }

    @Test func aCountThatIsTooGreatIsRefused() {
        #expect(throws: OBDValueError.tooShort(pid: 0x43, bytes: 2, need: 4)) {
            try Self.answer("43020133").troubleCodes()
        }
        #expect(throws: OBDValueError.notAboutThis(mode: 1)) { try Self.answer("410C1AF8").troubleCodes() }
    }

    /// The table of the standard, by first two characters.
    @Test func everyCodeIsReadBackAndHasItsOrigin() {
        let generic: Set = ["P0", "P2", "P34", "P35", "P36", "P37", "P38", "P39", "B0", "C0", "U0", "U3"]
        let manufacturer: Set = ["P1", "P30", "P31", "P32", "P33", "B1", "B2", "C1", "C2", "U1", "U2"]
        for raw in UInt16(1)...UInt16.max {
            let code = TroubleCode(raw: raw)!
            #expect(TroubleCode(text: code.text.utf8) == code)
            let (two, three) = (String(code.text.prefix(2)), String(code.text.prefix(3)))
            let origin: TroubleCode.Origin =
                generic.contains(two) || generic.contains(three)
                ? .generic : manufacturer.contains(two) || manufacturer.contains(three) ? .manufacturer : .reserved
            #expect(code.origin == origin, "\(code.text)")
        }
        #expect(TroubleCode(raw: 0) == nil && TroubleCode(text: "P0000".utf8) == nil)
        for text in ["P4133", "X0133", "P013", "P01334", "P01G3", ""] { #expect(TroubleCode(text: text.utf8) == nil) }
        #expect(TroubleCode(text: "p01aF".utf8)?.text == "P01AF")
        #expect(
            TroubleCode(text: "C0123".utf8)?.system == .chassis && TroubleCode(text: "U0100".utf8)?.system == .network)
        #expect(TroubleCode(text: "P0301".utf8)?.subsystem == "ignition system or misfire")
    }

    @Test func whatACarSaysOfItself() throws {
        for form in [
            ReplyForm.vin, "49020100000057304c3030303034334d42353431333236", "490257304c3030303034334d42353431333236",
        ] { #expect(try Self.answer(form).vin() == "W0L000043MB541326", "\(form)") }
        #expect(throws: OBDValueError.vinImpossible) { try Self.answer("490201" + "49".repeated(17)).vin() }
        #expect(throws: OBDValueError.vinImpossible) { try Self.answer("49020157304C").vin() }
        #expect(throws: OBDValueError.vinImpossible) { try Self.answer("490201" + "FF".repeated(17)).vin() }
        let id = "33374239352D3030303030300000000000"
        #expect(try Self.answer("490401" + String(id.prefix(32))).calibrationIDs() == ["37B95-000000"])
        #expect(try Self.answer("490602112233445566778A").calibrationChecks() == ["11223344", "5566778A"])
        #expect(
            try Self.answer("490A01" + "45434D002D456E67696E65436F6E74726F6C0000").unitName() == "ECM-EngineControl")
        #expect(throws: OBDValueError.notAboutThis(mode: 1)) { try Self.answer("410C1AF8").vin() }
    }
}

extension String { fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) } }

extension OBDRequest {
    static func hex(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count - 1, by: 2).map { UInt8(text.dropFirst($0).prefix(2), radix: 16)! }
    }
}
