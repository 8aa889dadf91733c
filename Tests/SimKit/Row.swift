/// A row of a table of examples; its name tells its story, and is the one that a failure is reported under.
package struct Row<Given: Sendable, Wanted: Sendable>: Sendable, CustomStringConvertible {
    package let description: String
    package let given: Given
    package let wanted: Wanted

    package init(_ name: String, _ given: Given, _ wanted: Wanted) {
        (description, self.given, self.wanted) = (name, given, wanted)
    }
}
