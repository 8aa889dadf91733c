internal import Presentation
internal import Storage
internal import Surveys

/// Lists of one's own surveys with their state, and of those that wait for a reviewer.
enum SurveyListView {
    static func html(
        _ caller: PageCaller, own: [SurveyPageQueries.Own]?, open: [SurveyPageQueries.Open]?,
        recent: [SurveyEntryQueries.Recent], _ notice: FormView.Notice?
    ) -> HTML {
        FormView.said(
            notice,
            """
            \(open.map { waiting($0, caller) })
            \(own.map { handedIn($0, caller) })
            \(recent.isEmpty ? "" : walked(recent))
            """)
    }

    private static func walked(_ recent: [SurveyEntryQueries.Recent]) -> HTML {
        HTML.table(
            caption: t("Latest walks"),
            headers: [
                .word(t("Day")), .prose(t("Site")), .text(t("Kept to its rules")), .number(t("Sightings")),
                .number(t("Individuals")),
            ],
            rows: recent.map { survey in
                [
                    link(survey.site, survey.survey, survey.day), .text(survey.name ?? survey.site), gate(survey.gate),
                    "\(survey.sightings)", "\(survey.individuals)",
                ]
            }, empty: "")
    }

    private static func gate(_ gate: ProtocolGate.Verdict?) -> HTML? {
        switch gate {
        case .within: HTML.pill("ok", t("Yes"))
        case .outside: HTML.pill("warning", t("No"))
        case .unknown: .t("Not known")
        case nil: nil
        }
    }

    static func heading(mayEnter: Bool) -> PageHeading {
        PageHeading(
            t("Surveys"),
            actions: mayEnter
                ? "<a class=\"btn primary\" href=\"/surveys/enter\">\(HTML.icon(.plus))New survey</a>" : "")
    }

    static func link(_ site: String, _ survey: String, _ text: String) -> HTML {
        "<a href=\"/surveys/\(encoded: site)/\(encoded: survey)\">\(text)</a>"
    }

    private static func waiting(_ open: [SurveyPageQueries.Open], _ caller: PageCaller) -> HTML {
        HTML.table(
            caption: t("Waiting for a review"),
            headers: [
                .prose(t("Survey")), .word(t("Day")), .word(t("Sent (\(caller.clock.zone))")), .number(t("Version")),
                .prose(t("Why")),
            ],
            rows: open.map { survey in
                [
                    link(survey.site, survey.survey, "\(survey.site) \(survey.survey)"), .text(survey.day),
                    caller.clock.html(survey.submittedMs), "\(survey.version)", .text(survey.reasons),
                ]
            }, empty: t("Nothing to review."))
            + (open.count == SurveyRoutes.openMax
                ? "<p class=\"soft\">The \(SurveyRoutes.openMax) that wait longest.</p>" : "")
    }

    private static func handedIn(_ own: [SurveyPageQueries.Own], _ caller: PageCaller) -> HTML {
        let table = HTML.table(
            caption: t("Your surveys"),
            headers: [
                .prose(t("Survey")), .word(t("Day")), .word(t("Sent (\(caller.clock.zone))")), .prose(t("State")),
                .number(t("Sightings")), .number(t("Individuals")),
            ],
            rows: own.map { survey in
                let name = "\(survey.site) \(survey.survey)"
                return [
                    survey.version == nil ? HTML(name) : link(survey.site, survey.survey, name), .text(survey.day),
                    caller.clock.html(survey.receivedMs), state(survey), survey.sightings.map { "\($0)" },
                    survey.individuals.map { "\($0)" },
                ]
            }, empty: t("No surveys yet. Enter one, or send one from a phone app."))
        guard own.count == SurveyRoutes.receiptsMax, let last = own.last else { return table }
        return table + "<p><a href=\"/surveys?before=\(last.number)\" class=\"btn small\" rel=\"next\">Older</a></p>"
    }

    private static func state(_ survey: SurveyPageQueries.Own) -> HTML {
        if survey.isSetAside {
            return "<span class=\"critical\">Set aside: this site has another survey with that id</span>"
        }
        guard let version = survey.version else {
            return survey.isLogged
                ? .t("Saved. Shown in a moment") : "<span class=\"warning\">Perhaps not saved: send it again</span>"
        }
        let parts = [
            version == 0
                ? t("Saved")
                : t(version, one: "Saved, corrected \(version) time", many: "Saved, corrected \(version) times"),
            survey.needsReview ? t("a name is unknown: somebody will look at it") : nil,
            survey.weatherMissing ?? 0 > 0 ? t("weather still missing") : nil,
        ]
        return HTML(parts.compactMap { $0 }.joined(separator: "; "))
    }
}
