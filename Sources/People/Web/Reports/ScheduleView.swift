internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// One's schedules with their last runs, and the form for another one.
struct ScheduleView {
    typealias Days = (value: String, text: String, cron: String)

    /// When a form can say that a report comes, and its fields of a crontab line.
    static var days: [Days] {
        [
            ("day", t("Every day"), "* * *"), ("weekdays", t("Every weekday"), "* * mon-fri"),
            ("monday", t("Every Monday"), "* * mon"), ("tuesday", t("Every Tuesday"), "* * tue"),
            ("wednesday", t("Every Wednesday"), "* * wed"), ("thursday", t("Every Thursday"), "* * thu"),
            ("friday", t("Every Friday"), "* * fri"), ("saturday", t("Every Saturday"), "* * sat"),
            ("sunday", t("Every Sunday"), "* * sun"), ("month", t("On the first of each month"), "1 * *"),
        ]
    }

    let caller: PageCaller
    let reports: [Report]
    let fleets: [ReportView.Fleet]
    let schedules: [AccountScheduleStore.Schedule]
    /// The newest first.
    let runs: [AccountScheduleStore.Run]
    /// What the vehicles are called that schedules are narrowed to, by id.
    let vehicles: [String: String]
    /// The values of a form that was not accepted.
    let given: FormFields?

    var html: HTML {
        """
        <p class="soft small">Times in \(caller.clock.zone), \(caller.units == .us ? t("US units") : t("metric units")). <a href="/account">Change</a></p>
        <div class="split">
        <div class="stack">\(schedules.isEmpty ? none : schedules.map(section).joined(separator: "\n"))</div>
        <section class="card" aria-labelledby="another"><header><h2 id="another">Schedule a report</h2></header>
        <div class="body">\(form)</div>
        </section>
        </div>
        """
    }

    static var heading: PageHeading { PageHeading(t("Scheduled reports"), crumb: (t("Reports"), "/reports")) }

    private var none: HTML {
        "<section class=\"card\">\(HTML.emptyState(.calendar, t("No scheduled reports yet"), .t("Choose a report and when it comes. It is kept here, and mailed if you like.")))</section>"
    }

    // MARK: Schedules

    private func section(_ one: AccountScheduleStore.Schedule) -> HTML {
        """
        <section class="card" aria-labelledby="schedule-\(one.id)"><header><h2 id="schedule-\(one.id)">\(name(one))</h2></header>
        <div class="body"><dl><dt>When</dt><dd>\(when(one))</dd><dt>Next</dt><dd>\(next(one))</dd><dt>Last</dt><dd>\(last(one))</dd><dt>To</dt><dd>\(destination(one)) \(owner(one))</dd></dl>
        <div class="row wrap tools">\(buttons(one))</div>
        \(one.account == nil ? "" : times(one))</div>
        \(history(one))
        </section>
        """
    }

    /// For people who see those of others as well.
    private func owner(_ one: AccountScheduleStore.Schedule) -> String {
        guard caller.roles.contains(.administrator) else { return "" }
        guard let account = one.account else { return t("It comes with Drover; nobody has switched it on.") }
        return t("It shows what \(caller.person(account)) may see.")
    }

