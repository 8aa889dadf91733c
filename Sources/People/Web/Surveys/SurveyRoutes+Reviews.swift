internal import Codecs
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Presentation
internal import Storage
internal import Telemetry

/// A survey with all that was said of it, and a reviewer's correction: another version on the log, never a changed row.
extension SurveyRoutes {
    private static let noteBytesMax = 4_000

    func addReviews(to router: inout Router) {
        router.add("GET", "/surveys/{site}/{survey}") { [self] in show($0) }
        router.add("GET", "/surveys/{site}/{survey}/correct") { [self] in correct($0) }
        router.add("POST", "/surveys/{site}/{survey}/versions") { [self] in review($0) }
    }

    private static let unknown = Response.problem(
        404, type: "not-found", detail: "There is no such survey that you may see. /surveys lists them.")

    private func key(_ request: Request) -> (site: String, survey: String)? {
        let (site, survey) = (request.parameters["site"]!, request.parameters["survey"]!)
        return VehicleID.isValid(site.utf8) && VehicleID.isValid(survey.utf8) ? (site, survey) : nil
    }

    private func show(_ request: Request) -> Response {
        access.page(request, for: SurveyRoutes.people) { caller, connection in
            let asked = request.query["version"].flatMap { Int($0) }
            guard let (site, survey) = key(request) else { return SurveyRoutes.unknown }
            let versions = try SurveyPageQueries.versions(site: site, survey: survey, version: asked, on: connection)
            guard let shown = versions.first(where: { $0.body != nil }) else { return SurveyRoutes.unknown }
            let isReviewer = !caller.roles.isDisjoint(with: SurveyRoutes.reviewers)
            let isNewest = shown.version == versions.last!.version
            let page = SurveyView(
                survey: try SurveyText.decode(Array(shown.body!.utf8)), shown: shown, versions: versions,
                facts: isNewest
                    ? try SurveyPageQueries.facts(site: site, survey: survey, isOwn: !isReviewer, on: connection) : nil,
                names: isNewest
                    ? try SurveyPageQueries.names(site: site, survey: survey, isOwn: !isReviewer, on: connection) : [:],
                open: isReviewer && isNewest
                    ? try SurveyPageQueries.open(site: site, most: 1_000, on: connection).first { $0.survey == survey }
                    : nil,
                isReviewer: isReviewer, caller: caller)
            let said = request.query["said"].map { id in
                SurveyRoutes.notice(id, basedOn: request.query["based-on"].flatMap { Int($0) }, versions)
            }
            return self.page(t("Survey \(survey)"), page.heading, caller, page.html(said))
        }
    }

    /// The result of a review.
    private static func notice(_ id: String, basedOn: Int?, _ versions: [SurveyPageQueries.Version]) -> FormView.Notice
    {
        if let mine = versions.first(where: { $0.recordID == id }) {
            return .done(t("Your correction is version \(mine.version)."))
        }
        if let basedOn, versions.last!.version > basedOn {
            return .fault(
                t("Not saved: somebody reviewed version \(basedOn) before you. Start again from the newest.")
            )
        }
        return .done(t("Correction saved. Reload in a moment to see it."))
    }

    private func correct(_ request: Request) -> Response {
        access.page(request, for: SurveyRoutes.reviewers) { caller, connection in
            guard let (site, survey) = key(request),
                let newest = try SurveyPageQueries.versions(site: site, survey: survey, version: nil, on: connection)
                    .last,
                let body = newest.body
            else { return SurveyRoutes.unknown }
            return page(
                t("Correct survey \(survey)"),
                PageHeading(
                    t("Correct survey \(survey)"),
                    crumb: (t("Survey"), "/surveys/\(URLText.escaped(site))/\(URLText.escaped(survey))")), caller,
                SurveyFormView.correction(caller, site: site, survey: survey, version: newest.version, body: body),
                scripts: SurveyFormView.scripts)
        }
    }

    /// A form whose survey is JSON; the page's script asks for the same with fetch and gets the address to go on to.
    private func review(_ request: Request) -> Response {
        access.form(request, for: SurveyRoutes.reviewers) { caller, fields, connection in
            guard let (site, survey) = key(request) else { return SurveyRoutes.unknown }
            guard let id = fields["id"], VehicleID.isValid(id.utf8),
                let basedOn = fields["based_on"].flatMap({ Int($0) }),
                (0...1_000_000).contains(basedOn)
            else {
                return .problem(422, type: "form", detail: "The form is not whole. Open the page again.")
            }
            let note = fields["note"] ?? ""
            guard note.utf8.count <= SurveyRoutes.noteBytesMax else {
                return .problem(422, type: "form", detail: "The note has at most \(SurveyRoutes.noteBytesMax) bytes.")
            }
            let versions = try SurveyPageQueries.versions(site: site, survey: survey, version: nil, on: connection)
            guard let newest = versions.last else { return SurveyRoutes.unknown }
            let there =
                "/surveys/\(URLText.escaped(site))/\(URLText.escaped(survey))?said=\(URLText.escaped(id))&based-on=\(basedOn)"
            // Sent again: it is there already.
            if versions.contains(where: { $0.recordID == id }) { return .seeOther(there) }
            guard newest.version == basedOn else {
                return .problem(
                    409, type: "changed",
                    detail:
                        "Somebody has made version \(newest.version) meanwhile; this was made from version \(basedOn). "
                        + "Open the survey again and correct the newest.")
            }
            let upload: Upload
            do {
                let corrected = try SurveyRoutes.survey(fields["survey"] ?? "", site: site, survey: survey)
                upload = try Upload(surveys: [
                    SurveyRecord(
                        id: id, site: site, ts: Clock.nowMs(), account: caller.account, by: caller.account,
                        kind: .reviewed(corrected, basedOn: basedOn, note: note.isEmpty ? nil : note))
                ])
            } catch let problem as SurveyAppRoutes.Problem {
                return problem.response
            } catch {
                return .problem(422, type: "survey", detail: "The survey cannot be taken as it is: \(error).")
            }
            return uploads.refusal(upload) ?? .seeOther(there)
        }
    }

    private static func survey(
        _ text: String, site: String, survey: String
    ) throws(SurveyAppRoutes.Problem) -> Survey {
        let tree: JSONValue
        do throws(JSONValue.Fault) { tree = try JSONValue(Array(text.utf8), bytesMax: SurveyText.bytesMax) } catch {
            throw SurveyAppRoutes.Problem(400, "not-json", "The survey is no JSON that can be read: \(error).")
        }
        let corrected = try SurveyAppRoutes.survey(tree, nowMs: Clock.nowMs())
        guard corrected.site == site, corrected.survey == survey else {
            throw SurveyAppRoutes.Problem(422, "survey", "A correction is of the same site and survey.")
        }
        return corrected
    }
}
