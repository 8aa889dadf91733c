internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Presentation
internal import Reports
internal import Storage

/// A survey as it stands, or as one of its versions had it, with all versions.
struct SurveyView {
    let survey: Survey
    let shown: SurveyPageQueries.Version
    let versions: [SurveyPageQueries.Version]
    /// The facts of the newest version only.
    let facts: SurveyPageQueries.Facts?
    let names: [Int: (accepted: String, isKnown: Bool)]
    let open: SurveyPageQueries.Open?
    let isReviewer: Bool
    let caller: PageCaller

    private var path: String { "/surveys/\(URLText.escaped(survey.site))/\(URLText.escaped(survey.survey))" }

    var heading: PageHeading {
        PageHeading(
            t("Survey \(survey.survey)"), crumb: (t("Surveys"), "/surveys"),
            status: open == nil ? "" : HTML.pill("warning", t("Needs review")))
    }

    func html(_ notice: FormView.Notice?) -> HTML {
        let isNewest = shown.version == versions.last!.version
        let correct: HTML =
            isReviewer && isNewest
            ? "<p><a class=\"btn primary\" href=\"\(path)/correct\">Review</a></p>" : ""
        let waits: HTML? = open.map {
            "<p class=\"strip warning\"><span>Needs a review: \($0.reasons).</span></p>"
        }
        let old: HTML =
            isNewest
            ? ""
            : "<p class=\"warning\">This is version \(shown.version). <a href=\"\(path)\">The newest is \(versions.last!.version)</a></p>"
        return FormView.said(
            notice,
            """
            \(old)\(waits)\(correct)
            \(about)
            \(WalkDrawing(survey).html)
            \(sightings)
            \(lists)
            \(history)
            """)
    }

    // MARK: The walk

    private var about: HTML {
        var pairs: [(String, String?)] = [
            (t("Site"), [survey.site, survey.siteName].compactMap { $0 }.joined(separator: ", ")),
            (t("Route"), survey.route),
            (t("Start"), time(survey.startMs)), (t("Stop"), time(survey.stopMs)),
            (t("Place"), survey.place.map { $0.text.replacing(",", with: ", ") }),
            (
                t("Way"),
                survey.waypoints.isEmpty
                    ? nil
                    : t(
                        survey.waypoints.count, one: "\(survey.waypoints.count) waypoint",
                        many: "\(survey.waypoints.count) waypoints")
            ),
            (t("Protocol"), survey.surveyProtocol.map { survey.isUpland ? t("\($0), upland") : $0 }),
        ]
        if let facts {
            pairs += [
                (t("Kept to its rules"), facts.gate.map { ([$0] + facts.gateReasons).joined(separator: "; ") }),
                (t("Length"), facts.distanceM.map { length($0) }), (t("Pace"), facts.paceMps.map { pace($0) }),
                (
                    t("Weather of the service"),
                    facts.weatherMissing > 0
                        ? t("\(caller.words.count(facts.weatherMissing, .hour)) still missing")
                        : hours(facts.serviceWeather)
                ),
            ]
        }
        pairs += [
            (t("Own weather"), weather(survey.weather)), (t("Comments"), survey.comments),
            (t("Surveyors"), people), (t("Observers"), survey.observers.map { String($0) }),
            (t("Meant for"), survey.forwardTo),
            (t("Other fields"), others(survey.others)),
        ]
        let rows: [HTML] = pairs.compactMap { name, value in
            value.map { "<dt>\(name)</dt><dd>\($0)</dd>" }
        }
        return "<section class=\"card\"><div class=\"body\"><dl>\(rows.joined())</dl></div></section>"
    }

    /// By the surveyors' clocks.
    private func time(_ ms: Int64) -> String {
        UTC.localText(ms, offsetMin: survey.offsetMin).replacing("T", with: " ")
    }

    private func length(_ metres: Double) -> String {
        ShownValue(metres / 1_000, unit: "km", in: caller.units).text
    }
    private func pace(_ metresPerS: Double) -> String {
        ShownValue(metresPerS * 3.6, unit: "km/h", in: caller.units).text
    }
    private func celsius(_ value: Double) -> String { ShownValue(value, unit: "°C", in: caller.units).text }

