import App
import Fleet
import Postgres
import Reports
import Settings

extension Command {
    static let dispatch = Command(
        name: "dispatch", operands: "why REQUEST",
        summary: "Why a ride came to its vehicle: who was tried, what each would have cost, and what moved it since.",
        options: [
            .init("--campus", "ID", "of this campus, where two have a request of that name"),
            .init("--format", "F", "table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover dispatch why r-1207 --campus north",
        run: { arguments in
            guard arguments.operands.count == 2, arguments.operands[0] == "why" else {
                throw UsageError("say `why REQUEST`")
            }
            let request = arguments.operands[1]
            let render = try arguments.one("--format", of: queryFormats, standard: "table")
            let campus = try arguments.text("--campus").map(campusID) ?? ""
            let rows = try vehicleReader(arguments).query(
                Home.reportQueries()["dispatch_why"], [.text(request), .text(campus)])
            guard rows.count > 0 else {
                throw Failure("\(request): no vehicle was tried for it, or there is no such request")
            }
            Out.result(render(try QueryOutput(rows)))
            return .done
        })
}
