internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// One's schedules with their last runs, and the form for another one.
struct ScheduleView {
    static let days: [(value: String, text: String, cron: String)] =
        [("day", "every day", "* * *")]
        + ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"].map {
            ($0.lowercased(), "every \($0)", "* * \($0.prefix(3).lowercased())")
        } + [("month", "on the first of each month", "1 * *")]

    let caller: PageCaller
    let reports: [Report]
    let fleets: [ReportView.Fleet]
    let schedules: [AccountScheduleStore.Schedule]
    let runs: [AccountScheduleStore.Run]
    /// The values of a form that was not accepted.
    let given: FormFields?

    var html: HTML {
        """
        <p class="soft small">Times in \(caller.clock.zone), \(caller.units == .us ? "US" : "metric") units. <a href="/account">Change</a></p>
        <div class="split">
        <div class="stack">\(schedules.isEmpty ? none : schedules.map(section).joined(separator: "\n"))</div>
        <section class="card" aria-labelledby="another"><header><h2 id="another">Schedule a report</h2></header>
        <div class="body">\(form)</div>
        </section>
        </div>
        """
    }

    static let heading = PageHeading("Scheduled reports", crumb: ("Reports", "/reports"))

    private var none: HTML {
        "<section class=\"card\">\(HTML.emptyState(.calendar, "No scheduled reports yet", "Choose a report and when it comes. It is kept here, and mailed if you like."))</section>"
    }

    // MARK: Schedules

    private func section(_ one: AccountScheduleStore.Schedule) -> HTML {
        """
        <section class="card" aria-labelledby="schedule-\(one.id)"><header><h2 id="schedule-\(one.id)">\(name(one))</h2></header>
        <div class="body"><dl><dt>When</dt><dd>\(when(one))</dd><dt>Next</dt><dd>\(next(one))</dd><dt>To</dt><dd>\(destination(one)).\(owner(one))</dd></dl>
        <div class="row wrap tools">\(buttons(one))</div>
        \(one.account == nil ? "" : times(one))</div>
        \(history(one))
        </section>
        """
    }

    /// For people who see those of others as well.
    private func owner(_ one: AccountScheduleStore.Schedule) -> String {
        guard caller.roles.contains(.administrator) else { return "" }
        guard let account = one.account else { return " It comes with Drover; nobody has switched it on." }
        return " Shows what \(account) may see."
    }

    private func name(_ one: AccountScheduleStore.Schedule) -> String {
        let title = Report.named(one.report)?.title ?? one.report
        let narrowed = [one.of, one.fleet.isEmpty ? "" : "fleet \(one.fleet)"].filter { !$0.isEmpty }
        return (["\(title), the \(one.span) before"] + narrowed + [one.format.uppercased()]).joined(separator: ", ")
    }

    /// In words when the page's own form could have said it.
    private func when(_ one: AccountScheduleStore.Schedule) -> String {
        let zone = ", \(one.zone)"
        guard let (days, at) = plain(one.cron) else { return one.cron + zone }
        return "\(days.text) at \(at)\(zone)"
    }

    /// Nil where the page's own form could not have said it.
    private func plain(_ cron: String) -> (days: (value: String, text: String, cron: String), at: String)? {
        let fields = cron.split(separator: " ")
        let days = ScheduleView.days.first { $0.cron == fields.dropFirst(2).joined(separator: " ") }
        guard let days, fields.count == 5, let minute = Int64(fields[0]), let hour = Int64(fields[1]) else {
            return nil
        }
        return (days, "\(UTC.two(hour)):\(UTC.two(minute))")
    }

    private func next(_ one: AccountScheduleStore.Schedule) -> HTML {
        if let trouble = one.trouble { return "<span class=\"critical\">\(trouble)</span>" }
        guard one.isEnabled else { return "off" }
        let left: HTML = one.leftOutMs.map { "<br>left out: what fell due until \(caller.clock.html($0))" } ?? ""
        return (one.nextMs.map(caller.clock.html) ?? "in a moment") + left
    }

    private func destination(_ one: AccountScheduleStore.Schedule) -> String {
        let mails = one.mailTo.map { $0 == caller.account ? "mail to you" : "mail to \($0)" }
        return (mails + (one.isFiled ? ["folder"] : []) + ["here"]).joined(separator: ", ")
    }

    private func buttons(_ one: AccountScheduleStore.Schedule) -> HTML {
        let what = name(one)
        func button(_ action: String, _ text: String) -> HTML {
            "<form method=\"post\" action=\"/reports/schedules/\(action)\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("schedule", String(one.id)))<button aria-label=\"\(text): \(what)\">\(text)</button></form>"
        }
        let end = one.account == nil ? "" : button("end", one.shipped == nil ? "Delete" : "Give back")
        return button(
            one.isEnabled ? "off" : "on", one.isEnabled ? "Switch off" : one.account == nil ? "Use this" : "Switch on")
            + (one.account == nil ? "" : button("run", "Run now")) + end
    }

    // MARK: Runs

    private func history(_ one: AccountScheduleStore.Schedule) -> HTML {
        let own = runs.filter { $0.schedule == one.id }
        guard !own.isEmpty else { return "" }
        return HTML.table(
            caption: "Runs of schedule \(one.id)",
            headers: [
                .word("File"), .word("Days"), .prose("Result"), .word("Due"), .number("Rows"),
                .number("Mails"),
            ],
            rows: own.map { run in
                [
                    link(run, one), .text(days(run)), state(run, one), caller.clock.html(run.dueMs),
                    run.rows.map { "\($0)" }, "\(run.mails)",
                ]
            }, empty: "")
    }

    private func days(_ run: AccountScheduleStore.Run) -> String? {
        guard let first = run.first, let last = run.last else { return nil }
        return first == last ? first : "\(first) to \(last)"
    }

    private func state(_ run: AccountScheduleStore.Run, _ one: AccountScheduleStore.Schedule) -> HTML {
        let reason = run.reason.map { ": \($0)" } ?? ""
        switch run.state {
        case .failed: return "<span class=\"critical\">given up</span>\(reason)"
        case .waiting:
            return run.tries == 0
                ? "waits until \(caller.clock.html(run.tryMs))"
                : "<span class=\"warning\">failed \(run.tries) times</span>\(reason); tried again at \(caller.clock.html(run.tryMs))"
        case .done:
            guard run.revision > 0 else { return "made\(reason)" }
            let change = (run.change ?? "").split(separator: "\n", omittingEmptySubsequences: false).map {
                HTML(String($0))
            }
            .joined(separator: "<br>")
            let mail: HTML =
                one.mailTo.isEmpty
                ? ""
                : "<form method=\"post\" action=\"/reports/schedules/mail\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("schedule", String(one.id)))\(FormView.hidden("due", String(run.dueMs / 1_000)))<button aria-label=\"Mail again what is due \(caller.clock.minute(run.dueMs))\">Mail again</button></form>"
            return
                "<strong class=\"warning\">revised</strong> by data that came late<details><summary>What changed</summary><p>\(change)</p></details>\(mail)"
        }
    }

    private func link(_ run: AccountScheduleStore.Run, _ one: AccountScheduleStore.Schedule) -> HTML? {
        guard run.isKept else { return nil }
        let format = one.format.uppercased()
        return
            "<a href=\"/reports/schedules/\(one.id)/\(run.dueMs / 1_000)\" aria-label=\"\(format) of \(days(run) ?? "")\">\(format)</a>"
    }

    // MARK: The forms

    private func times(_ one: AccountScheduleStore.Schedule) -> HTML {
        let plain = plain(one.cron)
        let fields: [FormView.Field] =
            [.hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "schedule", value: String(one.id))]
            + when(plain?.days.value ?? "", plain?.at ?? "06:00", plain == nil ? one.cron : "")
        return "<details><summary>Change time</summary>\n"
            + FormView.form("/reports/schedules/change", fields, "Save", id: "change-\(one.id)") + "</details>"
    }

    private func when(_ days: String, _ at: String, _ cron: String) -> [FormView.Field] {
        [
            .choice(name: "days", label: "Day", of: ScheduleView.days.map { ($0.value, $0.text) }, chosen: days),
            .input(name: "at", label: "At", type: "time", value: at, autocomplete: "off"),
            .optional(name: "cron", label: "Or cron", value: cron, autocomplete: "off").help(
                "Five fields, like 0 6 * * mon-fri"),
        ]
    }

    private var form: HTML {
        let spans = [
            ("day", "The day before"), ("week", "The week before"), ("month", "The month before"),
        ]
        let formats = ReportFormat.allCases.filter { $0 != .table }.map { ($0.rawValue, $0.rawValue.uppercased()) }
        let kinds = Report.Subject.ordered.filter { kind in reports.contains { $0.of == kind } }.map(\.rawValue)
        func value(_ name: String, _ standard: String = "") -> String { given?[name] ?? standard }
        var fields: [FormView.Field] = [
            .hidden(name: CSRFGuard.field, value: caller.mark),
            .choice(name: "report", label: "Report", of: reports.map { ($0.name, $0.title) }, chosen: value("report")),
            .choice(name: "span", label: "Time", of: spans, chosen: value("span")),
        ]
        fields += when(value("days"), value("at", "06:00"), value("cron"))
        fields += [
            .choice(name: "format", label: "Format", of: formats, chosen: value("format")),
            .optional(name: "of", label: ReportView.only(kinds), value: value("of"), autocomplete: "off")
                .help("Its id. Leave empty for all."),
        ]
        if !fleets.isEmpty {
            fields.append(
                .choice(
                    name: "fleet", label: "Fleet", of: [("", "All")] + fleets.map { ($0.id, $0.name) },
                    chosen: value("fleet")))
        }
        fields.append(.check(name: "mail", label: "Mail it to me, too"))
        return FormView.form("/reports/schedules/add", fields, "Schedule", id: "schedule")
    }
}