    private func weather(_ own: Survey.OwnWeather) -> String? {
        func text(_ thousandths: Int64?) -> String? { thousandths.map { Decimal.text($0, decimals: 3) } }
        let parts = [
            own.temperatureC.map { celsius(Double($0) / 1_000) }, text(own.windSpeedMps).map { t("\($0) m/s wind") },
            own.windBeaufort.map { t("wind \($0) Bft") }, text(own.windDirectionDeg).map { t("\($0)° wind direction") },
            text(own.cloudCoverPct).map { t("\($0) % clouds") }, text(own.sunPct).map { t("\($0) % sun") },
            own.isRaining.map { $0 ? t("rain") : t("no rain") }, others(own.others),
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The service's weather, by hour.
    private func hours(_ json: String) -> String? {
        guard let items = (try? JSONValue(Array(json.utf8)))?.items, !items.isEmpty else { return nil }
        return items.compactMap { hour in
            guard let ts = hour["ts"]?.integer, let degrees = hour["temperature_c"]?.double else { return nil }
            let source = [hour["source"]?.text, hour["model"]?.text].compactMap { $0 }.joined(separator: " ")
            return "\(time(ts).dropFirst(11).prefix(5)) \(celsius(degrees)) (\(source))"
        }.joined(separator: ", ")
    }

    private var people: String? {
        let named = survey.surveyors.map { person in
            [person.name, person.role.rawValue, person.expertise, person.mail, person.phone].compactMap { $0 }
                .joined(separator: ", ")
        }
        return named.isEmpty ? nil : named.joined(separator: "; ")
    }

    private func others(_ fields: [Survey.OtherField]) -> String? {
        fields.isEmpty ? nil : fields.map { "\($0.key): \($0.json)" }.joined(separator: ", ")
    }

    // MARK: What was seen

    private var sightings: HTML {
        let rows = survey.sightings.enumerated().map { number, sighting -> [HTML?] in
            let name = names[number]
            let given = name.map { $0.accepted == sighting.species } ?? true
            let species: HTML = """
                \(name?.accepted ?? sighting.species)\
                \("<br><span class=\"soft\">given as \(sighting.species)</span>", if: !given)\
                \("<br><span class=\"warning\">not known</span>", if: name?.isKnown == false)
                """
            return [
                species, "\(sighting.count)", .text(sighting.atMs.map { String(time($0).dropFirst(11).prefix(5)) }),
                .text(sighting.behaviour), .text(sighting.certainty?.rawValue), .text(sighting.section),
                .text(sighting.place.map { $0.text.replacing(",", with: ", ") }), details(sighting),
            ]
        }
        return HTML.table(
            caption: t("Sightings"),
            headers: [
                .prose(t("Species")), .number(t("Count")), .word(t("Time")), .text(t("Behaviour")),
                .text(t("Certainty")),
                .text(t("Section")), .word(t("Place")), .prose(t("More")),
            ], rows: rows, empty: t("Nothing was seen. That is data, too."))
    }

    private func details(_ sighting: Sighting) -> HTML {
        let pairs: [(String, String?)] = [
            (t("habitat"), sighting.habitat), (t("conditions"), sighting.conditions),
            (t("life stage"), sighting.lifeStage),
            (t("sex"), sighting.sex), (t("mark"), sighting.mark), (t("light"), sighting.lightLux.map { "\($0) lux" }),
            (t("right to"), sighting.uncertaintyM.map { "\($0) m" }), (t("animals"), sighting.animals),
            (t("plants"), sighting.plants), (t("comments"), sighting.comments),
            (t("own weather"), weather(sighting.weather)),
            (t("other fields"), others(sighting.others)),
        ]
        let texts: [HTML] = pairs.compactMap { name, value in value.map { "\(name): \($0)" } }
        return (texts + sighting.photos.enumerated().map { photo($0.element, $0.offset + 1) }).joined(separator: "; ")
    }

    /// Photos of ours are shown; addresses elsewhere are named, since nothing of these pages asks another server.
    private func photo(_ name: String, _ number: Int) -> HTML {
        name.utf8.count == 64 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            ? "<a href=\"/survey-photos/\(name)\">photo \(number)</a>" : .t("photo: \(name)")
    }

    private var lists: HTML {
        guard !survey.sections.isEmpty else { return "" }
        return HTML.table(
            caption: t("Sections"), headers: [.text(t("Section")), .number(t("Length")), .text(t("Habitat"))],
            rows: survey.sections.map {
                [
                    .text($0.section), .text($0.distanceMm.map { Decimal.text($0, decimals: 3) + " m" }),
                    .text($0.habitat),
                ]
            }, empty: "")
    }

    private var history: HTML {
        HTML.table(
            caption: t("Versions"),
            headers: [.word(t("Version")), .word(t("Said (\(caller.clock.zone))")), .word(t("By")), .prose(t("Note"))],
            rows: versions.map { version in
                let name = version.version == 0 ? t("0, as handed in") : String(version.version)
                return [
                    version.version == shown.version
                        ? HTML(name) : "<a href=\"\(path)?version=\(version.version)\">\(name)</a>",
                    caller.clock.html(version.saidMs), .text(version.by), .text(version.note),
                ]
            }, empty: "")
    }
}
