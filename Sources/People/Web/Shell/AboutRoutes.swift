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
            PublicShell(assets: assets).page("about", main: main).with("Cache-Control", "no-cache")
        }
    }

    private var main: HTML {
        let parts: [[HTML?]] = [
            ["Maps", HTML(base.attribution), base.tiles == nil ? "public domain" : "see there"],
            ["Coarse base map", "Natural Earth 1:10m, thinned out", "public domain"],
            ["Drawing maps", "Leaflet 1.7.1, © Vladimir Agafonkin, CloudMade", "BSD-2-Clause"],
            [
                "Taxonomy that is shipped",
                "Clifton, Apolloh, Nussbaumer, Jackson (2022), A Rocha Kenya; keys of the GBIF backbone", "CC0 1.0",
            ],
            [
                "Weather, where the operator asks for it",
                "OpenWeatherMap, Open-Meteo: each value names its source", "of the service",
            ],
            ["Streets and addresses, where the operator asks for them", "© OpenStreetMap contributors", "ODbL 1.0"],
            ["Drover", "the makers of Drover", "Apache-2.0"],
        ]
        return """
            <h1>About Drover</h1>
            <p>Drover turns what moves in the field into answers: readings of machines and cars, rides on a campus, surveys of \
            butterflies, tours of trails.</p>
            <p id="version">Version: \(version).</p>
            <p>These pages ask no other server, keep one cookie for who is logged in, and watch nobody.</p>
            \(HTML.table(
                caption: "Who made what is shown", headers: [.prose("What"), .prose("By"), .text("Licence")], rows: parts,
                empty: ""))
            <h2>To read</h2>
            <p>Documents that come with the program: docs/pages.md (pages), docs/accounts.md (accounts), docs/surveys.md (surveys \
            and sightings), docs/export.md (exports), docs/tours.md (tours), docs/analyst.md (tables), docs/operator.md (running it).</p>
            """
    }
}
