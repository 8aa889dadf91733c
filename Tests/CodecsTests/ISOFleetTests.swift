import Basics
import Codecs
import Fleet
import SimKit
import Testing

@Suite struct ISOFleetTests {
    static func fixture() throws -> [UInt8] { try Repository.bytes("Tests/Fixtures/telematics/fleet.xml") }

    func page(_ xml: String) throws -> ISOPage { try ISOFleet.snapshot(Array(xml.utf8)) }

    /// One machine with these elements.
    func machine(_ elements: String) throws -> ISOMachine {
        let page = try page(
            "<Fleet><Equipment><EquipmentHeader><Model>8R Tractor</Model><EquipmentID>t-1</EquipmentID></EquipmentHeader>"
                + elements + "</Equipment></Fleet>")
        return try #require(page.machines.first)
    }

    @Test("A real page") func realPage() throws {
        let page = try ISOFleet.snapshot(Self.fixture())
        #expect(page.machines.count == 27 && page.unnamed == 0)
        #expect(page.next == "https://telematics.example/Fleet/0")
        #expect(page.machines[0].readings.isEmpty)
        // Location and hours of one time; its fuel has a capacity of 0, which says nothing.
        let second = page.machines[1]
        var wanted = MachineReading(
            vehicle: VehicleID("100000003")!, ts: UTC.parse("2021-05-20T11:08:34Z")!, id: "iso-03-1621508914000",
            model: "TB290-2")
        (wanted.serial, wanted.isPartial) = ("100000004", true)
        wanted.values = [.engineHours: 233_700, .gpsAvailable: 1, .gpsFixTime: wanted.ts]
        (wanted.latitude, wanted.longitude) = (492_300_000, 80_900_000)
        #expect(second.readings == [wanted])
        #expect(second.pin == "100000004")
        // The word "missing" is no model, no serial number and no PIN.
        let fourth = page.machines[3]
        #expect(fourth.pin == nil)
        #expect(fourth.readings.map(\.model) == ["Takeuchi", "Takeuchi"])
        #expect(fourth.readings.map(\.serial) == [nil, nil])
        #expect(fourth.readings.map(\.ts) == [UTC.parse("2021-05-20T11:06:02Z")!, UTC.parse("2021-05-20T11:09:49Z")!])
    }

    @Test("What is read is written and read back as the worker reads it") func throughTheTopic() throws {
        let page = try ISOFleet.snapshot(Self.fixture())
        for reading in page.machines.flatMap(\.readings) {
            let record = try RecordDecoder().decode(line: RecordWriter.machine(reading), isMachine: true)
            #expect(record == .machine(reading, droppedFields: 0))
        }
    }

    static let noon = UTC.parse("2026-09-14T12:00:00Z")!

    @Test(
        arguments: [
            Row(
                "another casing, a prefix, the time as an element",
                "<n:cumulativeOPERATINGhours xmlns:n=\"urn:x\"><n:hour> 12.5 </n:hour><n:DateTime>2026-09-14T12:00:00Z</n:DateTime></n:cumulativeOPERATINGhours>",
                [.engineHours: 12_500]),
            Row(
                "an offset",
                "<CumulativeOperatingHours datetime=\"2026-09-14T14:00:00+02:00\"><Hour>1</Hour></CumulativeOperatingHours>",
                [.engineHours: 1_000]),
            Row(
                "no zone is UTC",
                "<CumulativeOperatingHours datetime=\"2026-09-14T12:00:00\"><Hour>1</Hour></CumulativeOperatingHours>",
                [.engineHours: 1_000]),
            Row("fuel in litres", fuel("62.4", "500", "litre"), [.fuelLevel: 82_422]),
            Row("fuel in US gallons", fuel("50", "190", "gallon"), [.fuelLevel: 95_000]),
            Row("fuel without a unit is in litres", fuel("100", "3.785411784", nil), [.fuelLevel: 1_000]),
        ] as [Row<String, [MachineParameter: Int64]>])
    func value(_ row: Row<String, [MachineParameter: Int64]>) throws {
        let readings = try machine(row.given).readings
        #expect(readings.map(\.values) == [row.wanted])
        #expect(readings.map(\.ts) == [Self.noon])
    }

    static func fuel(_ percent: String, _ capacity: String, _ unit: String?) -> String {
        "<FuelRemaining datetime=\"2026-09-14T12:00:00Z\"><FuelTankCapacity>\(capacity)</FuelTankCapacity><Percent>\(percent)</Percent>"
            + (unit.map { "<FuelTankCapacityUnits>\($0)</FuelTankCapacityUnits>" } ?? "") + "</FuelRemaining>"
    }

