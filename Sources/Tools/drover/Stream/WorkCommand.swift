import App

extension Command {
    static let work = Command(
        name: "work", operands: "[options]",
        summary: "Runs a worker: topics in, results to PostgreSQL, exactly once. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover work --set kafka.instance_id=worker-1",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            try ServiceRoles.work(settings)
            return .done
        })
}
