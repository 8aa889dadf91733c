import App

extension Command {
    static let serve = Command(
        name: "serve", operands: "[options]",
        summary:
            "Serves the page, uploads, the models and riders' and ride drivers' apps, and publishes changed threshold "
            + "files. SIGHUP: looks at the certificates and the files at once. SIGTERM: stops.",
        options: [.init("--port", "N", "port of the page (default 8080; 0: any free one)")] + SettingsSource.options,
        example: "drover serve --port 8080",
        run: { arguments in
            let port = try arguments.integer("--port", in: 0...65_535)
            let settings = try SettingsSource.load(arguments, overrides: port.map { ["web.port": String($0)] } ?? [:])
            try ServiceRoles.serve(settings) { Out.note($0) }
            return .done
        })
}
