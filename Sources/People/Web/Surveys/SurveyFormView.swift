internal import Codecs
internal import Fleet
internal import Presentation

/// The form of a survey: for surveyors who enter one, and for reviewers who correct one. Field names are the paths of
/// docs/survey-records.md; without script the form has a few fixed rows.
enum SurveyFormView {
    static let scripts = ["names.js", "nature/survey-form.js"]
    /// Of a new survey.
    static let walkScripts = scripts + ["nature/survey-walk.js"]
    /// Rows of sightings without script.
    private static let plainRows = 5

    private enum Kind: String { case text, number, whole, time, moment, flag, lines }

    /// - Parameter more: attributes.
    private static func field(
        _ path: String, _ label: String, _ kind: Kind = .text, _ more: HTML = "", length: Int = 200
    )
        -> HTML
    {
        let id = path.replacing(".", with: "-")
        let type: HTML =
            switch kind {
            case .number: "type=\"number\" step=\"any\" inputmode=\"decimal\""
            case .whole: "type=\"number\" step=\"1\" min=\"0\" inputmode=\"numeric\""
            case .time: "type=\"time\""
            case .moment: "type=\"datetime-local\""
            case .text, .flag, .lines: "type=\"text\" maxlength=\"\(length)\""
            }
        let head: HTML = "<div><label for=\"\(id)\">\(label)</label>"
        switch kind {
        case .lines:
            return
                "\(head)<textarea id=\"\(id)\" name=\"\(path)\" data-kind=\"text\" rows=\"2\" maxlength=\"4000\" \(more)></textarea></div>"
        case .flag:
            return
                "\(head)<select id=\"\(id)\" name=\"\(path)\" data-kind=\"flag\"><option value=\"\">–</option><option value=\"yes\">Yes</option><option value=\"no\">No</option></select></div>"
        case .text, .number, .whole, .time, .moment:
            return
                "\(head)<input id=\"\(id)\" name=\"\(path)\" data-kind=\"\(kind.rawValue)\" \(type) autocomplete=\"off\" \(more)></div>"
        }
    }

    private static func choice(_ path: String, _ label: String, _ values: [(value: String, text: String)]) -> HTML {
        let id = path.replacing(".", with: "-")
        let options: [HTML] = values.map { "<option value=\"\($0.value)\">\($0.text)</option>" }
        return
            "<div><label for=\"\(id)\">\(label)</label><select id=\"\(id)\" name=\"\(path)\" data-kind=\"text\"><option value=\"\">–</option>\(options.joined())</select></div>"
    }

    private static func word(_ certainty: Sighting.Certainty) -> String {
        switch certainty {
        case .certain: t("Certain")
        case .probable: t("Probable")
        case .uncertain: t("Uncertain")
        }
    }

    private static func word(_ role: Survey.Surveyor.Role) -> String {
        switch role {
        case .recorder: t("Recorder")
        case .observer: t("Observer")
        }
    }

    // MARK: Rows

    private static func sighting(_ n: String) -> HTML {
        let at = "sightings.\(n)."
        return """
            <fieldset class="row" data-row="sightings"><legend>Sighting <span class="number">\(n)</span></legend>
            <div class="grid">
            \(field(at + "species", t("Species"), .text, "list=\"taxa\""))
            \(field(at + "count", t("Count"), .whole, "max=\"1000000\""))
            \(field(at + "time", t("Time"), .time))
            \(field(at + "section", t("Section")))
            \(field(at + "behaviour", t("Behaviour"), .text, "list=\"behaviours\""))
            \(choice(at + "certainty", t("How certain"), Sighting.Certainty.allCases.map { ($0.rawValue, word($0)) }))
            </div>
            <details><summary>More</summary><div class="grid">
            \(field(at + "latitude", t("Latitude, degrees"), .number, "min=\"-90\" max=\"90\""))
            \(field(at + "longitude", t("Longitude, degrees"), .number, "min=\"-180\" max=\"180\""))
            \(field(at + "life_stage", t("Life stage")))
            \(field(at + "sex", t("Sex")))
            \(field(at + "mark", t("Mark and recapture")))
            \(field(at + "light_lux", t("Light, lux"), .whole))
            \(field(at + "habitat", t("Habitat")))
            \(field(at + "plants", t("Plants")))
            \(field(at + "animals", t("Other animals")))
            \(field(at + "comments", t("Comments"), .lines))
            </div><p class="tools photos" hidden><label>Photos <input type="file" accept="image/jpeg,image/png,image/webp" multiple></label> <span class="soft"></span></p></details>
            <p class="tools" hidden><button type="button" class="quiet here">Here and now</button> <button type="button" class="quiet remove">Remove</button></p>
            </fieldset>
            """
    }

    private static func section(_ n: String) -> HTML {
        let at = "sections.\(n)."
        return """
            <fieldset class="row" data-row="sections"><legend>Section <span class="number">\(n)</span></legend><div class="grid">
            \(field(at + "section", t("Name")))\(field(at + "distance_m", t("Length, m"), .number, "min=\"0\""))\(field(at + "habitat", t("Habitat")))
            </div><p class="tools" hidden><button type="button" class="quiet remove">Remove</button></p></fieldset>
            """
    }

