internal import Fleet
internal import Presentation
internal import Storage

/// One fleet, for administrators: vehicles and people chosen by name.
struct FleetView {
    struct List {
        let vehicles: [AdministrationStore.VehicleRow]
        /// There are more.
        let isCut: Bool
    }

    let row: AdministrationStore.FleetRow
    let fleets: [AdministrationStore.FleetRow]
    let accounts: [AdministrationStore.AccountRow]
    let asked: FleetAsked
    let list: List
    let caller: PageCaller

    private var address: HTML { "/administration/fleets/\(encoded: row.fleet)" }
    private var isOwn: Bool { asked.find.isEmpty && !asked.isAdding }

    var html: HTML {
        """
        <div class="grid">
        <section class="card w8" aria-labelledby="vehicles"><header><h2 id="vehicles">Vehicles</h2><span class="count">\(row.vehicles.count)</span>\
        \(isOwn ? "<a class=\"more\" href=\"\(address)?add=1\">Add vehicles in no fleet</a>" : "<a class=\"more\" href=\"\(address)\">Only this fleet’s</a>")</header>
        <form class="bar" method="get" action="\(address)" role="search"><label class="sr" for="find">Name or id of a vehicle</label>\
        <span class="grow"><input id="find" name="find" type="search" maxlength="\(SearchIndex.textMax)" value="\(asked.find)" placeholder="Name or id of any vehicle" autocomplete="off"></span><button class="btn">Find</button></form>
        \(list.vehicles.isEmpty ? nothing : vehicles)
        </section>
        <div class="w4 stack">
        \(people)
        <section class="card"><header><h2>Name and place</h2></header><div class="body">\(FleetView.form(row, fleets, caller.mark))</div></section>
        </div>
        </div>
        """
    }

    // MARK: Vehicles

    private var vehicles: HTML {
        let own = Set(row.vehicles)
        var homes: [String: [String]] = [:]
        for fleet in fleets where fleet.fleet != row.fleet {
            for vehicle in fleet.vehicles { homes[vehicle, default: []].append(fleet.name) }
        }
        let items: [HTML] = list.vehicles.map { vehicle in
            let inFleets = (own.contains(vehicle.key) ? [row.name] : []) + (homes[vehicle.key] ?? [])
            let elsewhere = isOwn ? Array(inFleets.dropFirst()) : inFleets
            let about = [
                vehicle.name == nil ? nil : vehicle.vehicle, vehicle.model,
                elsewhere.isEmpty
                    ? nil
                    : (isOwn
                        ? t("also in \(elsewhere.joined(separator: ", "))")
                        : t("in \(elsewhere.joined(separator: ", "))")),
            ].compactMap { $0 }
            return """
                <label class="item"><input class="check" type="checkbox" name="vehicle" value="\(vehicle.key)">\
                <span><b>\(vehicle.name ?? vehicle.vehicle)</b><small>\(about.joined(separator: " · "))</small></span>\
                \(HTML.icon(vehicle.kind.icon))</label>
                """
        }
        return """
            <form method="post" action="\(address)/vehicles">\(caller.hidden())
            \(items.joined(separator: "\n"))
            <div class="row wrap body">\(isOwn ? leaving : coming)</div></form>
            \(more)
            """
    }

    /// What is done with those of this fleet that are chosen.
    private var leaving: HTML {
        let others = fleets.filter { $0.fleet != row.fleet }.map { ($0.fleet, $0.name) }
        let moving: HTML =
            others.isEmpty
            ? ""
            : """
            <label for="to">Move to</label><span class="grow"><select id="to" name="to">\(HTML.options(others, nil))</select></span>\
            <button class="btn primary" name="do" value="move">Move</button>
            """
        return "\(moving)<button class=\"btn\" name=\"do\" value=\"take\">Remove from this fleet</button>"
    }

    private var coming: HTML {
        """
        <button class="btn primary" name="do" value="bring">Move to \(row.name)</button>\
        <button class="btn" name="do" value="add">Add, and keep in other fleets</button>
        """
    }

    private var more: HTML {
        guard isOwn else {
            return list.isCut ? "<p class=\"empty\">There are more. Type more of the name.</p>" : ""
        }
        let back: HTML =
            asked.page == 0 ? "" : "<a class=\"btn small\" href=\"\(address)?page=\(asked.page - 1)\">Previous</a>"
        let next: HTML = list.isCut ? "<a class=\"btn small\" href=\"\(address)?page=\(asked.page + 1)\">Next</a>" : ""
        return asked.page > 0 || list.isCut ? "<footer>\(back)\(next)</footer>" : ""
    }

