import Alerts
import Codecs
import Formats
import Testing

@Suite("Settings of an account")
struct DriverSettingsTests {
    @Test("What the issue says is on and at its limit by default")
    func standard() throws {
        let settings = DriverSettings.standard
        #expect(settings.text == "{}")
        for setting in [
            DriverSetting.alerts, .speedAlert, .wheelAlert, .coolantAlert, .voltageAlert, .codesAlert,
        ] { #expect(settings.isOn(setting), "\(setting)") }
        #expect(!settings.isOn(.mail))
        // 80 mph is 128.74752 km/h, 220 °F is 104.44 °C.
        #expect(settings.speedLimitMilliKmh == 128_748)
        #expect(settings.coolantLimitMilliC == 104_444)
        #expect(settings.number(.wheelLimitH) == 4_000 && settings.number(.wheelPauseMin) == 30_000)
        #expect(settings.number(.voltageLowV) == 11_800 && settings.number(.voltageHighV) == 15_000)
        #expect(settings.number(.voltageHoldS) == 10_000)
        #expect(settings.number(.fuelPrice) == 2_390 && settings.fuelCurrency == "USD" && settings.units == .us)
        let limits = settings.limits
        #expect(limits.speedAbove == 128_748 && limits.coolantAbove == 104_444)
        #expect(limits.voltageBelow == 11_800 && limits.voltageAbove == 15_000 && limits.wheelMs == 14_400_000)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let json: String
        /// Nil: it is taken, and comes back as it was said.
        let fault: String?
        init(_ json: String, _ fault: String? = nil) { (self.json, self.fault) = (json, fault) }
        var testDescription: String { json }
    }

    @Test(arguments: [
        Case("{}"), Case(#"{"alerts":false}"#), Case(#"{"units":"metric","speed_limit_kmh":130}"#),
        Case(#"{"speed_limit_mph":72.5}"#), Case(#"{"fuel_price_per_us_gal":1.999,"fuel_currency":"EUR"}"#),
        Case(#"{"alerts":1}"#, "`alerts` must be true or false"), Case(#"{"alerts":"on"}"#, "`alerts` must be true"),
        Case(#"{"speed_limit_mph":"80"}"#, "`speed_limit_mph` must be a number from 1 to 300"),
        Case(#"{"speed_limit_mph":0}"#, "from 1 to 300"), Case(#"{"speed_limit_mph":301}"#, "from 1 to 300"),
        Case(#"{"speed_limit_mph":1e300}"#, "from 1 to 300"), Case(#"{"speed_limit_mph":true}"#, "must be a number"),
        Case(#"{"speed_limit_mph":80,"speed_limit_kmh":130}"#, "say the same: leave one of them out"),
        Case(#"{"units":"imperial"}"#, "`units` must be \"us\" or \"metric\""),
        Case(#"{"fuel_currency":"usd"}"#, "three capital letters"), Case(#"{"fuel_currency":840}"#, "three capital"),
        Case(#"{"voltage_low_v":15,"voltage_high_v":15}"#, "`voltage_low_v` must be less than `voltage_high_v`"),
        Case(#"{"voltage_high_v":11}"#, "must be less than"), Case(#"{"speedlimit":80}"#, "`speedlimit` is no setting"),
        Case(#"{"alerts":true,"alerts":false}"#, "more than once"), Case("[]", "not a JSON object"),
        Case(#"{"speed_limit_mph":[80]}"#, "must be a text, a number"),
    ])
    func json(_ c: Case) {
        do {
            let settings = try DriverSettings(text: c.json)
            #expect(c.fault == nil)
            #expect((try? DriverSettings(text: settings.text)) == settings)
        } catch {
            #expect(c.fault.map { error.description.contains($0) } ?? false, "\(error)")
        }
    }

    @Test("null and a default that is said are told apart from each other only in what was said") func said() throws {
        #expect(try DriverSettings(text: #"{"alerts":null}"#) == .standard)
        let explicit = try DriverSettings(text: #"{"speed_limit_mph":80}"#)
        #expect(explicit != .standard && explicit.limits == DriverSettings.standard.limits)
    }

    @Test("A word at a time: one unit takes the place of the other, an empty value that of the standard")
    func words() throws {
        var settings = DriverSettings()
        for word in ["speed_limit_mph=70", "speed_limit_kmh=100", "alerts=off", "units=metric", "fuel_currency=EUR"] {
            try settings.set(word)
        }
        #expect(settings.text == #"{"alerts":false,"units":"metric","speed_limit_kmh":100,"fuel_currency":"EUR"}"#)
        #expect(settings.speedLimitMilliKmh == 100_000 && settings.limits == .none)
        try settings.set("speed_limit_mph=")
        #expect(settings.speedLimitMilliKmh == 128_748)
        for wrong in [
            "alerts", "alerts=perhaps", "speed=80", "speed_limit_mph=fast", "units=m", "=", "voltage_low_v=16",
        ] {
            #expect(throws: DriverSettings.Fault.self) {
                var copy = settings
                try copy.set(wrong)
            }
        }
    }

    @Test("What people see holds every setting once, and is taken back as it is") func whole() throws {
        let settings = try DriverSettings(text: #"{"coolant_limit_c":100}"#)
        let whole = settings.whole.rendered()
        let keys = try FlatJSON.fields(Array(whole.utf8), bytesMax: 10_000).map(\.key)
        #expect(keys.contains("coolant_limit_c") && !keys.contains("coolant_limit_f"))
        #expect(keys.count == DriverSetting.allCases.count - 4)
        let again = try DriverSettings(text: whole)
        #expect(again.limits == settings.limits && again.number(.fuelPrice) == settings.number(.fuelPrice))
    }
}
