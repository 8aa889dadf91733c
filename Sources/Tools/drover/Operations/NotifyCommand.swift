import App

extension Command {
    static let notify = Command(
        name: "notify", operands: "[options]",
        summary:
            "Brings what the workers decided to its topics and to people, waiting mail to the mail server, surveys to a "
            + "collector; makes reports that fall due. "
            + "Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover notify --set postgres.relay_url='dbname=drover user=drover_notify'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            try ServiceRoles.notify(settings)
            return .done
        })
}
