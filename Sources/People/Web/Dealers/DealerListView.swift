internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Storage

/// Which dealers look after which machines. A dealer's own stand by whose they are: customers call by their names.
struct DealerListView {
    enum Order: String, CaseIterable {
        case owner, machine, asked, state

        var name: String {
            switch self {
            case .owner: t("Owner")
            case .machine: t("Machine")
            case .asked: t("Asked")
            case .state: t("State")
            }
        }
    }

    let all: [DealerStore.Dealership]
    /// By machine; empty: the reader is no dealer, or nothing was confirmed to them.
    let owners: [String: [DealerStore.Owner]]
    /// Of this owner only; empty: of all.
    let owner: String
    let order: Order
    let caller: PageCaller

    init(
        _ all: [DealerStore.Dealership], owners: [String: [DealerStore.Owner]], asked: (String) -> String?,
        caller: PageCaller
    ) {
        self.all = all
        self.owners = owners
        self.caller = caller
        let wanted = asked("owner") ?? ""
        // Whose no machine is any more: all are shown.
        owner = owners.values.contains { $0.contains { $0.account == wanted } } ? wanted : ""
        order = asked("sort").flatMap(Order.init(rawValue:)) ?? (caller.roles.contains(.dealer) ? .owner : .state)
    }

    private var isDealer: Bool { caller.roles.contains(.dealer) }
    /// Who asked for others' machines only knows which dealer it is.
    private var showsDealers: Bool { !isDealer || all.contains(where: \.isOwn) }

    var html: HTML {
        guard !all.isEmpty else {
            return HTML.table(
                caption: t("Dealers of machines"), headers: [], rows: [],
                empty: isDealer
                    ? t("No machine yet. Ask for one by its id: you see it once its owner confirms.")
                    : t("No dealer has asked for a machine yet."))
        }
        let cut: HTML? =
            all.count >= DealerStore.listMax
            ? "<p class=\"soft small body\">Only the newest \(String(DealerStore.listMax)) are listed.</p>" : nil
        return """
            <section class="card"><header><h2>\(caption)</h2></header>
            \(about)\(filter)\(cut)
            <div class="scroll" role="region" aria-label="\(caption)" tabindex="0"><table class="table cards">
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div></section>
            """
    }

    private var caption: String { isDealer ? t("Machines you look after") : t("Dealers of machines") }

    /// What an owner decides.
    private var about: HTML? {
        isDealer
            ? nil
            : "<p class=\"soft small body tight\">A dealer sees a machine, its readings and its alerts from your confirmation until one of you ends it; what was before only if you share its past.</p>"
    }

    // MARK: What is chosen

    /// Where there is something to choose from.
    private var filter: HTML {
        let known = Set(owners.values.joined()).sorted { (said($0), $0.account) < (said($1), $1.account) }
        guard known.count > 1 else { return "" }
        let whose = [("", t("All owners"))] + known.map { ($0.account, said($0)) }
        let orders = Order.allCases.map { ($0.rawValue, $0.name) }
        return """
            <form class="asks end" method="get" action="/dealers">
            <label>Owner <select class="box" name="owner">\(HTML.options(whose, owner))</select></label>
            <label>Sort by <select class="box" name="sort">\(HTML.options(orders, order.rawValue))</select></label>
            <button class="btn">Show</button></form>
            """
    }

    private func said(_ owner: DealerStore.Owner) -> String { owner.name.isEmpty ? owner.account : owner.name }

    private func owned(_ one: DealerStore.Dealership) -> [DealerStore.Owner] {
        one.confirmedMs == nil || one.endedMs != nil || one.isOwn ? [] : owners[one.vehicle] ?? []
    }

    private func names(_ one: DealerStore.Dealership) -> String {
        owned(one).map(said).sorted().joined(separator: ", ")
    }

    private func called(_ one: DealerStore.Dealership) -> String { one.name ?? one.vehicle }

    private var shown: [DealerStore.Dealership] {
        let kept = owner.isEmpty ? all : all.filter { owned($0).contains { $0.account == owner } }
        switch order {
        // What waits for somebody comes first as it is.
        case .state: return kept
        case .asked: return kept.sorted { $0.askedMs > $1.askedMs }
        case .machine:
            return kept.sorted { (called($0).lowercased(), $0.id) < (called($1).lowercased(), $1.id) }
        case .owner:
            return kept.sorted { a, b in
                let (x, y) = (group(a), group(b))
                return (x.place, x.name.lowercased(), called(a).lowercased(), a.id)
                    < (y.place, y.name.lowercased(), called(b).lowercased(), b.id)
            }
        }
    }

