internal import Basics
package import Codecs
package import Fleet

/// Whether a survey kept to the rules of its protocol: a flag with reasons, never a refusal.
///
/// The Pollard walk by the UK Butterfly Monitoring Scheme's notes for transect walkers: not below 13 °C (11 °C in the
/// northern uplands); from 13 to 17 °C only with 60 % sunshine; above 17 °C under any sky, but not in rain; wind at most
/// Beaufort 5; 10:45 to 15:45 by the surveyors' clocks, which show summer time; in the 26 weeks from 1 April. Weeks are
/// those of the north: the season is judged north of 35° only.
package struct ProtocolGate: Equatable, Sendable {
    package enum Verdict: String, Sendable { case within, outside, unknown }

    package static let pollardWalk = "pollard-walk"

    package let verdict: Verdict
    /// First broken rules, then missing values, then assumptions.
    package let reasons: [String]

    /// Nil: its protocol has no rules here.
    ///
    /// - Parameter service: what a service says of the survey's hours. The surveyors' own values go before it.
    package init?(_ survey: Survey, place: Position?, service: [WeatherAnswer]) {
        guard survey.surveyProtocol == ProtocolGate.pollardWalk else { return nil }
        var findings = Findings()
        ProtocolGate.judgeTime(survey, place, &findings)
        ProtocolGate.judgeWeather(survey, Conditions(survey.weather, service), &findings)
        verdict = !findings.broken.isEmpty ? .outside : findings.missing.isEmpty ? .within : .unknown
        reasons = findings.broken + findings.missing + findings.derived
    }

    private struct Findings {
        var (broken, missing, derived): ([String], [String], [String]) = ([], [], [])
    }

    // MARK: Time

    private static let seasonNorthOf: Int32 = 350_000_000
    private static let seasonDays: Int64 = 26 * 7
    private static let clockMs: ClosedRange<Int64> = (10 * 60 + 45) * 60_000...(15 * 60 + 45) * 60_000

    private static func judgeTime(_ survey: Survey, _ place: Position?, _ findings: inout Findings) {
        let offsetMs = Int64(survey.offsetMin) * UTC.msPerMinute
        let (start, stop) = (survey.startMs + offsetMs, survey.stopMs + offsetMs)
        let midnight = UTC.day(of: start)
        if !clockMs.contains(start - midnight) || !clockMs.contains(stop - midnight) {
            findings.broken.append("it was not walked between 10:45 and 15:45")
        }
        guard let place else {
            findings.missing.append("no place is known, so the season cannot be judged")
            return
        }
        guard place.latitude > seasonNorthOf else { return }
        let day = midnight / UTC.msPerDay
        let april = UTC.days(year: UTC.civil(days: day).year, month: 4, day: 1)
        if !(0..<seasonDays).contains(day - april) {
            findings.broken.append("it was not walked in the 26 weeks from 1 April")
        }
    }

    // MARK: Weather

    private static func judgeWeather(_ survey: Survey, _ weather: Conditions, _ findings: inout Findings) {
        let lowest: Int64 = survey.isUpland ? 11_000 : 13_000
        if let temperature = weather.temperature {
            if temperature.value < lowest {
                findings.broken.append(
                    "\(tenths(temperature.value)) °C (\(temperature.source)), at least \(lowest / 1_000) is wanted")
            } else if temperature.value <= 17_000 {
                judgeSun(weather.sun, &findings)
            }
        } else {
            findings.missing.append("the temperature is not known")
        }
        if let wind = weather.windMps {
            if wind.value >= 10_800 {
                findings.broken.append(
                    "wind of \(tenths(wind.value)) m/s (\(wind.source)), less than 10.8 is wanted (Beaufort 5)")
            }
        } else if let beaufort = survey.weather.windBeaufort {
            if beaufort > 5 { findings.broken.append("Beaufort \(beaufort) (surveyors), at most 5 is wanted") }
        } else if let wind = weather.serviceWindMps {
            if wind >= 10_800 {
                findings.broken.append(
                    "wind of \(tenths(wind)) m/s (service), less than 10.8 is wanted (Beaufort 5)")
            }
        } else {
            findings.missing.append("the wind is not known")
        }
        if let rain = weather.rain {
            if rain.value { findings.broken.append("it rained (\(rain.source))") }
        } else {
            findings.missing.append("whether it rained is not known")
        }
    }

    private static func judgeSun(_ sun: Conditions.Sun, _ findings: inout Findings) {
        switch sun {
        case .unknown: findings.missing.append("the sunshine is not known, and it was not above 17 °C")
        case .seen(let sun):
            if sun < 60_000 {
                findings.broken.append("\(tenths(sun)) % sunshine (surveyors), at least 60 is wanted up to 17 °C")
            }
        case .fromClouds(let clear, let source):
            if clear < 60_000 {
                findings.broken.append(
                    "\(tenths(clear)) % of the sky clear (\(source)), at least 60 % sunshine is wanted up to 17 °C")
            }
            findings.derived.append("sunshine is derived from the clouds (\(source))")
        }
    }

    private static func tenths(_ thousandths: Int64) -> String {
        Decimal.text(Decimal.divided(thousandths, by: 100), decimals: 1)
    }
}

/// The conditions that the rules demand, in thousandths, each with its source.
private struct Conditions {
    struct Said<Value> {
        let value: Value
        let source: String
    }

    enum Sun { case unknown, seen(Int64), fromClouds(Int64, source: String) }

    /// The weather of an hour's rain gauge that counts as rain: what is less is a trace (WMO-No. 8, I.6).
    private static let rainMin: Int64 = 100

    let temperature: Said<Int64>?
    /// As the surveyors measured it.
    let windMps: Said<Int64>?
    let serviceWindMps: Int64?
    let rain: Said<Bool>?
    let sun: Sun

    /// The weather of the walk. Several hours count as their mean, and any rain.
    init(_ own: Survey.OwnWeather, _ service: [WeatherAnswer]) {
        func mean(_ quantity: WeatherQuantity) -> Int64? {
            let known = service.compactMap { $0.hour.thousandths[quantity] }
            return known.isEmpty ? nil : Decimal.divided(known.reduce(0, +), by: Int64(known.count))
        }
        func said<Value>(_ own: Value?, _ service: Value?) -> Said<Value>? {
            own.map { Said(value: $0, source: "surveyors") } ?? service.map { Said(value: $0, source: "service") }
        }
        temperature = said(own.temperatureC, mean(.temperature))
        windMps = said(own.windSpeedMps, nil)
        serviceWindMps = mean(.windSpeed)
        let rained = service.compactMap { $0.hour.thousandths[.precipitation] }.map { $0 >= Conditions.rainMin }
        rain = said(own.isRaining, rained.isEmpty ? nil : rained.contains(true))
        if let seen = own.sunPct {
            sun = .seen(seen)
        } else if let clouds = said(own.cloudCoverPct, mean(.cloudCover)) {
            sun = .fromClouds(100_000 - clouds.value, source: clouds.source)
        } else {
            sun = .unknown
        }
    }
}
