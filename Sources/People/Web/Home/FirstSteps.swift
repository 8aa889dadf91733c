internal import Alerts
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// What somebody does first, one step open at a time: shown while there is nothing else to show.
struct FirstSteps {
    struct Step {
        let title, about: String
        /// What is done in it, while it is the open one.
        var action: HTML = ""
    }

    let caller: PageCaller
    /// Which steps are done, by their place.
    var done: Set<Int> = []

    init(caller: PageCaller) { self.caller = caller }

    /// As far as the database tells what is done.
    init(_ caller: PageCaller, on connection: Connection) throws {
        self.caller = caller
        switch role {
        case .driver: if try AccountStore.settings(of: caller.account, on: connection) != nil { done = [1] }
        case .dealer:
            if try DealerStore.list(on: connection).contains(where: { !$0.isOwn && $0.endedMs == nil }) { done = [0] }
        case .ranger: if try !TourStore.drafts(most: 1, on: connection).isEmpty { done = [0] }
        case .administrator, .fleetManager, .operator, .farmer, .developer, .dispatcher, .rideDriver, .rider,
            .surveyor, .researcher, .analyst, nil:
            break
        }
    }

    private var role: Role? { FirstSteps.order.first(where: caller.roles.contains) }

    /// Nil: the account has no role yet.
    var html: HTML? {
        guard let role else { return nil }
        let steps = steps(role)
        let open = steps.indices.first { !done.contains($0) }
        let count = done.count + 1
        let items =
            [FirstSteps.item(1, Step(title: t("Your account"), about: t("Signed in")), isDone: true, isOpen: false)]
            + steps.enumerated().map { place, step in
                FirstSteps.item(place + 2, step, isDone: done.contains(place), isOpen: place == open)
            }
        return """
            <div class="hello"><svg class="donut" viewBox="0 0 42 42" role="img" aria-label="\(count) of \(items.count) done">\
            <circle class="way" cx="21" cy="21" r="18"/><path class="done" d="M21 3a18 18 0 1 1 0 36a18 18 0 1 1 0-36" pathLength="\(items.count)" stroke-dasharray="\(count) \(items.count)"/>\
            <text x="21" y="25" text-anchor="middle">\(count)/\(items.count)</text></svg>
            <div><h2>\(caller.firstName.isEmpty ? t("Welcome") : t("Welcome, \(caller.firstName)"))</h2><p>\(FirstSteps.lead(role, max(1, steps.count - done.count)))</p></div></div>
            <ol class="card fsteps">\(items.joined(separator: "\n"))</ol>
            \(pages)
            """
    }

    /// The pages that their roles have.
    var pages: HTML {
        let others = Navigation.entries(for: caller.roles).filter { !["/", "/home"].contains($0.path) }
        return """
            <section class="card links" aria-labelledby="pages-title"><header><h2 id="pages-title">Your pages</h2></header>
            \(others.map(FirstSteps.link).joined(separator: "\n"))</section>
            """
    }

    private static func item(_ number: Int, _ step: Step, isDone: Bool, isOpen: Bool) -> HTML {
        """
        <li class="\(isDone ? "ok" : isOpen ? "open" : "later")"\(" aria-current=\"step\"", if: isOpen)><span class="mark" aria-hidden="true">\(isDone ? HTML.icon(.check) : "\(number)")</span>\
        <div class="grow"><div class="row between"><span><b>\(step.title)</b><small>\(step.about)</small></span>\(isDone ? HTML.pill("ok", t("Done")) : "")</div>\
        \("<div class=\"more3\">\(step.action)</div>", if: isOpen)</div></li>
        """
    }

    private static func link(_ entry: Navigation.Entry) -> HTML {
        """
        <a class="item" href="\(entry.path)"><span class="ic">\(HTML.icon(entry.icon))</span>\
        <span><b>\(entry.name)</b><small>\(entry.about)</small></span>\(HTML.icon(.right))</a>
        """
    }

    /// Of several jobs the one that shows most comes first.
    private static let order: [Role] = [
        .administrator, .fleetManager, .operator, .farmer, .dealer, .developer, .driver, .dispatcher, .rideDriver,
        .rider,
        .surveyor, .ranger, .researcher, .analyst,
    ]

    private static func lead(_ role: Role, _ count: Int) -> String {
        switch role {
        case .administrator, .fleetManager, .operator:
            t(count, one: "One step, then your fleet is live", many: "\(count) steps, then your fleet is live")
        case .farmer: t(count, one: "One step, then the machines talk", many: "\(count) steps, then the machines talk")
        case .dealer, .developer:
            t(
                count, one: "One step, then you see the machines you look after",
                many: "\(count) steps, then you see the machines you look after")
        case .driver:
            t(count, one: "One step, then your drives are here", many: "\(count) steps, then your drives are here")
        case .rider: t(count, one: "One step to your first ride", many: "\(count) steps to your first ride")
        case .rideDriver: t("Choose your shuttle and go")
        case .dispatcher: t(count, one: "One step to the first ride", many: "\(count) steps to the first ride")
        case .surveyor: t("Ready for the first walk")
        case .ranger: t(count, one: "One step to your first tour", many: "\(count) steps to your first tour")
        case .researcher, .analyst: t("Your first answer in a minute")
        }
    }

