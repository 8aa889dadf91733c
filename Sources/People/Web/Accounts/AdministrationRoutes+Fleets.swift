internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// Which vehicles the page of a fleet lists.
struct FleetAsked {
    /// A part of a name; empty: those of the fleet.
    var find = ""
    /// Those that are in no fleet.
    var isAdding = false
    var page = 0

    init() {}

    init(_ request: Request) {
        find = String((request.query["find"] ?? "").prefix(SearchIndex.textMax))
        isAdding = request.query["add"] == "1"
        page = min(1_000, max(0, request.query["page"].flatMap { Int($0) } ?? 0))
    }
}

/// The page of one fleet: its vehicles, people, name.
extension AdministrationRoutes {
    private static let vehiclesMax = 100

    /// - Parameter asked: which of its vehicles are listed.
    func fleet(
        _ id: String, _ caller: PageCaller, _ notice: FormView.Notice?, asked: FleetAsked = FleetAsked(),
        _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let fleets = try AdministrationStore.fleets(on: connection)
        guard let row = fleets.first(where: { $0.fleet == id }) else {
            guard let notice else {
                return .problem(404, type: "not-found", detail: "There is no such fleet. People lists all fleets.")
            }
            return try overview(caller, notice, connection, status: status)
        }
        let view = FleetView(
            row: row, fleets: fleets, accounts: try AdministrationStore.accounts(on: connection), asked: asked,
            list: try listed(row, fleets, asked, connection), caller: caller)
        return shown(
            row.name, heading: PageHeading(row.name, crumb: (t("People"), "/administration")), caller,
            FormView.said(notice, view.html), status: status)
    }

    private func listed(
        _ row: AdministrationStore.FleetRow, _ fleets: [AdministrationStore.FleetRow], _ asked: FleetAsked,
        _ connection: Connection
    ) throws -> FleetView.List {
        let most = AdministrationRoutes.vehiclesMax
        if !asked.find.isEmpty || asked.isAdding {
            // One more, which says whether there are others.
            let found = try AdministrationStore.vehicles(
                like: SearchIndex.pattern(asked.find), without: asked.isAdding ? fleets.flatMap(\.vehicles) : [],
                most: most + 1, on: connection)
            return FleetView.List(vehicles: Array(found.prefix(most)), isCut: found.count > most)
        }
        let shown = Array(row.vehicles.dropFirst(asked.page * most).prefix(most))
        let known = Dictionary(
            try AdministrationStore.vehicles(shown, on: connection).map { ($0.key, $0) },
            uniquingKeysWith: { one, _ in one })
        return FleetView.List(
            // A vehicle may be put into a fleet before it is heard of.
            vehicles: shown.compactMap { known[$0] ?? AdministrationStore.VehicleRow(key: $0) },
            isCut: row.vehicles.count > (asked.page + 1) * most)
    }

    /// A fleet's name and place, of a new one or of one that there is.
    func putFleet(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let (id, isNew) = (fields["fleet"] ?? "", fields["new"] == "1")
        func again(_ text: String) throws -> Response {
            let notice = FormView.Notice.fault(t("\(text) Nothing was changed."))
            return isNew
                ? try overview(caller, notice, connection, status: 422)
                : try fleet(id, caller, notice, connection, status: 422)
        }
        guard VehicleID.isValid(id.utf8) else {
            return try again(t("A fleet’s id has 1 to 64 letters, digits, -, _ or ."))
        }
        let name = (fields["name"] ?? "").isEmpty ? id : fields["name"]!
        guard name.utf8.count <= 200 else { return try again(t("A fleet’s name has at most 200 bytes.")) }
        let partOf = fields["part_of"] ?? ""
        let (isDone, ended): (Bool, String?)
        if isNew {
            (isDone, ended) = try ending(connection) {
                try AdministrationStore.make(id, name: name, partOf: partOf.isEmpty ? nil : partOf, on: connection)
            }
        } else {
            var change = AdministrationStore.FleetChange()
            (change.name, change.partOf) = (fields["name"] == nil ? nil : name, fields["part_of"])
            (isDone, ended) = try changed(id, change, connection)
        }
        guard isDone else {
            return try again(
                isNew
                    ? t("There is a fleet with this id, or fleets would be nested twice.")
                    : t("The fleet is gone, or fleets would be nested twice."))
        }
        let response = try fleet(
            id, caller, .done([t("Fleet saved."), ended].compactMap { $0 }.joined(separator: " ")), connection)
        try AuditLog.record(
            .fleetChanged, by: caller.account, [("fleet", id), ("part_of", partOf)], on: connection)
        return response
    }

