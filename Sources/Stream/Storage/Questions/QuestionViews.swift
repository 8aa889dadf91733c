package import Postgres

/// A view that may be asked: what its rows are, and its columns.
package struct QuestionViews: Sendable {
    package let name, about: String
    package let columns: [String]

    package static func read(on connection: Connection) throws -> [QuestionViews] {
        try connection.query("SELECT view, about, columns FROM drover.views_asked()").map { row in
            QuestionViews(
                name: try row.text("view")!, about: try row.text("about") ?? "",
                columns: try row.textArray("columns")!.compactMap { $0 })
        }
    }
}
