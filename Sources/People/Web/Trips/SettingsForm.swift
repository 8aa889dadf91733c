internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Presentation

/// A form with all fields of some settings, so that it replaces them all: an account's own, or the installation's limits.
struct SettingsForm {
    /// The names of the switches on the page: one that is off is not sent.
    private static let switches = "switches"
    /// The price where people buy by the litre.
    private static let litrePrice = "fuel_price_per_l"

    let settings: [DriverSetting]

    /// What somebody sent.
    struct Typed {
        var texts: [DriverSetting: String] = [:]
        /// The price is a litre's.
        var litrePrice: String?
    }

    enum Read {
        case settings(DriverSettings)
        /// What is wrong, by the field that it stands beside.
        case faults([DriverSetting: String])
    }

    func typed(_ fields: FormFields) -> Typed {
        let switches = Set((fields[SettingsForm.switches] ?? "").split(separator: " ").map(String.init))
        var typed = Typed()
        for setting in settings {
            let text = fields[setting.rawValue] ?? ""
            typed.texts[setting] = text.isEmpty && switches.contains(setting.rawValue) ? "off" : text
        }
        typed.litrePrice = fields[SettingsForm.litrePrice]
        if let text = typed.litrePrice { typed.texts[.fuelPrice] = SettingsForm.gallonPrice(text) }
        return typed
    }

    func read(_ typed: Typed) -> Read {
        var said = DriverSettings.standard
        var faults: [DriverSetting: String] = [:]
        for setting in settings {
            guard let text = typed.texts[setting], !text.isEmpty else { continue }
            // A switch that stands as it does anyway follows the default.
            if case .flag(let isOn) = setting.row.standard, text == (isOn ? "on" : "off") { continue }
            if let twin = setting.row.twin, said.said[twin] != nil {
                faults[setting] = t("Say it in one unit only")
                continue
            }
            var alone = DriverSettings.standard
            do throws(DriverSettings.Fault) {
                try alone.set("\(setting.rawValue)=\(setting == .fuelCurrency ? text.uppercased() : text)")
            } catch {
                // Alone it may only be wrong beside the other limit's default: that is seen below.
                if !SettingsForm.voltages.contains(setting) || Decimal.scaled(text.utf8, decimals: 3) == nil {
                    faults[setting] = SettingsForm.rule(setting)
                    continue
                }
            }
            do throws(DriverSettings.Fault) {
                try said.set("\(setting.rawValue)=\(setting == .fuelCurrency ? text.uppercased() : text)")
            } catch {
                faults[setting] =
                    SettingsForm.voltages.contains(setting)
                    ? t("The lowest must be below the highest, both 0 to 66") : SettingsForm.rule(setting)
            }
        }
        return faults.isEmpty ? .settings(said) : .faults(faults)
    }

    /// Off: the rest of their group counts for nothing, and is not shown.
    private static let switchesOfGroups: Set<DriverSetting> = [
        .speedAlert, .wheelAlert, .coolantAlert, .voltageAlert,
    ]

    private static let voltages: Set<DriverSetting> = [.voltageLowV, .voltageHighV]

    private static func rule(_ setting: DriverSetting) -> String {
        switch setting.row.kind {
        case .flag: t("On or off")
        case .number(let least, let most):
            setting == .fuelPrice
                ? t("A price from \(String(describing: least)) to \(String(describing: most)) a gallon")
                : t("A number from \(String(describing: least)) to \(String(describing: most))")
        case .choice: t("One of the choices")
        case .currency: t("Three letters, like EUR")
        }
    }

    // MARK: The page

    /// - Parameters:
    ///   - typed: what somebody wrote, to be shown again; nil: show `known`.
    ///   - units: of the fields where nothing else was said.
    ///   - isFolded: nothing of it concerns the person by their role; it is there for who has a car all the same.
    ///   - without: what the person has no use for; it shows all the same where it is set, since the form replaces all.
    func html(
        _ known: DriverSettings, typed: Typed? = nil, faults: [DriverSetting: String] = [:],
        units: DriverSettings.Units, without: Set<DriverSetting> = [], isFolded: Bool = false,
        action: HTML, mark: String
    ) -> HTML {
        let field = FieldView(known: known, typed: typed, faults: faults, units: units)
        let shown = SettingsWords.groups.compactMap { group -> (HTML, [DriverSetting])? in
            func own(_ some: [DriverSetting]) -> [DriverSetting] {
                some.filter { settings.contains($0) && (!without.contains($0) || known.said[$0] != nil) }
                    .map { field.chosen($0) }
            }
            let (plain, finer) = (own(group.settings), own(group.finer))
            guard !(plain + finer).isEmpty else { return nil }
            let about: HTML? = group.about.isEmpty ? nil : "<span class=\"faint small end\">\(group.about)</span>"
            let rows = plain.map(field.row).joined(separator: "\n")
            let isOpen = finer.contains { faults[$0] != nil || known.said[$0] != nil }
            let more: HTML? =
                finer.isEmpty
                ? nil
                : "<details\(" open", if: isOpen)><summary>More</summary>\(finer.map(field.row).joined(separator: "\n"))</details>"
            let card: HTML =
                "<section class=\"card\(" judged", if: group.isJudged)\"><header><h2>\(group.title)</h2>\(about)</header>\n\(rows)\(more)</section>"
            return (card, plain + finer)
        }
        let cards = shown.map(\.0).joined(separator: "\n")
        let isOpen = !faults.isEmpty || settings.contains { known.said[$0] != nil }
        let all: HTML =
            isFolded && !isOpen
            ? "<details class=\"more-of\"><summary>If you drive or own a car</summary><div class=\"stack\">\(cards)</div></details>"
            : cards
        let switches = shown.flatMap(\.1).filter { $0.row.kind == .flag }.map(\.rawValue).joined(separator: " ")
        return """
            <form class="stack sets" method="post" action="\(action)">\(FormView.hidden(CSRFGuard.field, mark))\(FormView.hidden(SettingsForm.switches, switches))
            \(all)
            <section class="card saver"><div class="row between wrap body tight"><span class="faint small">Leave empty for the default</span><button class="btn primary">Save</button></div></section></form>
            """
    }

