extension String {
    /// Without white space at its ends.
    package var trimmed: String {
        let blank: (Character) -> Bool = { $0.isWhitespace }
        return String(drop(while: blank).reversed().drop(while: blank).reversed())
    }
}
