import Codecs
import Fleet
import Testing

struct RosterFileTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        let faults: [String]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ faults: String...) { self.init(name, Array(text.utf8), faults) }
        init(_ name: String, _ bytes: [UInt8], _ faults: [String]) {
            (self.name, self.bytes, self.faults) = (name, bytes, faults)
        }
    }

    static let head = "id,role,name,mail\n"
    static let ada = "g-1,rider,Ada,ada@campus.example\n"

    @Test(
        "Every fault is told with its line, and then nobody is taken",
        arguments: [
            Case("empty", "", "is empty"),
            Case("only a header", head, "holds nobody: there is no line after the header"),
            Case("no header", ada, "line 1: the column `id` is missing", "`role`", "`name`", "`mail`"),
            Case("a column twice", "id,role,name,mail,id\n", "line 1: the column `id` stands twice"),
            Case("an id twice", head + ada + ada, "line 3: the id stands in line 2 already"),
            Case("an id with a space", head + "g 1,rider,Ada,a@b.example\n", "line 2: `id` must be"),
            Case(
                "another role", head + "g-1,boss,Ada,a@b.example\n", "line 2: `role` must be one of rider, ride_driver"),
            Case("a field too few", head + "g-1,rider,Ada\n" + ada, "line 2: has 3 fields, the header has 4"),
            Case("a field too many", head + "g-1,rider,Ada,a@b.example,x\n", "line 2: has 5 fields"),
            Case("a formula", head + "g-1,rider,=1+1,a@b.example\n", "line 2: `name` begins like a formula"),
            Case("no name", head + "g-1,rider, ,a@b.example\n", "line 2: `name` must be 1 to 200 bytes"),
            Case("text turned around", head + "g-1,rider,A\u{202E}da,a@b.example\n", "line 2: `name` holds characters"),
            Case("a line end in a name", head + "g-1,rider,\"A\r\nBcc: x\",a@b.example\n", "line 2: `name` holds"),
            Case(
                "a header in an address", head + "g-1,rider,Ada,\"a@b.example\r\nBcc: x@y.example\"\n", "line 2: `mail`"
            ),
            Case("two addresses", head + "g-1,rider,Ada,\"a@b.example,c@d.example\"\n", "line 2: `mail`"),
            Case("an address with brackets", head + "g-1,rider,Ada,Ada <a@b.example>\n", "line 2: `mail`"),
            Case("a quotation that is not closed", head + "g-1,rider,\"Ada,a@b.example\n", "line 2: a quotation mark"),
            Case("text after a quotation", head + "g-1,rider,\"Ada\"x,a@b.example\n", "line 2: a quotation mark"),
            Case(
                "Latin-1", Array((head + "g-1,rider,J").utf8) + [0xF6] + Array("rg,a@b.example\n".utf8),
                ["line 2: `name` is not UTF-8"]),
            Case("UTF-16", [0xFF, 0xFE, 0x69, 0x00], ["is UTF-16"]),
            Case("a spreadsheet", [0x50, 0x4B, 0x03, 0x04, 0x00], ["is a spreadsheet"]),
            Case("a NUL", head + "g-1,rider,A\u{0}da,a@b.example\n", "line 2: `name` holds characters"),
            Case(
                "three of four", head + "?,rider,A,a@b.example\n" + ada + "g-2,x,B,b@b.example\ng-3,rider,C,c\n",
                "line 2", "line 4", "line 5"),
        ]) func faults(_ c: Case)
    {
        guard case .failure(let faults) = RosterFile.read(c.bytes) else {
            Issue.record("was taken")
            return
        }
        #expect(faults.all.count == c.faults.count, "\(faults.all.map(\.description))")
        for (fault, expected) in zip(faults.all, c.faults) { #expect(fault.description.contains(expected)) }
    }

    @Test("Spreadsheets' ways of writing CSV give the same people") func ways() throws {
        let people = [
            RosterEntry(
                id: "g-1", role: .rider, name: "Ada \"the first\" Lovelace, Countess", mail: "ada@campus.example"),
            RosterEntry(id: "D.2", role: .rideDriver, name: "Jörg O'Neil", mail: "j+bus@mail.campus.example"),
        ]
        let plain =
            #"id,role,name,mail\#ng-1,rider,"Ada ""the first"" Lovelace, Countess",ada@campus.example\#n"#
            + "D.2,ride_driver,Jörg O'Neil,j+bus@mail.campus.example\n"
        let other = "\u{FEFF}Mail;Room;ID;Name;Role\r\nada@campus.example;7;g-1; \"Ada\";rider\r\n"
        #expect(try RosterFile.read(Array(plain.utf8)).get().people == people)
        #expect(try RosterFile.read(Array(plain.dropLast().utf8)).get().people == people, "no line end at the end")
        #expect(try RosterFile.read(Array(plain.replacing("\n", with: "\r\n").utf8)).get().people == people)
        let read = try RosterFile.read(Array(other.utf8)).get()
        #expect(read.unusedColumns == ["room"] && read.people.map(\.id) == ["g-1"] && read.people[0].name == "\"Ada\"")
    }

    @Test("Whatever is cut off or changed is people or faults, and never a crash") func mutated() {
        let file = Array(
            "id,role,name,mail\ng-1,rider,\"A, \"\"B\"\"\",a@b.example\r\ng-2,dispatcher,C,c@d.example\n".utf8)
        for end in 0...file.count { _ = RosterFile.read(Array(file[..<end])) }
        for at in file.indices {
            for byte: UInt8 in [0, 0x0A, 0x0D, 0x22, 0x2C, 0xFF] {
                var changed = file
                changed[at] = byte
                if case .success(let roster) = RosterFile.read(changed) {
                    for person in roster.people {
                        #expect(VehicleID.isValid(person.id.utf8) && MailAddress.isValid(person.mail))
                        #expect(!person.name.utf8.contains { $0 < 0x20 })
                    }
                }
            }
        }
    }
}
