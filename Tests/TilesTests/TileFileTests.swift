import Testing
import Tiles

@Suite struct TileFileTests {
    @Test(arguments: [
        ("plain", "© The makers", "© The makers"),
        (
            "a link", "<a href=\"https://example.org/c\">&copy; OpenStreetMap</a> contributors",
            "© OpenStreetMap contributors"
        ),
        ("a script", "<script>alert(1)</script>x", "alert(1)x"),
        ("an open tag", "Map <img src=x onerror=alert(1)", "Map "),
        ("no entity twice", "&amp;copy;", "&copy;"),
    ])
    func attributionIsPlainText(_ name: String, _ html: String, _ plain: String) {
        #expect(TileFile.plain(html) == plain)
    }

    @Test func whatIsNoFileIsSaid() {
        #expect(throws: TileFile.Fault.self) { _ = try TileFile.open(path: "/nonexistent/map.mbtiles") }
    }
}
