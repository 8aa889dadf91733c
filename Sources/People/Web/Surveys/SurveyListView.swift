internal import Presentation
internal import Storage

/// Lists of one's own surveys with their state, and of those that wait for a reviewer.
enum SurveyListView {
    static func html(
        _ caller: PageCaller, own: [SurveyPageQueries.Own]?, open: [SurveyPageQueries.Open]?, _ notice: FormView.Notice?
    ) -> HTML {
        let enter: HTML = own == nil ? "" : "<p><a class=\"button\" href=\"/surveys/enter\">Enter a survey</a></p>\n"
        return FormView.main(
            "Surveys", notice,
            enter + (open.map { waiting($0, caller) } ?? "") + (own.map { handedIn($0, caller) } ?? ""))
    }

    static func link(_ site: String, _ survey: String, _ text: String) -> HTML {
        "<a href=\"/surveys/\(encoded: site)/\(encoded: survey)\">\(text)</a>"
    }

    private static func waiting(_ open: [SurveyPageQueries.Open], _ caller: PageCaller) -> HTML {
        HTML.table(
            caption: "Waiting for a review",
            headers: [
                .prose("Survey"), .word("Day"), .word("Handed in (\(caller.clock.zone))"), .number("Version"),
                .prose("Why somebody should look at it"),
            ],
            rows: open.map { survey in
                [
                    link(survey.site, survey.survey, "\(survey.site) \(survey.survey)"), .text(survey.day),
                    caller.clock.html(survey.submittedMs), "\(survey.version)", .text(survey.reasons),
                ]
            }, empty: "Nothing waits for a review.")
            + (open.count == SurveyRoutes.openMax
                ? "<p class=\"soft\">The \(SurveyRoutes.openMax) that wait the longest.</p>" : "")
    }

    private static func handedIn(_ own: [SurveyPageQueries.Own], _ caller: PageCaller) -> HTML {
        let table = HTML.table(
            caption: "What you handed in",
            headers: [
                .prose("Survey"), .word("Day"), .word("Handed in (\(caller.clock.zone))"),
                .prose("What became of it"),
                .number("Sightings"), .number("Individuals"),
            ],
            rows: own.map { survey in
                let name = "\(survey.site) \(survey.survey)"
                return [
                    survey.version == nil ? HTML(name) : link(survey.site, survey.survey, name), .text(survey.day),
                    caller.clock.html(survey.receivedMs), state(survey), survey.sightings.map { "\($0)" },
                    survey.individuals.map { "\($0)" },
                ]
            }, empty: "You have not handed in a survey yet.")
        guard own.count == SurveyRoutes.receiptsMax, let last = own.last else { return table }
        return table + "<p><a href=\"/surveys?before=\(last.number)\" rel=\"next\">Older ones</a></p>"
    }

    private static func state(_ survey: SurveyPageQueries.Own) -> HTML {
        if survey.isSetAside {
            return "<span class=\"critical\">set aside: another survey of this site and id was there before</span>"
        }
        guard let version = survey.version else {
            return survey.isLogged
                ? "kept, and shown in a moment" : "<span class=\"warning\">not kept for sure: send it again</span>"
        }
        return [
            version == 0 ? "stored" : "stored, corrected \(version) \(version == 1 ? "time" : "times")",
            survey.needsReview ? "a name in it is not known: somebody looks at it" : nil,
            survey.weatherMissing ?? 0 > 0 ? "weather is still to come" : nil,
        ].compactMap { $0 }.joined(separator: "; ")
    }
}
