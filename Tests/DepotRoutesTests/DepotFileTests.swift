import DepotRoutes
import SimKit
import Testing

/// Files as they come, cut off, mixed up and hostile: a problem, or one line that says where, what and what to do.
struct DepotFileTests {
    private static let parcels = """
        3 20 1
        0 50 50 0 0 500 0 0 0
        1 40 50 10 20 200 5 0 2
        2 60 50 -10 30 300 5 1 0
        """
    private static let rides = """
        2 2 480 3 30
        0 0.0 0.0 0 0 0 1440
        1 -1.5 2.5 3 1 0 1440
        2 4.0 1.0 3 -1 60 75
        """

    @Test("Li and Lim") func liLim() throws {
        let problem = try DepotFile.read([UInt8](Self.parcels.utf8), name: "p")
        #expect(problem.requests == [.init(pickup: 1, dropoff: 2, load: 10)])
        #expect(problem.nodes[2] == .init(x: 60, y: 50, earliest: 30, latest: 300, service: 5))
        #expect((problem.vehiclesMax, problem.capacity, problem.objective) == (1, 20, .fewestRoutes))
        #expect(problem.rideMax.isInfinite && problem.durationMax.isInfinite)
    }

    @Test("Cordeau and Laporte, with the depot repeated at the end") func cordeau() throws {
        for text in [Self.rides, Self.rides + "\n3 0.0 0.0 0 0 0 1440"] {
            let problem = try DepotFile.read([UInt8](text.utf8), name: "r")
            #expect(problem.requests == [.init(pickup: 1, dropoff: 2, load: 1)])
            #expect(problem.nodes.count == 3)
            #expect((problem.rideMax, problem.durationMax, problem.capacity) == (30, 480, 3))
        }
    }

    @Test("Line ends, tabs and blank lines do not matter") func lineEnds() throws {
        let mixed = "\r\n" + Self.parcels.replacing("\n", with: "\r\n\r\n").replacing(" ", with: "\t") + "\r\n"
        let (read, plain) = (
            try DepotFile.read([UInt8](mixed.utf8), name: "p"),
            try DepotFile.read([UInt8](Self.parcels.utf8), name: "p")
        )
        #expect(read == plain)
    }

    @Test(
        "What cannot be read says where and why",
        arguments: [
            Row("nothing", "", "p:1: is empty"), Row("text", "hello there", "p:1: `hello` must be a number"),
            Row("not a number", parcels.replacing("500", with: "nan"), "p:2: `nan` must be a number"),
            Row("endless", parcels.replacing("500", with: "inf"), "p:2: `inf` must be a number"),
            Row("huge", parcels.replacing("500", with: "1e300"), "p:2: `1e300` must be a number"),
            Row("another kind of file", "1 2\n3 4", "p:1: has 2 numbers"),
            Row("many fields", String(repeating: "1 ", count: 50), "p:1: has 50 fields"),
            Row("no vehicle", parcels.replacing("3 20 1", with: "0 20 1"), "p:1: the number of vehicles is 0"),
            Row("half a vehicle", parcels.replacing("3 20 1", with: "1.5 20 1"), "p:1: the number of vehicles is 1.5"),
            Row("cut off in a line", String(parcels.dropLast(4)), "p:4: has 7 fields, must have 9"),
            Row(
                "cut off between lines", parcels.split(separator: "\n").prefix(3).joined(separator: "\n"),
                "p:3: is the last"),
            Row("a node twice", parcels.replacing("2 60", with: "1 60"), "p:4: is node 1.0, must be 2"),
            Row("window reversed", parcels.replacing("20 200", with: "200 20"), "p:3: the window 200.0 to 20.0"),
            Row("negative service", parcels.replacing("200 5", with: "200 -5"), "p:3: the service time is -5.0"),
            Row("partner outside", parcels.replacing("5 0 2", with: "5 0 7"), "p:3: the drop-off is 7.0"),
            Row("partner of another", parcels.replacing("5 1 0", with: "5 2 0"), "p:3: node 2 must name 1"),
            Row("no partner", parcels.replacing("5 0 2", with: "5 0 0"), "p:3: must name either"),
            Row(
                "loads differ", parcels.replacing("-10", with: "-9"), "p:3: node 2 must name 1 and have the demand -10"),
            Row("over capacity", parcels.replacing("10", with: "21"), "p:3: the demand is 21.0"),
            Row(
                "drop-off first", parcels.replacing("50 10", with: "50 -10").replacing("50 -10 30", with: "50 10 30"),
                "p:3"),
            Row("odd nodes", rides.replacing("2 2 480", with: "2 3 480"), "p:1: 3 nodes cannot be pairs"),
            Row("nodes missing", rides.replacing("2 2 480", with: "2 4 480"), "p:1: promises 4 nodes"),
            Row("no time to ride", rides.replacing("3 30", with: "3 0"), "p:1: the longest ride is 0.0"),
            Row("rider stays", rides.replacing("3 -1", with: "3 -2"), "p:4: drops off user 1, so its load must be -1"),
        ]) func bad(_ row: Row<String, String>)
    {
        let fault = #expect(throws: ProblemFault.self) { try DepotFile.read([UInt8](row.given.utf8), name: "p") }
        #expect(fault?.description.hasPrefix(row.wanted) == true, "\(String(describing: fault))")
    }

    @Test("Too many nodes and too many bytes are refused at once") func tooMuch() {
        let rows = (0...2_100).map { "\($0) 1 1 0 0 9 0 0 0" }.joined(separator: "\n")
        for bytes in [[UInt8](("9 9 1\n" + rows).utf8), [UInt8](repeating: 0x31, count: 5_000_000)] {
            #expect(throws: ProblemFault.self) { try DepotFile.read(bytes, name: "p") }
        }
    }

    @Test("A file cut off or changed anywhere is a problem or a fault, never a crash") func cuts() {
        for text in [Self.parcels, Self.rides] {
            let bytes = [UInt8](text.utf8)
            for end in bytes.indices {
                _ = try? DepotFile.read(Array(bytes[..<end]), name: "p")
                for value in [UInt8(0), 0x0A, 0x20, 0x2D, 0x39, 0xFF] {
                    var changed = bytes
                    changed[end] = value
                    if let problem = try? DepotFile.read(changed, name: "p"), problem.unservable.isEmpty {
                        let solver = DepotSolver(problem, seed: 1)
                        solver.run(iterations: 2, progress: 0...1)
                        if let plan = solver.plan { #expect(PlanCheck(problem).faults(plan) == []) }
                    }
                }
            }
        }
    }
}
