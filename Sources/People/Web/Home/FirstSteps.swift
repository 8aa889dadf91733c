internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports

/// What somebody does first, one step open at a time: shown while there is nothing else to show.
struct FirstSteps {
    struct Step {
        let title, about: String
        /// What is done in it, while it is the open one.
        var action: HTML = ""
    }

    let caller: PageCaller

    /// Nil: the account has no role yet.
    var html: HTML? {
        guard let role = FirstSteps.order.first(where: caller.roles.contains) else { return nil }
        let steps = steps(role)
        let items =
            [FirstSteps.item(1, Step(title: "Your account", about: "Signed in"), isDone: true, isOpen: false)]
            + steps.enumerated().map { place, step in
                FirstSteps.item(place + 2, step, isDone: false, isOpen: place == 0)
            }
        let others = Navigation.entries(for: caller.roles).filter { !["/", "/home"].contains($0.path) }
        return """
            <div class="hello"><svg class="donut" viewBox="0 0 42 42" role="img" aria-label="1 of \(items.count) done">\
            <circle class="way" cx="21" cy="21" r="18"/><path class="done" d="M21 3a18 18 0 1 1 0 36a18 18 0 1 1 0-36" pathLength="\(items.count)" stroke-dasharray="1 \(items.count)"/>\
            <text x="21" y="25" text-anchor="middle">1/\(items.count)</text></svg>
            <div><h2>\(caller.firstName.isEmpty ? "Welcome" : "Welcome, \(caller.firstName)")</h2><p>\(FirstSteps.lead(role, steps.count))</p></div></div>
            <ol class="card fsteps">\(items.joined(separator: "\n"))</ol>
            <section class="card links" aria-labelledby="pages-title"><header><h2 id="pages-title">Your pages</h2></header>
            \(others.map(FirstSteps.link).joined(separator: "\n"))</section>
            """
    }

    private static func item(_ number: Int, _ step: Step, isDone: Bool, isOpen: Bool) -> HTML {
        """
        <li class="\(isDone ? "ok" : isOpen ? "open" : "later")"\(" aria-current=\"step\"", if: isOpen)><span class="mark" aria-hidden="true">\(isDone ? HTML.icon(.check) : "\(number)")</span>\
        <div class="grow"><div class="row between"><span><b>\(step.title)</b><small>\(step.about)</small></span>\(isDone ? HTML.pill("ok", "Done") : "")</div>\
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
        let steps = count == 1 ? "One step" : count == 2 ? "Two steps" : "Three steps"
        switch role {
        case .administrator, .fleetManager, .operator: return "\(steps), then your fleet is live"
        case .farmer: return "\(steps), then the machines talk"
        case .dealer, .developer: return "\(steps), then you see the machines you look after"
        case .driver: return "\(steps), then your drives are here"
        case .rider: return "\(steps) to your first ride"
        case .rideDriver: return "Choose your shuttle and go"
        case .dispatcher: return "\(steps) to the first ride"
        case .surveyor: return "Ready for the first walk"
        case .ranger: return "\(steps) to your first tour"
        case .researcher, .analyst: return "Your first answer in a minute"
        }
    }

    private func steps(_ role: Role) -> [Step] {
        switch role {
        case .administrator, .fleetManager:
            [
                Step(
                    title: "Add the first vehicle", about: "A car by its adapter, a machine by its box", action: adding),
                Step(
                    title: "Say who looks after it",
                    about: "Alerts need somebody to go to: assign a driver on the vehicle’s page"),
                Step(title: "Set how you are told", about: "Mail, push or your own system, under Notifications"),
            ]
        case .operator:
            [
                Step(
                    title: "Wait for the first vehicle", about: "Fleet managers and farmers add theirs",
                    action: button("/vehicles", "Vehicles"))
            ]
        case .farmer:
            [
                Step(title: "Add a machine", about: "Its serial number stands on its box", action: machineForm),
                Step(
                    title: "Let your dealer help", about: "They ask, you confirm under Dealers, and can end it any time"
                ),
                Step(title: "Choose your limits", about: "Under Rules, with what they would have raised"),
            ]
        case .dealer:
            [Step(title: "Ask for a machine", about: "You see it when its owner has confirmed", action: askForm)]
        case .developer:
            [
                Step(
                    title: "Wait for a machine", about: "Every machine that sends shows here",
                    action: button("/vehicles", "Vehicles"))
            ]
        case .driver:
            [
                Step(
                    title: "Get your car", about: "Add your own, or ask your fleet’s manager to assign you one",
                    action: button("/vehicles/new?kind=car", "Add your car")),
                Step(title: "Choose your limits", about: "Speed, engine speed, temperature: under Settings"),
            ]
        case .dispatcher:
            [
                Step(
                    title: "Open the monitor", about: "Vehicles, rides and waiting times of your campus",
                    action: button("/dispatch", "Open Dispatch"))
            ]
        case .rideDriver:
            [
                Step(
                    title: "Go in service", about: "Your next stop, big, and what changes",
                    action: button("/drive", "Open Drive"))
            ]
        case .rider:
            [
                Step(
                    title: "Ask for a ride", about: "Say where you are and where to; your campus card opens it once",
                    action: button("/ride", "Ask for a ride"))
            ]
        case .surveyor:
            [
                Step(
                    title: "Enter a survey", about: "In the browser, without a network too, or in the surveyors’ app",
                    action: button("/surveys/enter", "Enter a survey"))
            ]
        case .ranger:
            [
                Step(
                    title: "Draw the trail", about: "Name the tour, then draw it or load a GPX track",
                    action: button("/tours", "Make a tour")),
                Step(title: "Three waypoints", about: "Title, text, a picture each"),
                Step(title: "Walk it on your phone", about: "Then publish"),
            ]
        case .researcher:
            [
                Step(
                    title: "Look at the sightings", about: "By species, place and week, and as files",
                    action: button("/sightings", "Open Sightings"))
            ]
        case .analyst:
            [
                Step(
                    title: "Run a ready query", about: "Answers to look at, or to export",
                    action: button("/queries", "Ready queries")),
                Step(title: "Ask your own", about: "A SELECT over what you may see, under Ask"),
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
