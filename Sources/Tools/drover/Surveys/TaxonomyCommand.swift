import App
import Postgres
import Settings
import Storage
import Surveys
import Worker

extension Command {
    static let taxonomy = Command(
        name: "taxonomy", operands: "load FILE",
        summary: "Puts a list of species with their other names in the place of the one before.",
        options: [.init("--source", "TEXT", "where it is from (default: the file's name)")] + SettingsSource.options,
        example: "drover taxonomy load Deploy/taxonomy/butterflies-watamu.csv",
        run: { arguments in
            guard arguments.operands.count == 2, arguments.operands[0] == "load" else {
                throw UsageError("say `load FILE`")
            }
            let (file, settings) = (arguments.operands[1], try SettingsSource.load(arguments))
            let loaded = try load(
                file, source: arguments.text("--source") ?? Files.name(file), settings.text("postgres.url"))
            Out.note("\(loaded.taxa) taxa; \(loaded.surveys) surveys hold a name that means something else now")
            return .done
        })

    private static func load(_ path: String, source: String, _ conninfo: String) throws -> SurveyReadBack.Loaded {
        let (bytes, file) = (try Files.read(path), TaxonomyFile.self)
        let taxonomy: TaxonomyFile
        do throws(TaxonomyFile.Fault) { taxonomy = try file.init(bytes) } catch { throw Failure("\(path): \(error)") }
        let connection = try TaxonomyStore.connect(conninfo)
        return try SurveyReadBack.load(taxonomy, source: source, on: connection)
    }

    /// Loads a list of those that are shipped, where nothing was loaded yet: the sample's butterflies are Finnish. A data folder that only
    /// has the other one takes them, too, as long as nobody has seen any of it.
    static func loadShippedTaxonomy(_ settings: Settings, isSample: Bool) throws {
        let conninfo = settings.text("postgres.url")
        let (usual, finnish) = ("butterflies-watamu.csv", "butterflies-finland.csv")
        let connection = try Connection(conninfo: conninfo)
        let isFree =
            try TaxonQueries.isEmpty(on: connection)
            || isSample && TaxonQueries.isUnused(from: usual, on: connection)
        guard isFree else { return }
        let path = try Home.path("Deploy/taxonomy/" + (isSample ? finnish : usual))
        _ = try load(path, source: Files.name(path), conninfo)
    }
}