    private var nothing: HTML {
        // A vehicle may be put into a fleet before it is heard of.
        if VehicleID.isValid(asked.find.utf8) {
            let buttons: [HTML] = VehicleKind.allCases.map { kind in
                let words = kind == .car ? t("Add it as a car") : t("Add it as a machine")
                return """
                    <form method="post" action="\(address)/vehicles">\(caller.hidden([("vehicle", "\(kind.rawValue) \(asked.find)"), ("do", "add")]))<button class="btn small">\(words)</button></form>
                    """
            }
            return HTML.emptyState(
                .find, t("Nothing is called “\(asked.find)”"),
                .t("Is it the id of a vehicle that will report later?"), action: buttons.joined())
        }
        if !asked.find.isEmpty {
            return HTML.emptyState(.find, t("Nothing is called “\(asked.find)”"), .t("Type another part of the name."))
        }
        return asked.isAdding
            ? HTML.emptyState(.check, t("Every vehicle is in a fleet"), .t("Find one by name to move it here."))
            : HTML.emptyState(
                .car, t("No vehicles yet"), .t("Find them by name, or choose among those in no fleet."),
                action: "<a class=\"btn small\" href=\"\(address)?add=1\">Vehicles in no fleet</a>")
    }

    // MARK: People

    private var people: HTML {
        let members = Set(row.members)
        let items: [HTML] = accounts.filter { members.contains($0.account) }.map { person in
            """
            <div class="item"><span class="ic s">\(HTML.icon(.person))</span>\
            <span><a class="name" href="/administration/people/\(encoded: person.account)">\(person.called)</a><small>\(Role.titles(person.roles))</small></span>\
            <form method="post" action="\(address)/people">\(caller.hidden([("leave", person.account)]))\
            <button class="btn small">Remove<span class="sr"> \(person.called)</span></button></form></div>
            """
        }
        let others = accounts.filter { !members.contains($0.account) && !$0.isErased }.map { person in
            (person.account, person.name.isEmpty ? person.account : "\(person.name) (\(person.account))")
        }
        let adding: HTML =
            others.isEmpty
            ? ""
            : """
            <form class="bar" method="post" action="\(address)/people">\(caller.hidden())
            <label class="sr" for="join">Person</label><span class="grow"><select id="join" name="join">\(HTML.options(others, nil))</select></span>\
            <button class="btn">Add person</button></form>
            """
        return """
            <section class="card" aria-labelledby="members"><header><h2 id="members">People</h2><span class="count">\(row.members.count)</span></header>
            \(items.isEmpty ? "<p class=\"empty\">Nobody yet. People of a fleet see its vehicles.</p>" : items.joined(separator: "\n"))
            \(adding)</section>
            """
    }

    // MARK: Name and place

    /// - Parameter row: nil: of a new one.
    static func form(
        _ row: AdministrationStore.FleetRow?, _ fleets: [AdministrationStore.FleetRow], _ mark: String
    ) -> HTML {
        // Fleets are nested once: none below a part, and none that has parts below another.
        let hasParts = row.map { row in fleets.contains { $0.partOf == row.fleet } } ?? false
        let above = hasParts ? [] : fleets.filter { $0.partOf == nil && $0.fleet != row?.fleet }
        return FormView.form(
            "/administration/fleet",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                row.map { .hidden(name: "fleet", value: $0.fleet) } ?? .hidden(name: "new", value: "1"),
            ]
                + (row == nil
                    ? [
                        FormView.Field.input(
                            name: "fleet", label: t("Id"), type: "text", value: "", autocomplete: "off"
                        )
                        .help(t("Short, like north. It stays."))
                    ] : [])
                + [
                    .optional(name: "name", label: t("Name"), value: row?.name ?? "", autocomplete: "off"),
                    .choice(
                        name: "part_of", label: t("Part of"),
                        of: [("", t("No other fleet"))] + above.map { ($0.fleet, $0.name) }, chosen: row?.partOf ?? ""),
                ], row == nil ? t("Create fleet") : t("Save"), id: "fleet-" + (row?.fleet ?? "new"))
    }
}
