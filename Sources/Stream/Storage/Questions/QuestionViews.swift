public import Postgres

/// A view that may be asked: what its rows are, and its columns.
public struct QuestionViews: Sendable {
    public let name, about: String
    public let columns: [String]

    public static func read(on connection: Connection) throws -> [QuestionViews] {
        try connection.query("SELECT view, about, columns FROM drover.views_asked()").map { row in
            QuestionViews(
                name: try row.text("view")!, about: try row.text("about") ?? "",
                columns: try row.textArray("columns")!.compactMap { $0 })
        }
    }
}
