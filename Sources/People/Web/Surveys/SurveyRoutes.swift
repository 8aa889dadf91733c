internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
package import HTTPServer
package import Ingest
internal import Presentation
internal import Storage
internal import Telemetry

/// Surveys in a browser: entered by surveyors, reviewed and corrected by reviewers. Submissions go the way of the apps'. docs/surveys.md.
package final class SurveyRoutes: Sendable {
    static let surveyors: Set<Role> = [.surveyor]
    static let reviewers: Set<Role> = [.researcher, .administrator]
    static let people = surveyors.union(reviewers)
    /// Larger than what else is handed in.
    package static let bodyBytesMaxByPath = ["/survey-photos": PhotoFile.bytesMax]
    static let receiptsMax = 100
    static let openMax = 200
    static let recentMax = 50

    let access: AccessControl
    let assets: AssetFiles
    let surveys: SurveyAppRoutes
    let uploads: UploadSender

    package init(access: AccessControl, assets: AssetFiles, surveys: SurveyAppRoutes, uploads: UploadSender) {
        self.access = access
        self.assets = assets
        self.surveys = surveys
        self.uploads = uploads
    }

    package func add(to router: inout Router) {
        router.add("GET", "/surveys") { [self] in list($0) }
        router.add("POST", "/surveys") { [self] in accept($0) }
        router.add("GET", "/surveys/enter") { [self] request in
            access.page(request, for: SurveyRoutes.surveyors) { caller, connection in
                let month = Int(UTC.civil(days: Clock.nowMs() / UTC.msPerDay).month)
                let walk = SurveyWalkView(
                    sites: try SurveyEntryQueries.sites(most: SurveyWalkView.sitesMax, on: connection),
                    species: try SurveyEntryQueries.species(
                        month: month, most: SurveyWalkView.speciesMax, on: connection))
                return page(
                    t("New survey"), PageHeading(t("New survey"), crumb: (t("Surveys"), "/surveys")), caller,
                    SurveyFormView.entry(caller, walk), scripts: SurveyFormView.walkScripts)
            }
        }
        router.add("GET", "/surveys/species") { [self] request in
            access.call(request, for: SurveyRoutes.people) { _, connection in
                surveys.species(request) { try TaxonQueries.common($0, on: connection) }
            }
        }
        router.add("POST", "/survey-photos") { [self] request in
            access.call(request, for: SurveyRoutes.surveyors) { caller, _ in
                surveys.keepPhoto(request, of: caller.account)
            }
        }
        router.add("GET", "/survey-photos/{photo}") { [self] in showPhoto($0) }
        addReviews(to: &router)
    }

    func page(
        _ title: String, _ heading: PageHeading, _ caller: PageCaller, _ main: HTML, scripts: [String] = [],
        status: Int = 200
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title, at: "/surveys", heading: heading, styles: ["nature/surveys.css"], scripts: scripts, main: main)
        response.status = status
        return response
    }

    // MARK: Lists

    private func list(_ request: Request) -> Response {
        access.page(request, for: SurveyRoutes.people) { caller, connection in
            let before = request.query["before"].flatMap { Int64($0) } ?? .max
            let own =
                caller.roles.contains(.surveyor)
                ? try SurveyPageQueries.own(before: before, most: SurveyRoutes.receiptsMax, on: connection) : nil
            let open =
                caller.roles.isDisjoint(with: SurveyRoutes.reviewers)
                ? nil : try SurveyPageQueries.open(most: SurveyRoutes.openMax, on: connection)
            let notice: FormView.Notice? =
                request.query["said"] == "taken"
                ? .done(t("Survey saved. Its state is below; reload in a moment.")) : nil
            return page(
                t("Surveys"), SurveyListView.heading(mayEnter: own != nil), caller,
                SurveyListView.html(
                    caller, own: own, open: open,
                    recent: open == nil
                        ? [] : try SurveyEntryQueries.recent(most: SurveyRoutes.recentMax, on: connection), notice))
        }
    }

    // MARK: Entry

    /// From the page's script as JSON; from a browser without scripts as a form.
    private func accept(_ request: Request) -> Response {
        guard request.contentType == "application/json" else {
            return access.form(request, for: SurveyRoutes.surveyors) { caller, fields, _ in
                let items = fields.items.filter { $0.name != CSRFGuard.field }
                guard let tree = SurveyForm.tree(of: items) else {
                    return .problem(422, type: "form", detail: "A field of this form is none of a survey.")
                }
                return accept(tree, caller) { response in
                    [200, 201].contains(response.status) ? .seeOther("/surveys?said=taken") : response
                }
            }
        }
        return access.call(request, for: SurveyRoutes.surveyors) { caller, _ in
            do throws(JSONValue.Fault) {
                return accept(try JSONValue(request.body, bytesMax: SurveyText.bytesMax), caller) { $0 }
            } catch {
                return .problem(400, type: "not-json", detail: "The body is no JSON that can be read: \(error).")
            }
        }
    }

    private func accept(
        _ tree: JSONValue, _ caller: PageCaller, _ shown: @escaping @Sendable (Response) -> Response
    ) -> Response {
        let survey: Survey
        do throws(SurveyAppRoutes.Problem) {
            survey = try SurveyAppRoutes.survey(tree, nowMs: Clock.nowMs())
        } catch {
            return shown(error.response)
        }
        let answer = DeferredResponse()
        surveys.receiver.accept(survey, of: caller.account, by: caller.account) { [surveys] outcome in
            answer.give(shown(surveys.response(to: outcome, survey)))
        }
        return .later(answer)
    }

    private func showPhoto(_ request: Request) -> Response {
        access.page(request, for: SurveyRoutes.people) { _, connection in
            guard let photo = try SurveyPageQueries.photo(request.parameters["photo"]!, on: connection) else {
                return .problem(404, type: "not-found", detail: "There is no such photo that you may see.")
            }
            return Response(
                200,
                headers: [
                    ("Content-Type", photo.mediaType), ("Content-Disposition", "inline"),
                    // Browsers may run and load nothing in it, whatever they take it for.
                    ("Content-Security-Policy", "default-src 'none'; sandbox"),
                    ("Cross-Origin-Resource-Policy", "same-origin"),
                ], body: photo.content)
        }
    }

    /// The id of a form's record: sent twice it counts once.
    static func newID(_ kind: String) -> String { kind + "-" + Hex.text(Secrets.random(10)) }
}