    @Test(
        "What says nothing that can be used",
        arguments: [
            "", "<CumulativeOperatingHours><Hour>1</Hour></CumulativeOperatingHours>",
            "<CumulativeOperatingHours datetime=\"yesterday\"><Hour>1</Hour></CumulativeOperatingHours>",
            "<CumulativeOperatingHours datetime=\"0001-01-01T00:00:00Z\"><Hour>1</Hour></CumulativeOperatingHours>",
            "<CumulativeOperatingHours datetime=\"2026-09-14T12:00:00Z\"><Hour>-1</Hour></CumulativeOperatingHours>",
            "<CumulativeOperatingHours datetime=\"2026-09-14T12:00:00Z\"><Hour>many</Hour></CumulativeOperatingHours>",
            "<CumulativeOperatingHours datetime=\"2026-09-14T12:00:00Z\"/>",
            "<Location datetime=\"2026-09-14T12:00:00Z\"><Latitude>91</Latitude><Longitude>0</Longitude></Location>",
            "<Location datetime=\"2026-09-14T12:00:00Z\"><Latitude>1</Latitude></Location>",
            "<EngineStatus datetime=\"2026-09-14T12:00:00Z\"><Running>true</Running></EngineStatus>",
            fuel("50", "0", "litre"), fuel("101", "190", "gallon"), fuel("50", "190", "bushel"),
            fuel("", "190", "litre"),
        ])
    func nothing(elements: String) throws { #expect(try machine(elements).readings == []) }

    @Test("Elements in any order make the same readings, one a time") func order() throws {
        let parts = [
            Self.fuel("50", "100", "gallon"),
            "<Location datetime=\"2026-09-14T12:00:00Z\"><Longitude>9</Longitude><Latitude>48</Latitude></Location>",
            "<CumulativeOperatingHours datetime=\"2026-09-14T11:59:59Z\"><Hour>7</Hour></CumulativeOperatingHours>",
        ]
        let readings = try machine(parts.joined()).readings
        #expect(readings.map(\.id) == ["iso-01-\(Self.noon - 1_000)", "iso-03-\(Self.noon)"])
        #expect(try machine(parts.reversed().joined()).readings == readings)
        #expect(readings.allSatisfy { !$0.isReporting })
    }

    @Test(
        "Who a machine is",
        arguments: [
            ("<EquipmentID>PIN:1ABC</EquipmentID><PIN>2</PIN>", "1ABC", "2"),
            ("<EquipmentID>missing</EquipmentID><PIN>2</PIN><SerialNumber>3</SerialNumber>", "2", "2"),
            ("<SerialNumber>3</SerialNumber>", "3", "3"), ("<EquipmentID>Bagger 7/ä</EquipmentID>", "Bagger-7---", nil),
            ("<Model>x</Model>", nil, nil), ("<EquipmentID> </EquipmentID>", nil, nil),
        ])
    func names(header: String, vehicle: String?, pin: String?) throws {
        let page = try page("<Fleet><Equipment><EquipmentHeader>\(header)</EquipmentHeader></Equipment></Fleet>")
        #expect(page.machines.map(\.vehicle.text) == (vehicle.map { [$0] } ?? []))
        #expect(page.machines.map(\.pin) == (vehicle == nil ? [] : [pin]))
        #expect(page.unnamed == (vehicle == nil ? 1 : 0))
    }

    @Test(
        "The next page",
        arguments: [
            ("<Links><rel>self</rel><href>a</href></Links><Links><Rel>Next</Rel><Href>b</Href></Links>", "b"),
            (#"<Links><Link rel="next" href="c?x=1&amp;y"/></Links>"#, "c?x=1&y"),
            ("<Links><rel>next</rel><href></href></Links>", nil), ("", nil),
        ])
    func next(links: String, address: String?) throws { #expect(try page("<Fleet>\(links)</Fleet>").next == address) }

    @Test("A time series") func series() throws {
        let machine = try machine("")
        let xml = """
            <FuelRemainingMessages><Links><rel>next</rel><href>/2</href></Links>
            \(Self.fuel("50", "100", "gallon"))
            <FuelRemaining datetime="2026-09-14T11:00:00Z"><Percent>60</Percent><FuelTankCapacity>100</FuelTankCapacity>
            <FuelTankCapacityUnits>gallon</FuelTankCapacityUnits></FuelRemaining></FuelRemainingMessages>
            """
        let (readings, next) = try ISOFleet.series(Array(xml.utf8), of: machine)
        #expect(readings.map { $0.values[.fuelLevel] } == [60_000, 50_000])
        #expect(readings.map(\.model) == ["8R Tractor", "8R Tractor"])
        #expect(next == "/2")
        #expect(throws: DecodeError.self) { try ISOFleet.series(Array("<Fleet/>".utf8), of: machine) }
    }

    @Test("Two pages of one time") func merged() throws {
        let place =
            "<Location datetime=\"2026-09-14T12:00:00Z\"><Latitude>48</Latitude><Longitude>9</Longitude></Location>"
        let (fuel, more) = (Self.fuel("50", "100", "gallon"), Self.fuel("60", "100", "gallon"))
        let both = try machine(place + more).readings[0]
        #expect(try ISOFleet.merged(machine(place + fuel).readings[0], machine(more).readings[0]) == both)
        #expect(try ISOFleet.merged(machine(fuel).readings[0], machine(place + more).readings[0]) == both)
        // It counts over each of the two.
        #expect(try both.id > machine(fuel).readings[0].id)
        #expect(try both.id > machine(place).readings[0].id)
    }

    @Test(
        "What is no page",
        arguments: [
            "", "<html/>", "<Fleet>", "{\"Equipment\":[]}", "<!DOCTYPE Fleet><Fleet/>", "<Fleet><Equipment></Fleet>",
        ])
    func refused(xml: String) { #expect(throws: DecodeError.self) { try page(xml) } }

    @Test("Cut off anywhere a page does not pass", arguments: stride(from: 0, to: 35_000, by: 1_499).map { $0 })
    func truncated(length: Int) throws {
        let bytes = try Self.fixture()
        #expect(throws: DecodeError.self) { try ISOFleet.snapshot(Array(bytes.prefix(length))) }
    }
}