    private struct FieldView {
        let known: DriverSettings
        let typed: Typed?
        let faults: [DriverSetting: String]
        let units: DriverSettings.Units

        /// Of two units the one in which it was said, else the reader's.
        func chosen(_ setting: DriverSetting) -> DriverSetting {
            guard let twin = setting.row.twin else { return setting }
            if let typed {
                if typed.texts[twin, default: ""] != "" { return twin }
                if typed.texts[setting, default: ""] != "" { return setting }
            } else {
                if known.said[twin] != nil { return twin }
                if known.said[setting] != nil { return setting }
            }
            return units == .us ? setting : twin
        }

        private var isByLitre: Bool { typed.map { $0.litrePrice != nil } ?? (units == .metric) }

        func row(_ setting: DriverSetting) -> HTML {
            let words = SettingsWords.of(setting)
            let help: HTML? = words.help.isEmpty ? nil : "<small>\(words.help)</small>"
            let fault = faults[setting]
            let wrong: HTML? = fault.map {
                "<span class=\"err3\" id=\"\(setting.rawValue)-wrong\">\(HTML.icon(.warn))\($0). Not saved.</span>"
            }
            return """
                <div class="srow\(" bad", if: fault != nil)"><span class="lab2"><label for="\(setting.rawValue)">\(words.label)</label>\(help)</span>\
                <span class="row wrap">\(input(setting, words, isWrong: fault != nil))\(wrong)</span></div>
                """
        }

        private func input(_ setting: DriverSetting, _ words: SettingsWords, isWrong: Bool) -> HTML {
            let name = setting == .fuelPrice && isByLitre ? SettingsForm.litrePrice : setting.rawValue
            let text = shown(setting)
            let about: HTML = isWrong ? " aria-invalid=\"true\" aria-describedby=\"\(setting.rawValue)-wrong\"" : ""
            switch setting.row.kind {
            case .flag:
                var isOn = setting.row.standard == .flag(true)
                if !text.isEmpty { isOn = text == "on" }
                return
                    "<input class=\"toggle\(" main", if: SettingsForm.switchesOfGroups.contains(setting))\" id=\"\(setting.rawValue)\" name=\"\(name)\" type=\"checkbox\" role=\"switch\" value=\"on\"\(" checked", if: isOn)>"
            case .choice(let choices):
                let options = choices.map { ($0, SettingsWords.choice($0)) }
                let standard = SettingsWords.standard(setting).map(SettingsWords.choice) ?? ""
                return
                    "<select class=\"box\" id=\"\(setting.rawValue)\" name=\"\(name)\"\(about)>\(HTML.options([("", t("Default: \(standard)"))] + options, text))</select>"
            case .number, .currency:
                let unit = setting == .fuelPrice && isByLitre ? t("a litre") : words.unit
                let tail: HTML? = unit.isEmpty ? nil : "<span class=\"unit\">\(unit)</span>"
                let mode: HTML =
                    setting.row.kind == .currency ? " maxlength=\"3\"" : " inputmode=\"decimal\" maxlength=\"12\""
                let note: HTML? = text.isEmpty ? "<span class=\"faint small\">Default</span>" : nil
                return
                    "<span class=\"in\"><input id=\"\(setting.rawValue)\" name=\"\(name)\" type=\"text\" value=\"\(text)\" placeholder=\"\(standard(setting))\" autocomplete=\"off\"\(mode)\(about)>\(tail)</span>\(note)"
            }
        }

        private func standard(_ setting: DriverSetting) -> String {
            guard let text = SettingsWords.standard(setting) else { return "" }
            return setting == .fuelPrice && isByLitre ? SettingsForm.litrePrice(Double(text) ?? 0) : text
        }

        private func shown(_ setting: DriverSetting) -> String {
            if let typed {
                return setting == .fuelPrice
                    ? typed.litrePrice ?? typed.texts[setting] ?? "" : typed.texts[setting] ?? ""
            }
            switch known.said[setting] {
            case nil: return ""
            case .flag(let flag): return flag ? "on" : "off"
            case .number(let thousandths):
                let text = Decimal.text(thousandths, decimals: 3)
                return setting == .fuelPrice && isByLitre ? SettingsForm.litrePrice(Double(text) ?? 0) : text
            case .text(let text): return text
            }
        }
    }

    // Kept is a US gallon's price, in thousandths: a litre's comes back as it was typed, to the cent.

    private static let litresPerGallon = 3.785_411_784

    private static func gallonPrice(_ text: String) -> String {
        guard !text.isEmpty, let thousandths = Decimal.scaled(text.utf8, decimals: 3) else { return text }
        return Decimal.scaled(Double(thousandths) / 1_000 * litresPerGallon, decimals: 3).map {
            Decimal.text($0, decimals: 3)
        } ?? text
    }

    private static func litrePrice(_ gallon: Double) -> String {
        let exact = gallon / litresPerGallon
        // Cents, where they are meant.
        let cents = (exact * 100).rounded() / 100
        let decimals = abs(cents - exact) < 0.000_3 ? 2 : 3
        return Decimal.scaled(exact, decimals: decimals).map { Decimal.text($0, decimals: decimals) } ?? ""
    }
}