    /// What waits comes first, what is over last.
    private func group(_ one: DealerStore.Dealership) -> (place: Int, name: String) {
        if one.endedMs != nil { return (4, t("Ended")) }
        if one.confirmedMs == nil { return (0, t("Waiting for an answer")) }
        if one.isOwn { return (1, t("Dealers of your machines")) }
        let names = names(one)
        return names.isEmpty ? (3, t("No owner at present")) : (2, names)
    }

    // MARK: Rows

    private var heads: HTML {
        func sorted(_ by: Order) -> HTML {
            let isOn: HTML? =
                by == order ? " aria-sort=\"\(by == .asked ? "descending" : "ascending")\"" : nil
            return
                "<th scope=\"col\"\(isOn)><a href=\"/dealers?sort=\(by.rawValue)&amp;owner=\(encoded: owner)\">\(by.name)</a></th>"
        }
        let whose: HTML? = isDealer ? sorted(.owner) : nil
        let dealer: HTML? = showsDealers ? "<th scope=\"col\">Dealer</th>" : nil
        return
            "\(sorted(.machine))\(whose)\(dealer)\(sorted(.asked))\(sorted(.state))<th scope=\"col\"><span class=\"sr\">Actions</span></th>"
    }

    private var rows: [HTML] {
        var (rows, last): ([HTML], String?) = ([], nil)
        for one in shown {
            let group = group(one).name
            if order == .owner, group != last {
                rows.append(
                    "<tr class=\"day\"><td colspan=\"\(showsDealers ? 6 : 5)\"><b>\(group)</b></td></tr>\n")
            }
            last = group
            rows.append(row(one))
        }
        return rows
    }

    private func row(_ one: DealerStore.Dealership) -> HTML {
        let isSeen = one.isOwn || one.confirmedMs != nil && one.endedMs == nil
        let name: HTML =
            isSeen
            ? "<a href=\"/vehicles/\(encoded: one.vehicle)?kind=machine\">\(called(one))</a>" : "\(called(one))"
        let id: HTML? = one.name == nil ? nil : "<small class=\"soft\"> \(one.vehicle)</small>"
        let names = names(one)
        let whose: HTML? =
            isDealer ? "<td data-l=\"\(Order.owner.name)\">\(names.isEmpty ? "–" : names)</td>" : nil
        let dealer: HTML? =
            showsDealers
            ? "<td data-l=\"Dealer\">\(one.dealerName.isEmpty ? one.dealer : "\(one.dealerName) (\(one.dealer))")</td>"
            : nil
        return """
            <tr><td>\(name)\(id)</td>\(whose)\(dealer)<td class="nowrap" data-l="\(Order.asked.name)">\(caller.clock.html(one.askedMs))</td>\
            <td data-l="\(Order.state.name)">\(state(one))</td><td class="nowrap">\(buttons(one))</td></tr>

            """
    }

    private func state(_ one: DealerStore.Dealership) -> HTML {
        if let ended = one.endedMs { return "\(HTML.pill("quiet", t("Ended"))) \(caller.clock.html(ended))" }
        guard let confirmed = one.confirmedMs else { return HTML.pill("warning", t("Waits for the owner")) }
        let past: HTML? = one.sharesPast ? "<br><span class=\"soft small\">The dealer sees its past</span>" : nil
        return "\(HTML.pill("ok", t("Confirmed"))) \(caller.clock.html(confirmed))\(past)"
    }

    private func buttons(_ one: DealerStore.Dealership) -> HTML? {
        guard one.endedMs == nil else { return nil }
        func form(_ action: String, _ inside: HTML, _ button: String, _ label: String) -> HTML {
            "<form method=\"post\" action=\"/dealers/\(action)\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("dealership", String(one.id)))\(inside)<button class=\"btn small\(" primary", if: action == "confirm")\" aria-label=\"\(label)\">\(button)</button></form>"
        }
        let end = form("end", "", t("End"), t("End \(one.dealer) for \(one.vehicle)"))
        guard one.isOwn, one.confirmedMs == nil else { return end }
        let past: HTML =
            "<label class=\"check\"><input type=\"checkbox\" name=\"past\" value=\"1\"> Share its past</label>"
        return
            "<div class=\"row wrap\">\(form("confirm", past, t("Confirm"), t("Confirm \(one.dealer) for \(one.vehicle)")))\(end)</div>"
    }
}
