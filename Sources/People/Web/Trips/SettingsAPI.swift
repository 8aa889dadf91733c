internal import Alerts
internal import Basics
internal import Codecs
internal import Formats
internal import HTTPServer
internal import Ingest
internal import Storage
internal import Telemetry

extension WebRoutes {
    /// The settings of the token's own account: docs/drivers.md.
    func addSettings(to router: inout Router) {
        router.add("GET", "/v1/settings") { [self] request in
            authorized(request, .account) { use in
                do {
                    let known = try withConnection { try AccountStore.settings(of: use.account, on: $0) }
                    return document(use.account, known?.settings ?? .standard, inForceMs: known?.inForceMs)
                        .conditional(request)
                } catch {
                    return databaseAway(request.path, error)
                }
            }
        }
        router.add("PUT", "/v1/settings") { [self] request in
            authorized(request, .account) { use in
                guard request.contentType == "application/json" else {
                    return .problem(415, type: "content-type", detail: "Settings come as application/json.")
                }
                return PackedBody.unpacked(request) { body in put(body, use.account) }
            }
        }
    }

    private func put(_ body: [UInt8], _ account: String) -> Response {
        let settings: DriverSettings
        do throws(DriverSettings.Fault) {
            settings = try DriverSettings(json: body)
        } catch {
            return .problem(422, type: "settings", detail: "\(error.description).")
        }
        let nowMs = Clock.nowMs()
        let upload = Upload(settings: settings.text, account: account, nowMs: nowMs)
        return failure(upload) ?? document(account, settings, inForceMs: nowMs)
    }

    private func document(_ account: String, _ settings: DriverSettings, inForceMs: Int64?) -> Response {
        .json(
            JSONValue.object([
                ("account", .text(account)), ("in_force", .optional(inForceMs.map(UTC.text))),
                ("settings", settings.whole),
            ]).rendered(indent: true))
    }
}
