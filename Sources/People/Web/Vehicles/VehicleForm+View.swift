internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

extension VehicleForm {
    /// - Parameter id: of the record that this form says, so that it says it once.
    func html(id: String, action: String) -> HTML {
        let hidden: [FormView.Field] = [
            .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "id", value: id),
            .hidden(name: "based_on", value: basedOn),
            .hidden(name: "kind", value: isCar ? "car" : "machine"),
        ]
        let number: [FormView.Field] =
            vehicle.isEmpty
            ? [
                .input(
                    name: "vehicle",
                    label: isCar ? "Its id: letters, digits, -, _ or ." : "Serial number of its box (MTG)",
                    type: "text", value: value("vehicle"), autocomplete: "off")
            ] : []
        let button = vehicle.isEmpty ? (isCar ? "Add the car" : "Add the machine") : "Save"
        return FormView.form(action, hidden + number + (isCar ? carFields : machineFields) + common, button)
    }

    /// Dealers change the tags of their machines, nothing else.
    func tagsHTML(id: String, action: String) -> HTML {
        FormView.form(
            action,
            [
                .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "id", value: id),
                .hidden(name: "based_on", value: basedOn),
                .hidden(name: "kind", value: isCar ? "car" : "machine"), tagsField,
            ], "Save the tags")
    }

    private func value(_ name: String) -> String { typed[name] ?? "" }
    private func field(_ name: String, _ label: String) -> FormView.Field {
        .optional(name: name, label: label, value: value(name), autocomplete: "off")
    }
    private var tagsField: FormView.Field { field("tags", "Tags, separated by commas") }

    private var machineFields: [FormView.Field] {
        var listed: [(value: String, text: String, picture: String?)] =
            [("", "as its box says", nil)] + models.map { ($0.name, $0.name, $0.picture) }
        if !listed.contains(where: { $0.value == value("model") }) {
            listed.append((value("model"), value("model"), nil))
        }
        return [field("name", "Name"), .pictures(name: "model", label: "Model", of: listed, chosen: value("model"))]
            + connection("box")
    }

    private var carFields: [FormView.Field] {
        let fuels = [("", "not known")] + Action.Car.Fuel.allCases.map { ($0.rawValue, $0.rawValue) }
        return [
            field("name", "Name"), field("make", "Maker"), field("model", "Model, as its maker calls it"),
            field("year", "Model year"), field("vin", "VIN: its 17 letters and digits"),
            .choice(name: "fuel", label: "Fuel", of: fuels, chosen: value("fuel")),
            field("tank", caller.units == .us ? "Tank, US gallons" : "Tank, litres"),
            field("displacement", "Engine displacement, cubic centimetres"),
            field("efficiency", "Volumetric efficiency of the engine, percent"),
        ] + connection("adapter") + owner
    }

    private func connection(_ device: String) -> [FormView.Field] {
        [
            field("address", "Connection of its \(device), host:port; empty: upload only"),
            field(
                "certificate", "SHA-256 of the \(device)'s certificate; empty: plain TCP, where the operator allows it"),
        ]
    }

    private var owner: [FormView.Field] {
        guard VehicleForm.mayChooseOwner(caller) else { return [.hidden(name: "owner", value: value("owner"))] }
        var people = Set(fleets.flatMap(\.members) + [caller.account])
        if !value("owner").isEmpty { people.insert(value("owner")) }
        return [
            .choice(
                name: "owner", label: "Owner, who sees its trips",
                of: [("", "nobody: it is the fleet's")] + people.sorted().map { ($0, $0) }, chosen: value("owner"))
        ]
    }

    private var common: [FormView.Field] {
        let boxes: [FormView.Field] =
            fleets.isEmpty
            ? []
            : [
                .boxes(
                    name: "fleet", label: "Fleets it belongs to", of: fleets.map { ($0.fleet, $0.name) }, chosen: chosen
                )
            ]
        return [tagsField] + boxes
    }
}