    private func steps(_ role: Role) -> [Step] {
        switch role {
        case .administrator, .fleetManager:
            [
                Step(
                    title: t("Add the first vehicle"), about: t("A car by its adapter, a machine by its box"),
                    action: adding),
                Step(
                    title: t("Say who looks after it"),
                    about: t("Alerts need somebody to go to: assign a driver on the vehicle’s page")),
                Step(title: t("Set how you are told"), about: t("Mail, push or your own system, under Notifications")),
            ]
        case .operator:
            [
                Step(
                    title: t("Wait for the first vehicle"), about: t("Fleet managers and farmers add theirs"),
                    action: button("/vehicles", t("Vehicles")))
            ]
        case .farmer:
            [
                Step(title: t("Add a machine"), about: t("Its serial number stands on its box"), action: machineForm),
                Step(
                    title: t("Let your dealer help"),
                    about: t("They ask, you confirm under Dealers, and can end it any time")
                ),
                Step(title: t("Choose your limits"), about: t("Under Rules, with what they would have raised")),
            ]
        case .dealer:
            [
                Step(
                    title: t("Ask for a machine"), about: t("You see it when its owner has confirmed"), action: askForm),
                Step(
                    title: t("Wait for its owner"), about: t("They get a mail, and confirm under Dealers"),
                    action: button("/dealers", t("What waits"))),
            ]
        case .developer:
            [
                Step(
                    title: t("Wait for a machine"), about: t("Every machine that sends shows here"),
                    action: button("/vehicles", t("Vehicles")))
            ]
        case .driver:
            [
                Step(
                    title: t("Get your car"), about: t("Add your own, or ask your fleet’s manager to assign you one"),
                    action: button("/vehicles/new?kind=car", t("Add your car"))),
                Step(
                    title: t("Choose your limits"), about: t("Speed, engine speed, temperature: under Settings"),
                    action: button("/settings", t("Open Settings"))),
            ]
        case .dispatcher:
            [
                Step(
                    title: t("Open the monitor"), about: t("Vehicles, rides and waiting times of your campus"),
                    action: button("/dispatch", t("Open Dispatch")))
            ]
        case .rideDriver:
            [
                Step(
                    title: t("Go in service"), about: t("Your next stop, big, and what changes"),
                    action: button("/drive", t("Open Drive")))
            ]
        case .rider:
            [
                Step(
                    title: t("Ask for a ride"),
                    about: t("Say where you are and where to; your campus card opens it once"),
                    action: button("/ride", t("Ask for a ride")))
            ]
        case .surveyor:
            [
                Step(
                    title: t("Enter a survey"),
                    about: t("In the browser, without a network too, or in the surveyors’ app"),
                    action: button("/surveys/enter", t("Enter a survey")))
            ]
        case .ranger:
            [
                Step(
                    title: t("Draw the trail"), about: t("Name the tour, then draw it or load a GPX track"),
                    action: button("/tours", t("Make a tour"))),
                Step(
                    title: t("Three waypoints"), about: t("Title, text, a picture each"),
                    action: button("/tours", t("Open your tour"))),
                Step(title: t("Walk it on your phone"), about: t("Then publish")),
            ]
        case .researcher:
            [
                Step(
                    title: t("Look at the sightings"), about: t("By species, place and week, and as files"),
                    action: button("/sightings", t("Open Sightings")))
            ]
        case .analyst:
            [
                Step(
                    title: t("Run a ready query"), about: t("Answers to look at, or to export"),
                    action: button("/queries", t("Ready queries"))),
                Step(title: t("Ask with SQL"), about: t("Your own SELECT over what you may see")),
            ]
        }
    }

    private func button(_ address: StaticString, _ words: String) -> HTML {
        "<a class=\"btn primary\" href=\"\(HTML(stringLiteral: address))\">\(words)</a>"
    }

    private var adding: HTML {
        """
        <div class="pick"><a href="/vehicles/new?kind=car"><span class="row">\(HTML.icon(.car))<b>A car</b></span><small class="soft">By an adapter, an app or a file</small></a>\
        <a href="/vehicles/new?kind=machine"><span class="row">\(HTML.icon(.tractor))<b>A machine</b></span><small class="soft">By the serial number of its box</small></a></div>
        """
    }

    private var machineForm: HTML {
        """
        <form class="form" method="post" action="/vehicles/new">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", AlertAction.newID()))\
        \(FormView.hidden("based_on", ""))\(FormView.hidden("kind", "machine"))
        <div class="fld"><label for="first-vehicle">Serial number</label><input id="first-vehicle" name="vehicle" type="text" required maxlength="64" autocomplete="off">\
        <span class="help">Letters, digits, -, _ or .</span></div>
        <div class="row"><button class="btn primary">Add this machine</button></div></form>
        """
    }

    private var askForm: HTML {
        """
        <form class="form" method="post" action="/dealers/ask">\(FormView.hidden(CSRFGuard.field, caller.mark))
        <div class="fld"><label for="first-ask">Machine’s id, as its owner sees it under Vehicles</label>\
        <input id="first-ask" name="vehicle" type="text" required maxlength="64" autocomplete="off"></div>
        <div class="row"><button class="btn primary">Ask its owner</button></div></form>
        """
    }
}