    /// `Fuel of the month before, North farm, PDF`
    private func name(_ one: AccountScheduleStore.Schedule) -> String {
        let report = Report.named(one.report)
        let title = report.map(ReportWords.title) ?? one.report
        let timed =
            switch ReportSpan.Length(rawValue: one.span) {
            case .day: t("\(title) of the day before")
            case .week: t("\(title) of the week before")
            case .month: t("\(title) of the month before")
            case nil: title
            }
        let of = report?.of == .vehicle ? vehicles[one.of] ?? one.of : one.of
        let fleet = fleets.first { $0.id == one.fleet }?.name ?? one.fleet
        return [timed, of, fleet, one.format.uppercased()].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// In words when the page's own form could have said it; with the zone where it is not the reader's.
    private func when(_ one: AccountScheduleStore.Schedule) -> String {
        let times = plain(one.cron).map { t("\($0.days.text) at \($0.at)") } ?? one.cron
        return one.zone == caller.clock.zone ? times : t("\(times), time of \(one.zone)")
    }

    /// Nil where the page's own form could not have said it.
    private func plain(_ cron: String) -> (days: Days, at: String)? {
        let fields = cron.split(separator: " ")
        let days = ScheduleView.days.first { $0.cron == fields.dropFirst(2).joined(separator: " ") }
        guard let days, fields.count == 5, let minute = Int64(fields[0]), let hour = Int64(fields[1]) else {
            return nil
        }
        return (days, "\(UTC.two(hour)):\(UTC.two(minute))")
    }

    private func next(_ one: AccountScheduleStore.Schedule) -> HTML {
        if let trouble = one.trouble { return "<span class=\"critical\">\(trouble)</span>" }
        guard one.isEnabled else { return .t("Off") }
        let left: HTML? = one.leftOutMs.map {
            "<br><span>Left out: what fell due until \(caller.clock.html($0))</span>"
        }
        return "\(one.nextMs.map(caller.clock.html) ?? .t("In a moment"))\(left)"
    }

    /// What became of the newest run.
    private func last(_ one: AccountScheduleStore.Schedule) -> HTML {
        guard let run = runs.first(where: { $0.schedule == one.id }) else { return .t("Nothing yet") }
        switch run.state {
        case .done:
            let rows = run.rows.map { caller.words.count($0, .row) } ?? ""
            let made = caller.clock.html(run.madeMs ?? run.dueMs)
            return "\(HTML.pill("ok", t("Ready"))) \(link(run, one)) \(made) \(rows)"
        case .waiting where run.tries == 0: return HTML.pill("quiet", t("Waiting"))
        case .waiting: return "\(HTML.pill("warning", t("Trying again"))) \(run.reason ?? "")"
        case .failed: return "\(HTML.pill("critical", t("Failed"))) \(run.reason ?? "")"
        }
    }

    private func destination(_ one: AccountScheduleStore.Schedule) -> String {
        let mails = one.mailTo.map { account in
            account == caller.account ? t("mailed to you") : t("mailed to \(caller.person(account))")
        }
        let places = mails + (one.isFiled ? [t("saved in the folder")] : []) + [t("kept here")]
        return PageShell.sentence(places.joined(separator: ", ")) + "."
    }

    private func buttons(_ one: AccountScheduleStore.Schedule) -> HTML {
        let what = name(one)
        func button(_ action: String, _ text: String) -> HTML {
            "<form method=\"post\" action=\"/reports/schedules/\(action)\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("schedule", String(one.id)))<button aria-label=\"\(text): \(what)\">\(text)</button></form>"
        }
        let end = one.account == nil ? "" : button("end", one.shipped == nil ? t("Delete") : t("Give back"))
        let turn = one.isEnabled ? t("Switch off") : one.account == nil ? t("Use this") : t("Switch on")
        return button(one.isEnabled ? "off" : "on", turn)
            + (one.account == nil ? "" : button("run", t("Run now"))) + end
    }

    // MARK: Runs

    private func history(_ one: AccountScheduleStore.Schedule) -> HTML {
        let own = runs.filter { $0.schedule == one.id }
        guard !own.isEmpty else { return "" }
        return HTML.table(
            caption: t("Runs of \(distinct(one))"),
            headers: [
                .word(t("File")), .word(t("Days")), .prose(t("Result")), .word(t("Due")), .number(t("Rows")),
                .number(t("Mails")),
            ],
            rows: own.map { run in
                [
                    link(run, one), .text(days(run)), state(run, one), caller.clock.html(run.dueMs),
                    run.rows.map { "\($0)" }, "\(run.mails)",
                ]
            }, empty: "")
    }

    /// Its name; of several of one name each has its number, since a page's regions are told apart by theirs.
    private func distinct(_ one: AccountScheduleStore.Schedule) -> String {
        let name = name(one)
        let same = schedules.filter { self.name($0) == name }
        guard same.count > 1, let place = same.firstIndex(where: { $0.id == one.id }) else { return name }
        return "\(name) (\(place + 1))"
    }

    private func days(_ run: AccountScheduleStore.Run) -> String? {
        guard let first = run.first, let last = run.last else { return nil }
        return first == last ? first : t("\(first) to \(last)")
    }

    private func state(_ run: AccountScheduleStore.Run, _ one: AccountScheduleStore.Schedule) -> HTML {
        let reason = run.reason.map { ": \($0)" } ?? ""
        switch run.state {
        case .failed: return "<span class=\"critical\">Given up</span>\(reason)"
        case .waiting:
            return run.tries == 0
                ? "<span>Waits until \(caller.clock.html(run.tryMs))</span>"
                : "<span class=\"warning\">\(t(run.tries, one: "Failed once", many: "Failed \(run.tries) times"))</span>\(reason)<br><span>Next try \(caller.clock.html(run.tryMs))</span>"
        case .done:
            guard run.revision > 0 else { return "<span>Ready</span>\(reason)" }
            let change = (run.change ?? "").split(separator: "\n", omittingEmptySubsequences: false).map {
                HTML(String($0))
            }
            .joined(separator: "<br>")
            let mail: HTML =
                one.mailTo.isEmpty
                ? ""
                : "<form method=\"post\" action=\"/reports/schedules/mail\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("schedule", String(one.id)))\(FormView.hidden("due", String(run.dueMs / 1_000)))<button aria-label=\"Mail again what was due \(caller.clock.minute(run.dueMs))\">Mail again</button></form>"
            return
                "<strong class=\"warning\">Revised</strong> by data that came late<details><summary>What changed</summary><p>\(change)</p></details>\(mail)"
        }
    }

    private func link(_ run: AccountScheduleStore.Run, _ one: AccountScheduleStore.Schedule) -> HTML? {
        guard run.isKept else { return nil }
        let format = one.format.uppercased()
        return
            "<a href=\"/reports/schedules/\(one.id)/\(run.dueMs / 1_000)\" aria-label=\"\(t("\(format) of \(days(run) ?? "")"))\">\(format)</a>"
    }

    // MARK: The forms

    private func times(_ one: AccountScheduleStore.Schedule) -> HTML {
        let plain = plain(one.cron)
        let fields: [FormView.Field] =
            [.hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "schedule", value: String(one.id))]
            + when(plain?.days.value ?? "", plain?.at ?? "06:00", plain == nil ? one.cron : "")
        return "<details><summary>Change time</summary>\n"
            + FormView.form("/reports/schedules/change", fields, t("Save"), id: "change-\(one.id)") + "</details>"
    }

