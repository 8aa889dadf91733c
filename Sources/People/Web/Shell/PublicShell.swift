internal import HTTPServer
internal import Presentation

/// Pages for everybody: no log-in, and no word about who is logged in.
struct PublicShell {
    static var footer: HTML {
        """
        <footer class="foot"><nav aria-label="For everybody"><a href="/trail-tours">Trail tours</a> \
        <a href="/about">About</a></nav></footer>
        """
    }

    let assets: AssetFiles

    /// - Parameter link: what the navigation has.
    func page(
        _ title: String, styles: [String] = [], scripts: [String] = [],
        link: (path: String, name: String) = ("/login", t("Log in")),
        main: HTML
    ) -> Response {
        let body: HTML = """
            <a class="skip" href="#main">Skip to content</a>
            <header class="public"><a class="brand" href="/" aria-label="Drover, home">\(PageShell.mark)<span>Drover</span></a>
            <nav aria-label="Pages"><a class="btn" href="\(link.path)">\(link.name)</a></nav>
            </header>
            <main id="main" class="main" tabindex="-1">
            \(main)
            </main>
            \(PublicShell.footer)
            """
        return .page(
            HTML.document(
                title: "\(title.prefix(1).uppercased() + title.dropFirst()) · Drover",
                head: PageShell.head(assets, styles, scripts),
                body: body, bodyClass: "public"),
            hasScripts: true, hasMap: BaseMap.isLoaded(by: scripts))
    }
}