    private static func surveyor(_ n: String) -> HTML {
        let at = "surveyors.\(n)."
        return """
            <fieldset class="row" data-row="surveyors"><legend>Surveyor <span class="number">\(n)</span></legend><div class="grid">
            \(field(at + "name", t("Name")))\(choice(at + "role", t("Role (empty: recorder)"), Survey.Surveyor.Role.allCases.map { ($0.rawValue, word($0)) }))\
            \(field(at + "expertise", t("Experience")))\(field(at + "mail", t("Mail")))\(field(at + "phone", t("Phone")))
            </div><p class="tools" hidden><button type="button" class="quiet remove">Remove</button></p></fieldset>
            """
    }

    private static var siteFields: HTML {
        """
        \(field("site_name", t("Name of the site")))
        \(field("site", t("Site id"), .text, "required pattern=\"[A-Za-z0-9._\\-]{1,64}\"", length: 64))
        """
    }

    private static var rest: HTML {
        let plain = (1...plainRows).map { sighting(String($0)) }.joined(separator: "\n")
        let behaviours: HTML = Sighting.Behaviour.allCases.map { "<option value=\"\($0.rawValue)\">" }.joined()
        return """
            <div class="grid">
            \(field("route", t("Route")))
            \(field("start", t("Start"), .moment, "required"))
            \(field("stop", t("Stop"), .moment, "required"))
            \(field("offset", t("Time zone, as ±hh:mm"), .text, "required pattern=\"(Z|[+\\-][0-9]{2}:[0-9]{2})\""))
            \(field("latitude", t("Latitude, degrees"), .number, "min=\"-90\" max=\"90\""))
            \(field("longitude", t("Longitude, degrees"), .number, "min=\"-180\" max=\"180\""))
            \(field("protocol", t("Protocol"), .text, "list=\"protocols\""))
            \(field("observers", t("Observers"), .whole))
            </div>
            <p class="tools" hidden><button type="button" class="quiet" id="place">Use my position</button> <span id="place-said" role="status" class="soft"></span></p>
            <fieldset><legend>Weather</legend><div class="grid">
            \(field("weather.temperature_c", t("Temperature, °C"), .number))
            \(field("weather.wind_beaufort", t("Wind, Beaufort"), .whole, "max=\"12\""))
            \(field("weather.wind_speed_mps", t("Wind, m/s"), .number, "min=\"0\""))
            \(field("weather.cloud_cover_pct", t("Clouds, %"), .number, "min=\"0\" max=\"100\""))
            \(field("weather.sun_pct", t("Sunshine, % of the walk"), .number, "min=\"0\" max=\"100\""))
            \(field("weather.rain", t("Rain"), .flag))
            </div></fieldset>
            <h2>Sightings</h2>
            <div id="sightings">
            \(plain)
            </div>
            <template id="sightings-row">\(sighting("0"))</template>
            <p class="tools" hidden><button type="button" class="add" data-list="sightings">Add a sighting</button></p>
            <h2>Sections and surveyors</h2>
            <div id="sections">\(section("1"))</div><template id="sections-row">\(section("0"))</template>
            <p class="tools" hidden><button type="button" class="quiet add" data-list="sections">Add a section</button></p>
            <div id="surveyors">\(surveyor("1"))</div><template id="surveyors-row">\(surveyor("0"))</template>
            <p class="tools" hidden><button type="button" class="quiet add" data-list="surveyors">Add a surveyor</button></p>
            \(field("comments", t("Comments"), .lines))
            <datalist id="taxa" data-names="/sightings/names?search="></datalist><datalist id="behaviours">\(behaviours)</datalist>
            <datalist id="protocols"><option value="pollard-walk"></datalist>
            """
    }

    // MARK: Pages

    static func entry(_ caller: PageCaller, _ walk: SurveyWalkView) -> HTML {
        """
        <noscript><p class="warning">Without scripts the form has \(plainRows) sightings and keeps no drafts.</p></noscript>
        <div id="drafts"></div>
        <form id="survey" class="entry" method="post" action="/surveys" data-mark="\(caller.mark)" data-account="\(caller.account)">
        \(FormView.hidden(CSRFGuard.field, caller.mark))
        <input type="hidden" name="survey" value="\(SurveyRoutes.newID("w"))">
        \(walk.knownSites)
        <div class="grid" id="new-site">\(siteFields)</div>
        \(walk.html)
        <details id="rest" open><summary>All fields: times, weather, sightings, sections, people</summary>
        \(rest)
        </details>
        <ul id="faults" class="critical"></ul>
        <p id="said" role="status"></p>
        <p class="tools"><button class="btn primary">Send survey</button></p>
        </form>
        """
    }

    /// - Parameter body: JSON of the version that is corrected.
    static func correction(
        _ caller: PageCaller, site: String, survey: String, version: Int, body json: String
    ) -> HTML {
        let path = "/surveys/\(URLText.escaped(site))/\(URLText.escaped(survey))"
        return """
            <p class="soft">Your changes become version \(version + 1). Version \(version) stays as it is.</p>
            <form id="fields" class="entry" hidden>
            <div class="grid">\(siteFields)</div>
            \(rest)
            <p class="soft">Fields not shown here stay as they are.</p>
            </form>
            <form id="correction" class="entry fields" method="post" action="\(path)/versions">
            \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", SurveyRoutes.newID("r")))\
            \(FormView.hidden("based_on", String(version)))
            <div id="plain"><label for="json">The survey as JSON</label>
            <textarea id="json" name="survey" rows="20" spellcheck="false">\(json)</textarea></div>
            <div><label for="note">Why</label><textarea id="note" name="note" rows="2" maxlength="2000"></textarea></div>
            <p id="said" role="alert" class="critical"></p>
            <p class="tools"><button class="btn primary">Save as version \(version + 1)</button></p>
            </form>
            """
    }
}
