import Storage
import Testing

/// `analyst.` of a statement becomes `own.`, where it is a name.
struct QuestionNamesTests {
    @Test(arguments: [
        ("SELECT * FROM analyst.trip", "SELECT * FROM own.trip"), ("TABLE Analyst . trip", "TABLE own . trip"),
        ("SELECT analyst.vehicle FROM trip AS analyst", "SELECT own.vehicle FROM trip AS analyst"),
        ("SELECT x.analyst, myanalyst.a, analyst1.b", "SELECT x.analyst, myanalyst.a, analyst1.b"),
        ("SELECT 'analyst.trip', 'it''s analyst.trip'", "SELECT 'analyst.trip', 'it''s analyst.trip'"),
        ("SELECT \"analyst.trip\"", "SELECT \"analyst.trip\""),
        ("SELECT 1 -- analyst.trip\n, a FROM analyst.trip", "SELECT 1 -- analyst.trip\n, a FROM own.trip"),
        (
            "/* analyst.a /* analyst.b */ analyst.c */ TABLE analyst.d",
            "/* analyst.a /* analyst.b */ analyst.c */ TABLE own.d"
        ),
        (
            "SELECT $$analyst.a$$, $t$ $$ analyst.b $t$ FROM analyst.c",
            "SELECT $$analyst.a$$, $t$ $$ analyst.b $t$ FROM own.c"
        ),
        ("SELECT 1; \n;", "SELECT 1"),
        ("SELECT 'open analyst.a", "SELECT 'open analyst.a"),
        ("SELECT $1 /* open analyst.a", "SELECT $1 /* open analyst.a"),
        ("SELECT $t$ open analyst.a", "SELECT $t$ open analyst.a"),
        ("SELECT 'ä' FROM analyst.ähre", "SELECT 'ä' FROM own.ähre"),
        ("", ""), (";", ""), ("$", "$"), ("'", "'"), ("-", "-"), ("analyst", "analyst"), ("analyst.", "own."),
    ])
    func own(_ statement: String, _ made: String) { #expect(QuestionNames.own(statement) == made) }
}
