package import Postgres

/// A view that may be asked: what its rows are, and its columns.
package struct QuestionRelation: Sendable {
    package let name, about: String
    package let columns: [String]

    package static func read(on connection: Connection) throws -> [QuestionRelation] {
        try connection.query("SELECT view, about, columns FROM drover.views_asked()").map { row in
            QuestionRelation(
                name: try row.text("view")!, about: try row.text("about") ?? "",
                columns: try row.textArray("columns")!.compactMap { $0 })
        }
    }
}
