internal import Presentation
internal import Storage

/// Lists of one's own surveys with their state, and of those that wait for a reviewer.
enum SurveyListView {
    static func html(
        _ caller: PageCaller, own: [SurveyPageQueries.Own]?, open: [SurveyPageQueries.Open]?, _ notice: FormView.Notice?
    ) -> HTML {
        FormView.said(notice, (open.map { waiting($0, caller) } ?? "") + (own.map { handedIn($0, caller) } ?? ""))
    }

    static func heading(mayEnter: Bool) -> PageHeading {
        PageHeading(
            "Surveys",
            actions: mayEnter
                ? "<a class=\"btn primary\" href=\"/surveys/enter\">\(HTML.icon(.plus))New survey</a>" : "")
    }

    static func link(_ site: String, _ survey: String, _ text: String) -> HTML {
        "<a href=\"/surveys/\(encoded: site)/\(encoded: survey)\">\(text)</a>"
    }

    private static func waiting(_ open: [SurveyPageQueries.Open], _ caller: PageCaller) -> HTML {
        HTML.table(
            caption: "Waiting for a review",
            headers: [
                .prose("Survey"), .word("Day"), .word("Sent (\(caller.clock.zone))"), .number("Version"),
                .prose("Why"),
            ],
            rows: open.map { survey in
                [
                    link(survey.site, survey.survey, "\(survey.site) \(survey.survey)"), .text(survey.day),
                    caller.clock.html(survey.submittedMs), "\(survey.version)", .text(survey.reasons),
                ]
            }, empty: "Nothing to review.")
            + (open.count == SurveyRoutes.openMax
                ? "<p class=\"soft\">The \(SurveyRoutes.openMax) that wait longest.</p>" : "")
    }

    private static func handedIn(_ own: [SurveyPageQueries.Own], _ caller: PageCaller) -> HTML {
        let table = HTML.table(
            caption: "Your surveys",
            headers: [
                .prose("Survey"), .word("Day"), .word("Sent (\(caller.clock.zone))"), .prose("State"),
                .number("Sightings"), .number("Individuals"),
            ],
            rows: own.map { survey in
                let name = "\(survey.site) \(survey.survey)"
                return [
                    survey.version == nil ? HTML(name) : link(survey.site, survey.survey, name), .text(survey.day),
                    caller.clock.html(survey.receivedMs), state(survey), survey.sightings.map { "\($0)" },
                    survey.individuals.map { "\($0)" },
                ]
            }, empty: "No surveys yet. Enter one, or send one from a phone app.")
        guard own.count == SurveyRoutes.receiptsMax, let last = own.last else { return table }
        return table + "<p><a href=\"/surveys?before=\(last.number)\" class=\"btn small\" rel=\"next\">Older</a></p>"
    }

    private static func state(_ survey: SurveyPageQueries.Own) -> HTML {
        if survey.isSetAside {
            return "<span class=\"critical\">Set aside: this site has another survey with that id</span>"
        }
        guard let version = survey.version else {
            return survey.isLogged
                ? "Saved. Shown in a moment" : "<span class=\"warning\">Perhaps not saved: send it again</span>"
        }
        return [
            version == 0 ? "Saved" : "Saved, corrected \(version) \(version == 1 ? "time" : "times")",
            survey.needsReview ? "a name is unknown: somebody will look at it" : nil,
            survey.weatherMissing ?? 0 > 0 ? "weather still missing" : nil,
        ].compactMap { $0 }.joined(separator: "; ")
    }
}
