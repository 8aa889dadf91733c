internal import Codecs
internal import Fleet
internal import Presentation
internal import Storage

/// What a survey begins with: the site, then the walk with a button for each species. The script behind it writes the rows of the form.
struct SurveyWalkView {
    static let sitesMax = 100
    static let speciesMax = 24
    private static let linePointsMax = 2_000

    /// The last walked first.
    let sites: [SurveyEntryQueries.Site]
    /// Of this season, the most often met first.
    let species: [(name: String, common: String?)]

    /// Hidden without script, where the ids are typed.
    var knownSites: HTML {
        guard !sites.isEmpty else { return "" }
        let options: [HTML] = sites.map { site in
            let facts: [(String, String?)] = [
                ("name", site.name), ("route", site.route), ("protocol", site.surveyProtocol),
                ("lat", site.latitude.map { "\($0)" }), ("lon", site.longitude.map { "\($0)" }),
                ("sections", site.sections.joined(separator: "\n")), ("line", SurveyWalkView.places(site.line)),
            ]
            let data: HTML = facts.compactMap { name, value in value.map { " data-\(name)=\"\($0)\"" } }.joined()
            return "<option value=\"\(site.site)\"\(data)>\(site.name ?? site.site)</option>"
        }
        return """
            <div id="known" hidden><label for="known-site">Site</label><select id="known-site">\(options.joined())<option value="">New site…</option></select></div>
            """
    }

    /// `lat,lon lat,lon …`
    private static func places(_ line: String?) -> String? {
        guard let line, let points = try? Polyline.decode(line, pointsMax: linePointsMax) else { return nil }
        return points.map(\.text).joined(separator: " ")
    }

    var html: HTML {
        let tallies: [HTML] = species.map { name, common in
            "<li data-species=\"\(name)\" data-common=\"\(common ?? "")\"></li>"
        }
        return """
            <section class="card walk" id="walk" aria-labelledby="walk-title" hidden>
            <header><h2 id="walk-title">Walk</h2><span id="walk-said" role="status" class="soft"></span></header>
            <div class="body">
            <p class="tools"><button type="button" class="btn primary" id="walk-start">Start walk</button>
            <button type="button" class="btn" id="walk-stop" hidden>Finish walk</button>
            <button type="button" class="btn" id="walk-undo" disabled>Undo</button></p>
            <div class="tools" id="walk-sections" role="group" aria-label="Part of the transect"></div>
            <ul id="tallies" class="tallies">\(tallies.joined())</ul>
            <p class="tools"><label for="walk-other">Another species</label> <input id="walk-other" type="text" maxlength="200" list="taxa" autocomplete="off">
            <button type="button" class="btn" id="walk-add">Count one</button></p>
            <svg id="walk-map" class="trail" viewBox="0 0 300 150" role="img" aria-label="The transect and your way on it, north is up" hidden><path class="route"/><path class="way"/><circle r="4"/></svg>
            </div></section>
            """
    }
}