    /// Vehicles come, go, or go to another fleet, in one step.
    func changeVehicles(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let id = request.parameters["fleet"]!
        var vehicles = Set(fields.all("vehicle").filter { AdministrationStore.VehicleRow(key: $0) != nil }).sorted()
        func again(_ text: String) throws -> Response {
            try fleet(id, caller, .fault(text), connection, status: 422)
        }
        guard !vehicles.isEmpty, vehicles.count <= AdministrationRoutes.vehiclesMax else {
            return try again(t("Choose vehicles first, 100 at most. Nothing was changed."))
        }
        let fleets = try AdministrationStore.fleets(on: connection)
        let others = fleets.filter { $0.fleet != id }
        if fields["do"] == "move" || fields["do"] == "take" {
            // What somebody else has moved on meanwhile stays where it is.
            let own = Set(fleets.first { $0.fleet == id }?.vehicles ?? [])
            vehicles = vehicles.filter(own.contains)
            guard !vehicles.isEmpty else {
                return try again(t("They have left this fleet already. Nothing was changed."))
            }
        }
        // Where they go to, and which fleets they leave.
        let (to, leaving): (String?, [String])
        switch fields["do"] {
        case "add": (to, leaving) = (id, [])
        case "bring":
            let chosen = Set(vehicles)
            (to, leaving) = (id, others.filter { !chosen.isDisjoint(with: $0.vehicles) }.map(\.fleet))
        case "move": (to, leaving) = (fields["to"] ?? "", [id])
        case "take": (to, leaving) = (nil, [id])
        case nil, .some: return try again(t("Choose what to do with them. Nothing was changed."))
        }
        let name = fleets.first { $0.fleet == to ?? id }?.name ?? ""
        guard to == nil || !name.isEmpty, to.map({ !leaving.contains($0) }) ?? true else {
            return try again(t("Choose another fleet. Nothing was changed."))
        }
        // They are always in one: first they come, then they leave.
        var changes: [(String, AdministrationStore.FleetChange)] = []
        if let to {
            var change = AdministrationStore.FleetChange()
            change.added = vehicles
            changes.append((to, change))
        }
        for fleet in leaving {
            var change = AdministrationStore.FleetChange()
            change.taken = vehicles
            changes.append((fleet, change))
        }
        for (step, (fleet, change)) in changes.enumerated() {
            // A fleet that is gone has nothing to leave; where they should go, or all that is asked for, must be there.
            guard try AdministrationStore.change(fleet, change, on: connection) || step > 0 else {
                return try again(t("This fleet no longer exists. Nothing was changed."))
            }
        }
        let count = caller.words.count(vehicles.count, .vehicle)
        let words =
            to == nil
            ? t("\(count) removed from \(name).")
            : leaving.isEmpty ? t("\(count) added to \(name).") : t("\(count) moved to \(name).")
        let response = try fleet(id, caller, .done(words), connection)
        for (fleet, change) in changes {
            try AuditLog.record(
                .fleetChanged, by: caller.account,
                [
                    ("fleet", fleet),
                    (change.added.isEmpty ? "taken" : "added", vehicles.joined(separator: ", ")),
                ], on: connection)
        }
        return response
    }

    func changeMembers(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let id = request.parameters["fleet"]!
        var change = AdministrationStore.FleetChange()
        let isJoined = fields["leave"] == nil
        let account = fields[isJoined ? "join" : "leave"] ?? ""
        if isJoined { change.joined = [account] } else { change.left = [account] }
        let called =
            try AdministrationStore.accounts(on: connection).first { $0.account == account }?.called ?? account
        let (isDone, ended) = try changed(id, change, connection)
        guard isDone else {
            return try fleet(
                id, caller, .fault(t("Nothing was changed: this fleet or account no longer exists.")), connection,
                status: 422)
        }
        let words = isJoined ? t("\(called) added.") : t("\(called) removed.")
        return try fleet(id, caller, .done([words, ended].compactMap { $0 }.joined(separator: " ")), connection)
    }

    /// - Returns: whether it is done, and whose psql log-ins it ended.
    func changed(
        _ fleet: String, _ change: AdministrationStore.FleetChange, _ connection: Connection
    ) throws -> (Bool, String?) {
        try ending(connection) { try AdministrationStore.change(fleet, change, on: connection) }
    }

    private func ending(_ connection: Connection, _ body: () throws -> Bool) throws -> (Bool, String?) {
        let logins = try AdministrationStore.logins(on: connection)
        guard try body() else { return (false, nil) }
        let ended = logins.subtracting(try AdministrationStore.logins(on: connection)).sorted()
            .joined(separator: ", ")
        return (
            true,
            ended.isEmpty
                ? nil
                : t(
                    "psql log-ins ended for \(ended): with more than one fleet they would show too much. Use Ask with SQL instead."
                )
        )
    }
}

extension AdministrationStore.VehicleRow {
    /// Of `machine mtg-1`, when nothing else is known of it; nil: it is no vehicle's.
    init?(key: String) {
        let parts = key.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let kind = VehicleKind(rawValue: parts[0]), VehicleID.isValid(parts[1].utf8) else {
            return nil
        }
        self.init(kind: kind, vehicle: parts[1], name: nil, model: nil)
    }
}
