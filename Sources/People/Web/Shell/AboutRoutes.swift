package import HTTPServer
internal import Presentation

/// About the program: version and attributions. For everybody, so it says nothing about the machine it runs on.
package struct AboutRoutes: Sendable {
    private let assets: AssetFiles
    private let base: BaseMap
    private let version: String

    package init(assets: AssetFiles, base: BaseMap, version: String) {
        self.assets = assets
        self.base = base
        self.version = version
    }

    package func add(to router: inout Router) {
        router.add("GET", "/about") { [self] _ in
            PublicShell(assets: assets).page(t("About"), main: main).with("Cache-Control", "no-cache")
        }
    }

    private var main: HTML {
        let parts: [[HTML?]] = [
            [.t("Maps"), HTML(base.attribution), .t("see there")],
            [.t("Streets of the sample's city"), "© OpenStreetMap contributors", "ODbL 1.0"],
            [.t("The world beneath"), .t("Natural Earth 1:10m, thinned out"), .t("public domain")],
            [.t("Drawing maps"), "MapLibre GL JS 5.24.1, © MapLibre contributors, Mapbox", "BSD-3-Clause"],
            [.t("Letters on maps"), "Noto Sans, © The Noto Project Authors", "OFL 1.1"],
            [
                .t("Taxonomy that is shipped"),
                "Clifton, Apolloh, Nussbaumer, Jackson (2022), A Rocha Kenya; keys of the GBIF backbone", "CC0 1.0",
            ],
            [
                .t("Weather, where the operator asks for it"),
                .t("OpenWeatherMap, Open-Meteo: each value names its source"), .t("of the service"),
            ],
            [
                .t("Streets and addresses, where the operator asks for them"), "© OpenStreetMap contributors",
                "ODbL 1.0",
            ],
            ["Drover", .t("the makers of Drover"), "Apache-2.0"],
        ]
        return """
            <h1>About Drover</h1>
            <p>Drover turns what moves in the field into answers: machines and cars, rides on a campus, butterfly surveys, trail tours.</p>
            <p id="version">Version: \(version).</p>
            <p>These pages load nothing from other servers, keep one cookie while you are logged in, and do not track you.</p>
            \(HTML.table(
                caption: t("Credits"), headers: [.prose(t("What")), .prose(t("By")), .text(t("Licence"))], rows: parts,
                empty: ""))
            <h2 id="maps">A street map of your own</h2>
            <p>Central Helsinki comes with the sample. For another place whoever runs Drover makes a street map from an extract of \
            OpenStreetMap: <code>Deploy/street-map FILE.osm.pbf</code>, then sets <code>map.tiles_file</code>. docs/maps.md tells how.</p>
            <h2>Documentation</h2>
            <p>Comes with the program: docs/pages.md (pages), docs/accounts.md (accounts), docs/surveys.md (surveys \
            and sightings), docs/export.md (exports), docs/tours.md (tours), docs/analyst.md (tables), docs/operator.md (running it).</p>
            """
    }
}
