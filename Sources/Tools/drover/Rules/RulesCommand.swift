import Alerts
import App
import Backtesting
import Basics
import Fleet
import Settings

extension Command {
    static let rulesPublish = Command(
        name: "rules publish", operands: "[DIR] [options]",
        summary: "Checks a folder of threshold files and puts its rules on the log of every partition.",
        options: [
            .init("--check", nil, "only check the files; needs no server")
        ] + SettingsSource.options,
        example: "drover rules publish Deploy/thresholds --check",
        run: { arguments in
            guard arguments.operands.count <= 1 else { throw UsageError("name one folder") }
            let settings = try SettingsSource.load(arguments)
            let directory = try arguments.operands.first ?? Home.path(settings.text("alerts.thresholds_dir"))
            let rules = try Rules.load(directory)
            guard !arguments.has("--check") else {
                let own = rules.machines.isEmpty ? "" : ", machines with rules of their own: \(rules.machines.count)"
                Out.result("version \(rules.version), models: \(rules.modelNames.joined(separator: ", "))\(own)")
                return .done
            }
            let outcome = try RulesPublication(settings: settings).publish(rules)
            for change in outcome.changes { Out.result(change.description) }
            Out.result(
                outcome.told == 0
                    ? "version \(rules.version) is in force already; nothing was published"
                    : "version \(rules.version) is in force from \(UTC.text(outcome.fromMs)) on, "
                        + "put on \(outcome.told) of \(outcome.partitions) partitions of \(Topic.machines)")
            return .done
        })

    static let rulesTest = Command(
        name: "rules test", operands: "[DIR] [options]",
        summary: "Runs the rule tests of a folder of threshold files (DIR/tests/*.yaml). Needs no server.",
        options: [.init("--tests", "DIR", "folder of the tests (default: tests in the folder of the rules)")],
        example: "drover rules test Deploy/thresholds",
        run: { arguments in
            guard arguments.operands.count <= 1 else { throw UsageError("name one folder") }
            let directory = try arguments.operands.first ?? Home.path("Deploy/thresholds")
            let rules = try Rules.load(directory)
            let folder = arguments.text("--tests") ?? directory + "/tests"
            let run = RuleTestRun(try Rules.tests(folder), by: rules)
            for text in run.faults + run.failures { Out.note(text) }
            guard run.tests > 0 || !run.faults.isEmpty else { throw Failure("\(folder): holds no rule tests (*.yaml)") }
            Out.result(run.summary)
            return run.isRight ? .done : .failed
        })
}
