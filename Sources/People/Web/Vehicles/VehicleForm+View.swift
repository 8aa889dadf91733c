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
                    name: "vehicle", label: isCar ? "Id" : "Serial number of its box (MTG)", type: "text",
                    value: value("vehicle"),
                    autocomplete: "off"
                ).help("1 to 64 letters, digits, -, _ or .")
            ] : []
        let button = vehicle.isEmpty ? (isCar ? "Add car" : "Add machine") : "Save"
        return FormView.form(action, hidden + number + (isCar ? carFields : machineFields) + common, button)
    }

    private func value(_ name: String) -> String { typed[name] ?? "" }
    private func field(_ name: String, _ label: String) -> FormView.Field {
        .optional(name: name, label: label, value: value(name), autocomplete: "off")
    }
    private var tagsField: FormView.Field { field("tags", "Tags").help("Separate them by commas") }

    private var machineFields: [FormView.Field] {
        var listed: [(value: String, text: String, picture: String?)] =
            [("", "As its box says", nil)] + models.map { ($0.name, $0.name, $0.picture) }
        if !listed.contains(where: { $0.value == value("model") }) {
            listed.append((value("model"), value("model"), nil))
        }
        return [field("name", "Name"), .pictures(name: "model", label: "Model", of: listed, chosen: value("model"))]
            + connection("box")
    }

    private var carFields: [FormView.Field] {
        let fuels = [("", "Unknown")] + Action.Car.Fuel.allCases.map { ($0.rawValue, $0.rawValue) }
        return [
            field("name", "Name"), field("make", "Make"), field("model", "Model"),
            field("year", "Model year"), field("vin", "VIN").help("17 letters and digits"),
            .choice(name: "fuel", label: "Fuel", of: fuels, chosen: value("fuel")),
            field("tank", "Tank").unit(caller.units == .us ? "US gal" : "L"),
            field("displacement", "Engine displacement").unit("cm³"),
            field("efficiency", "Volumetric efficiency").unit("%"),
        ] + connection("adapter") + owner
    }

    private func connection(_ device: String) -> [FormView.Field] {
        [
            field("address", "Address of its \(device)").help("host:port. Leave empty if it only uploads."),
            field("certificate", "Certificate of its \(device)")
                .help("SHA-256 fingerprint. Leave empty for plain TCP, where the operator allows it."),
        ]
    }

    private var owner: [FormView.Field] {
        guard VehicleForm.mayChooseOwner(caller) else { return [.hidden(name: "owner", value: value("owner"))] }
        var people = Set(fleets.flatMap(\.members) + [caller.account])
        if !value("owner").isEmpty { people.insert(value("owner")) }
        return [
            .choice(
                name: "owner", label: "Owner (sees its trips)",
                of: [("", "Nobody: it is the fleet’s")] + people.sorted().map { ($0, $0) }, chosen: value("owner"))
        ]
    }

    private var common: [FormView.Field] {
        let boxes: [FormView.Field] =
            fleets.isEmpty
            ? []
            : [
                .boxes(
                    name: "fleet", label: "Fleets", of: fleets.map { ($0.fleet, $0.name) }, chosen: chosen
                )
            ]
        return [tagsField] + boxes
    }
}
