/// Files of static sets: Li and Lim's (pickup and delivery) and Cordeau and Laporte's (dial-a-ride).
/// The first line tells them apart: 3 numbers or 5.
public enum DepotFile {
    public static func read(_ bytes: [UInt8], name: String) throws(ProblemFault) -> DepotProblem {
        let file = try NumberLines(bytes, name: name)
        switch file.lines[0].values.count {
        case 3: return try liLim(file)
        case 5: return try dialARide(file)
        case let count:
            throw file.fault(
                file.lines[0],
                "has \(count) numbers; must be `vehicles capacity speed` (Li and Lim) or "
                    + "`vehicles nodes duration capacity ride` (Cordeau and Laporte)")
        }
    }

    /// First line: vehicles, capacity, speed (unused). Then id, x, y, demand, earliest, latest, service, pickup of a
    /// drop-off, drop-off of a pickup; 0 where there is none.
    private static func liLim(_ file: NumberLines) throws(ProblemFault) -> DepotProblem {
        let head = file.lines[0]
        let vehicles = try file.whole(head, 0, "the number of vehicles", in: 1...100_000)
        let capacity = try file.whole(head, 1, "the capacity", in: 1...1_000_000_000)
        let rows = Array(try file.nodeLines(fields: 9))
        var nodes: [DepotProblem.Node] = []
        var requests: [DepotProblem.Request] = []
        for (index, line) in rows.enumerated() {
            nodes.append(try file.node(line, service: 6, earliest: 4))
            if index == 0 { continue }
            let load = try file.whole(line, 3, "the demand", in: -capacity...capacity)
            let pickup = try file.whole(line, 7, "the pickup", in: 0...(rows.count - 1))
            let dropoff = try file.whole(line, 8, "the drop-off", in: 0...(rows.count - 1))
            guard (pickup == 0) != (dropoff == 0) else {
                throw file.fault(line, "must name either its pickup or its drop-off, names \(pickup) and \(dropoff)")
            }
            let partner = rows[pickup + dropoff]
            guard partner.values[dropoff == 0 ? 8 : 7] == Double(index), partner.values[3] == Double(-load) else {
                throw file.fault(line, "node \(pickup + dropoff) must name \(index) and have the demand \(-load)")
            }
            if dropoff == 0 { continue }
            guard load >= 0 else { throw file.fault(line, "is a pickup with the demand \(load), must be 0 or more") }
            requests.append(.init(pickup: index, dropoff: dropoff, load: load))
        }
        try bound(requests, file)
        return DepotProblem(
            nodes: nodes, requests: requests, vehiclesMax: min(vehicles, requests.count), capacity: capacity,
            objective: .fewestRoutes)
    }

    /// First line: vehicles, nodes (2n), longest route, capacity, longest ride. Then id, x, y, service, load, earliest,
    /// latest; user i is picked up at i and dropped off at n + i. Some files repeat the depot as the last line.
    private static func dialARide(_ file: NumberLines) throws(ProblemFault) -> DepotProblem {
        let head = file.lines[0]
        let vehicles = try file.whole(head, 0, "the number of vehicles", in: 1...100_000)
        let stops = try file.whole(head, 1, "the number of nodes", in: 2...(2 * DepotProblem.requestsMax))
        let capacity = try file.whole(head, 3, "the capacity", in: 1...1_000_000_000)
        guard stops % 2 == 0 else { throw file.fault(head, "\(stops) nodes cannot be pairs of pickup and drop-off") }
        for (column, what) in [(2, "the longest route"), (4, "the longest ride")] where head.values[column] <= 0 {
            throw file.fault(head, "\(what) is \(head.values[column]), must be more than 0")
        }
        let rows = Array(try file.nodeLines(fields: 7))
        guard rows.count == stops + 1 || rows.count == stops + 2 else {
            throw file.fault(head, "promises \(stops) nodes and a depot, \(rows.count) lines follow. Is it cut off?")
        }
        var nodes: [DepotProblem.Node] = []
        for line in rows.prefix(stops + 1) { nodes.append(try file.node(line, service: 3, earliest: 5)) }
        var requests: [DepotProblem.Request] = []
        let count = stops / 2
        for index in 1...count {
            let load = try file.whole(rows[index], 4, "the load of a pickup", in: 0...capacity)
            guard rows[count + index].values[4] == Double(-load) else {
                throw file.fault(rows[count + index], "drops off user \(index), so its load must be \(-load)")
            }
            requests.append(.init(pickup: index, dropoff: count + index, load: load))
        }
        return DepotProblem(
            nodes: nodes, requests: requests, vehiclesMax: min(vehicles, requests.count), capacity: capacity,
            rideMax: head.values[4], durationMax: head.values[2], objective: .distance)
    }

    private static func bound(_ requests: [DepotProblem.Request], _ file: NumberLines) throws(ProblemFault) {
        guard requests.count <= DepotProblem.requestsMax else {
            throw file.fault(
                file.lines[0], "\(requests.count) requests, at most \(DepotProblem.requestsMax). Split the set")
        }
    }
}
