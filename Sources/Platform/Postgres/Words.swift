/// Words of closed lists: enums whose raw values stand in the tables.
extension Row {
    /// Nil for NULL. Throws where the database has a word that the list lacks.
    package func word<Word: RawRepresentable<String>>(
        _ column: String, of _: Word.Type = Word.self
    ) throws -> Word? {
        try word(rows.index(of: column))
    }

    package func word<Word: RawRepresentable<String>>(_ column: Int, of _: Word.Type = Word.self) throws -> Word? {
        guard let text = try text(column) else { return nil }
        return try known(text, column)
    }

    /// Without those that are NULL.
    package func words<Word: RawRepresentable<String>>(
        _ column: String, of _: Word.Type = Word.self
    ) throws -> [Word]? {
        let index = try rows.index(of: column)
        return try textArray(index)?.compactMap { try $0.map { try known($0, index) } }
    }

    private func known<Word: RawRepresentable<String>>(_ text: String, _ column: Int) throws -> Word {
        guard let word = Word(rawValue: text) else {
            throw PostgresError.usage("column \(rows.columns[column]): \(text.prefix(40)) is no \(Word.self)")
        }
        return word
    }
}
