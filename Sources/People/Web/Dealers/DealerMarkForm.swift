internal import Presentation
internal import Storage

/// A dealer's form of a class and tags that are their own: of one machine, in place; of several, what is to change.
struct DealerMarkForm {
    let caller: PageCaller
    let words: DealerWords
    let vehicles: [String]
    /// The page to come back to.
    let next: String
    /// The values of the fields, by name.
    var typed: [String: String] = [:]

    private var isOne: Bool { vehicles.count == 1 }

    var html: HTML {
        let list: HTML = words.classes.map { "<option value=\"\($0)\">" }.joined()
        let hidden: [FormView.Field] =
            [.hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "next", value: next)]
            + vehicles.map { .hidden(name: "vehicle", value: $0) }
        return FormView.form("/vehicles/marks", hidden + (isOne ? one : several), t("Save"), id: "own")
            + "<datalist id=\"own-classes\">\(list)</datalist>"
    }

    /// In place, on the machine's page.
    var card: HTML {
        """
        <section class="card" id="own"><header><h2>My class and tags</h2></header><div class="body">
        <p class="soft small">Only you see them: neither the owner nor another dealer.</p>
        \(html)</div></section>
        """
    }

    private func field(_ name: String, _ label: String) -> FormView.Field {
        .optional(name: name, label: label, value: typed[name] ?? "", autocomplete: "off")
    }

    private var one: [FormView.Field] {
        [
            .hidden(name: "do", value: "set"),
            field("class", t("Class")).help(t("Like Fleet service")).attributes(" list=\"own-classes\""),
            field("tags", t("My tags")).help(t("Separate them by commas")),
        ]
    }

    private var several: [FormView.Field] {
        [
            .hidden(name: "do", value: "add"),
            field("class", t("Class")).help(t("Leave empty to keep what they have")).attributes(
                " list=\"own-classes\""),
            .check(name: "no-class", label: t("Take the class away")),
            field("tags", t("Add tags")).help(t("Separate them by commas")),
            field("less", t("Take tags away")),
        ]
    }

    // MARK: What it says

    static func change(_ fields: FormFields) throws(VehicleForm.Fault) -> DealerMarkStore.Change {
        let ownClass = VehicleForm.trimmed(fields["class"] ?? "")
        guard ownClass.utf8.count <= DealerMarkStore.bytesMax, VehicleForm.isPlain(ownClass) else {
            throw VehicleForm.Fault(
                text: t("The class is longer than \(DealerMarkStore.bytesMax) bytes, or has control characters."))
        }
        let tags = try VehicleForm.tags(fields["tags"] ?? "")
        guard fields["do"] == "add" else {
            return DealerMarkStore.Change(ownClass: ownClass, keepsTags: false, tags: tags)
        }
        let isTaken = fields["no-class"] == "1"
        guard !isTaken || ownClass.isEmpty else {
            throw VehicleForm.Fault(text: t("Either write a class, or take it away."))
        }
        return DealerMarkStore.Change(
            ownClass: ownClass.isEmpty && !isTaken ? nil : ownClass, keepsTags: true, tags: tags,
            lessTags: try VehicleForm.tags(fields["less"] ?? ""))
    }

    static func why(_ outcome: DealerMarkStore.Outcome) -> String {
        switch outcome {
        case .done: ""
        case .notYours: t("Nothing was saved: one of these machines is not confirmed to you, or not any more.")
        case .tags: t("Nothing was saved: a machine has at most \(DealerMarkStore.tagsMax) tags of yours.")
        case .tooMany: t("Nothing was saved: 5,000 machines have your words already. Take some away first.")
        }
    }
}
