import App

extension Command {
    static let run = Command(
        name: "run", operands: "--roles LIST [options]",
        summary:
            "Runs several roles in one process, each as its own command does: for a machine that has them all. When one fails, all stop. "
            + "SIGTERM: stops.",
        options: [.init("--roles", "LIST", "of work, notify, gateway, serve; separated by commas")]
            + SettingsSource.options,
        example: "drover run --roles work,notify,gateway,serve",
        run: { arguments in
            let roles = try roles(arguments.text("--roles"))
            try ServiceRoles.together(roles, SettingsSource.load(arguments)) { Out.note($0) }
            return .done
        })

    private static func roles(_ list: String?) throws -> [ServiceRole] {
        let known = ServiceRole.allCases.map(\.rawValue).joined(separator: ", ")
        guard let list else { throw UsageError("--roles is missing. Name some of \(known)") }
        var roles: [ServiceRole] = []
        for name in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let role = ServiceRole(rawValue: String(name)) else {
                throw UsageError("--roles \(list): `\(name)` is not one of \(known)")
            }
            guard !roles.contains(role) else { throw UsageError("--roles \(list): `\(name)` is named twice") }
            roles.append(role)
        }
        return roles
    }
}
