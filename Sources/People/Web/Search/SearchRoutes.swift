internal import Alerts
internal import Fleet
internal import Formats
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
internal import Synchronization
package import Telemetry

/// `/search`: one field for all that somebody may see. The page needs no script; with script the bar on top shows the same while
/// somebody types.
package final class SearchRoutes: Sendable {
    /// Rules are files: they are not read for each letter.
    private static let rulesMs: Int64 = 60_000
    private static let hitsShown = 12

    private struct Rules {
        let readMs: Int64
        let all: [(model: String, parameter: String)]
    }

    private let access: AccessControl
    private let assets: AssetFiles
    private let queries: ReportQueries
    private let ready: [ReadyQuery]
    private let files: ThresholdFiles
    private let log: Log
    private let rules = Mutex<Rules?>(nil)

    package init(
        access: AccessControl, assets: AssetFiles, queries: ReportQueries, ready: [ReadyQuery],
        rules files: ThresholdFiles, log: Log
    ) {
        (self.access, self.assets, self.queries, self.ready) = (access, assets, queries, ready)
        (self.files, self.log) = (files, log)
    }

    package func add(to router: inout Router) {
        router.add("GET", "/search") { [self] request in
            access.page(request, for: nil) { caller, connection in
                let text = SearchRoutes.text(request)
                let found = try found(text, caller, connection)
                return PageShell(caller: caller, assets: assets).page(
                    text.isEmpty ? t("Search") : t("Search: \(text)"), at: "/search", heading: PageHeading(t("Search")),
                    main: SearchView(caller: caller, text: text, found: found).html)
            }
        }
        router.add("GET", "/search/results") { [self] request in
            access.call(request, for: nil) { caller, connection in
                let text = SearchRoutes.text(request)
                let found = try found(text, caller, connection)
                return .json(
                    SearchView(caller: caller, text: text, found: found).document(most: SearchRoutes.hitsShown)
                        .rendered())
            }
        }
    }

    struct Found {
        let hits: [SearchIndex.Hit]
        /// Offered where there is no hit.
        let near: [SearchIndex.Hit]
    }

    private static func text(_ request: Request) -> String {
        let words = (request.query["q"] ?? "").prefix(SearchIndex.textMax).split(whereSeparator: \.isWhitespace)
        return words.joined(separator: " ")
    }

    private func found(_ text: String, _ caller: PageCaller, _ connection: Connection) throws -> Found {
        let index = SearchIndex(
            caller: caller, queries: queries, ready: QueryRoutes.listed(ready, for: caller.roles),
            rules: caller.roles.isDisjoint(with: ThresholdRoutes.editors) ? [] : knownRules())
        let hits = try index.hits(text, on: connection)
        return Found(hits: hits, near: hits.isEmpty && !text.isEmpty ? try index.near(text, on: connection) : [])
    }

    /// Files that cannot be read are the page of rules' to tell: here nothing of them is found.
    private func knownRules() -> [(model: String, parameter: String)] {
        let nowMs = Clock.nowMs()
        return rules.withLock { rules in
            if let rules, nowMs - rules.readMs < SearchRoutes.rulesMs { return rules.all }
            var all: [(model: String, parameter: String)] = []
            do {
                let models = try files.load(files.read()).models
                all = models.sorted { $0.key < $1.key }.flatMap { model, thresholds in
                    Set(thresholds.map(\.field.shownName)).sorted().map { (model, $0) }
                }
            } catch {
                log.warning("search finds no rules", ["error": "\(error)"])
            }
            rules = Rules(readMs: nowMs, all: all)
            return all
        }
    }
}