    private func when(_ days: String, _ at: String, _ cron: String) -> [FormView.Field] {
        [
            .choice(name: "days", label: t("Day"), of: ScheduleView.days.map { ($0.value, $0.text) }, chosen: days),
            .input(name: "at", label: t("At"), type: "time", value: at, autocomplete: "off"),
            .optional(name: "cron", label: t("Or cron"), value: cron, autocomplete: "off").help(
                t("For any other times: five fields, like 0 6,18 * * mon-fri")),
        ]
    }

    private var form: HTML {
        let spans = [
            ("day", t("The day before")), ("week", t("The week before")), ("month", t("The month before")),
        ]
        let formats = ReportFormat.allCases.filter { $0 != .table }.map { ($0.rawValue, $0.rawValue.uppercased()) }
        let reports = ReportWords.ordered(reports, for: caller.roles)
        let hasNames = reports.contains { $0.of == .vehicle }
        func value(_ name: String, _ standard: String = "") -> String { given?[name] ?? standard }
        var fields: [FormView.Field] = [
            .hidden(name: CSRFGuard.field, value: caller.mark),
            .choice(
                name: "report", label: t("Report"), of: reports.map { ($0.name, ReportWords.title($0)) },
                chosen: value("report")),
            .choice(name: "span", label: t("Time"), of: spans, chosen: value("span")),
        ]
        fields += when(value("days"), value("at", "06:00"), value("cron"))
        fields += [
            .choice(name: "format", label: t("Format"), of: formats, chosen: value("format", "pdf")),
            .optional(name: "of", label: ReportWords.only(reports), value: value("of"), autocomplete: "off")
                .attributes(hasNames ? " list=\"vehicles\"" : "").help(t("Leave empty for all.")),
        ]
        if !fleets.isEmpty {
            fields.append(
                .choice(
                    name: "fleet", label: t("Fleet"), of: [("", t("All"))] + fleets.map { ($0.id, $0.name) },
                    chosen: value("fleet")))
        }
        fields.append(.check(name: "mail", label: t("Mail it to me, too")))
        return FormView.form(
            "/reports/schedules/add", fields, t("Schedule"), id: "schedule",
            note: hasNames ? VehicleNames.list(kind: nil) : "")
    }
}
