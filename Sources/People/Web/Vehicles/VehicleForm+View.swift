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
                    name: "vehicle", label: isCar ? t("Id") : t("Serial number of its box (MTG)"), type: "text",
                    value: value("vehicle"),
                    autocomplete: "off"
                ).help(t("1 to 64 letters, digits, -, _ or ."))
            ] : []
        let button = vehicle.isEmpty ? (isCar ? t("Add car") : t("Add machine")) : t("Save")
        return FormView.form(action, hidden + number + (isCar ? carFields : machineFields) + common, button)
    }

    private func value(_ name: String) -> String { typed[name] ?? "" }
    private func field(_ name: String, _ label: String) -> FormView.Field {
        .optional(name: name, label: label, value: value(name), autocomplete: "off")
    }
    private var tagsField: FormView.Field { field("tags", t("Tags")).help(t("Separate them by commas")) }

    private var machineFields: [FormView.Field] {
        var listed: [(value: String, text: String, picture: String?)] =
            [("", t("As its box says"), nil)] + models.map { ($0.name, $0.name, $0.picture) }
        if !listed.contains(where: { $0.value == value("model") }) {
            listed.append((value("model"), value("model"), nil))
        }
        return [
            field("name", t("Name")), .pictures(name: "model", label: t("Model"), of: listed, chosen: value("model")),
        ] + connection(t("Address of its box"), t("Certificate of its box"))
    }

    private var carFields: [FormView.Field] {
        let fuels = [("", t("Unknown"))] + Action.Car.Fuel.allCases.map { ($0.rawValue, $0.rawValue) }
        return [
            field("name", t("Name")), field("make", t("Make")), field("model", t("Model")),
            field("year", t("Model year")), field("vin", t("VIN")).help(t("17 letters and digits")),
            .choice(name: "fuel", label: t("Fuel"), of: fuels, chosen: value("fuel")),
            field("tank", t("Tank")).unit(caller.units == .us ? "US gal" : "L"),
            field("displacement", t("Engine displacement")).unit("cm³"),
            field("efficiency", t("Volumetric efficiency")).unit("%"),
        ] + connection(t("Address of its adapter"), t("Certificate of its adapter")) + owner
    }

    private func connection(_ address: String, _ certificate: String) -> [FormView.Field] {
        [
            field("address", address).help(t("host:port. Leave empty if it only uploads.")),
            field("certificate", certificate)
                .help(t("SHA-256 fingerprint. Leave empty for plain TCP, where the operator allows it.")),
        ]
    }

    private var owner: [FormView.Field] {
        guard VehicleForm.mayChooseOwner(caller) else { return [.hidden(name: "owner", value: value("owner"))] }
        var people = Set(fleets.flatMap(\.members) + [caller.account])
        if !value("owner").isEmpty { people.insert(value("owner")) }
        return [
            .choice(
                name: "owner", label: t("Owner (sees its trips)"),
                of: [("", t("Nobody: it is the fleet’s"))] + people.sorted().map { ($0, $0) }, chosen: value("owner"))
        ]
    }

    private var common: [FormView.Field] {
        [tagsField] + (fleets.isEmpty ? [] : [fleetsField])
    }

    private var fleetsField: FormView.Field {
        .boxes(name: "fleet", label: t("Fleets"), of: fleets.map { ($0.fleet, $0.name) }, chosen: chosen)
    }

    /// Which fleets it is in, and nothing else: what else is known goes along as it is.
    func moving(id: String, action: String) -> HTML {
        let known: [FormView.Field] = VehicleForm.names.filter { $0 != "vehicle" }.map {
            .hidden(name: $0, value: value($0))
        }
        let about: [FormView.Field] = [
            .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "id", value: id),
            .hidden(name: "based_on", value: basedOn), .hidden(name: "kind", value: isCar ? "car" : "machine"),
        ]
        return FormView.form(action, about + known + [fleetsField], t("Save fleets"), id: "move")
    }
}
