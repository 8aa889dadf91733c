package import Clients
package import Crypto
internal import Fleet
internal import Foundation
package import HTTPServer
package import Ingest
internal import Postgres
internal import Storage
package import Telemetry

/// One's notices: settings, history, and the links in mails: docs/notices.md.
package struct NoticeRoutes: Sendable {
    /// The channels of this installation.
    package struct Ways: Sendable {
        package var hasMail: Bool
        package var webhookHosts, pushHosts: AllowedHosts
        /// The key that browsers subscribe with: 65 bytes; nil: no pushes.
        package var pushKey: [UInt8]?
        /// Seals webhooks' keys and makes links; nil: neither.
        package var codeKey: CodeKey?

        package init(
            hasMail: Bool, webhookHosts: AllowedHosts, pushHosts: AllowedHosts, pushKey: [UInt8]?, codeKey: CodeKey?
        ) {
            self.hasMail = hasMail
            self.webhookHosts = webhookHosts
            self.pushHosts = pushHosts
            self.pushKey = pushKey
            self.codeKey = codeKey
        }
    }

    static let people = FleetRoutes.viewers
    private static let toldMax: Int64 = 200

    let access: AccessControl
    let pool: ConnectionPool
    let assets: AssetFiles
    let uploads: UploadSender
    let ways: Ways
    let log: Log

    /// - Parameter conninfo: of a login in drover_api, for links of mails.
    package init(
        access: AccessControl, conninfo: String, assets: AssetFiles, uploads: UploadSender, ways: Ways, log: Log
    ) {
        self.access = access
        self.assets = assets
        self.uploads = uploads
        self.ways = ways
        pool = ConnectionPool(conninfo: conninfo)
        self.log = log
    }

    package func add(to router: inout Router) {
        router.add("GET", "/notices") { request in
            access.page(request, for: NoticeRoutes.people) { caller, connection in
                let said = request.query["said"].flatMap { NoticeRoutes.said[$0] }
                return try page(caller, said.map { .done($0) }, connection)
            }
        }
        router.add("POST", "/notices") { request in access.form(request, for: NoticeRoutes.people, save) }
        router.add("POST", "/notices/steps") { request in access.form(request, for: NoticeRoutes.people, saveSteps) }
        router.add("POST", "/notices/webhook") { request in access.form(request, for: NoticeRoutes.people, saveWebhook)
        }
        router.add("POST", "/notices/browser") { request in access.form(request, for: NoticeRoutes.people, subscribe) }
        router.add("POST", "/notices/browser/end") { request in
            access.form(request, for: NoticeRoutes.people) { caller, fields, connection in
                try NoticeSettingStore.unsubscribe(
                    endpoint: fields["endpoint"] ?? "", of: caller.account, on: connection)
                return .seeOther("/notices?said=browser-ended")
            }
        }
        router.add("GET", "/push-worker.js") { [worker = assets.content("push-worker.js")] request in
            // From the root, for it belongs to all pages.
            Response(200, headers: [("Content-Type", "text/javascript; charset=utf-8")], body: worker)
                .conditional(request)
        }
        addLinks(to: &router)
    }

    private static let said = [
        "saved": "Saved. It holds for what is told from now on.", "browser": "This browser is told from now on.",
        "browser-ended": "That browser is not told any more.",
    ]

    func page(
        _ caller: PageCaller, _ notice: FormView.Notice?, typed: NoticeForm? = nil, secret: String? = nil,
        _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let isAll = !caller.roles.isDisjoint(with: [.operator, .administrator])
        let view = NoticeView(
            caller: caller, ways: ways,
            form: try typed ?? NoticeForm(NoticeSettingStore.setting(of: caller.account, on: connection)),
            setting: try NoticeSettingStore.setting(of: caller.account, on: connection),
            steps: try NoticeSettingStore.steps(of: caller.account, on: connection),
            colleagues: try NoticeSettingStore.colleagues(on: connection),
            browsers: try NoticeSettingStore.browsers(of: caller.account, on: connection),
            told: try NoticeSettingStore.told(rowsMax: NoticeRoutes.toldMax, on: connection), isAll: isAll,
            secret: secret,
            trouble: try isAll ? NoticeSettingStore.trouble(on: connection) : nil)
        var response = PageShell(caller: caller, assets: assets).page(
            "notices", at: "/notices", scripts: ways.pushKey == nil ? [] : ["push.js"],
            main: FormView.main("What you are told, and when", notice, view.html))
        response.status = status
        return response
    }

    private func save(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let form = NoticeForm(fields)
        do throws(NoticeForm.Fault) {
            let setting = try form.setting()
            do {
                try NoticeSettingStore.save(setting, of: caller.account, on: connection)
            } catch { throw NoticeForm.Fault(text: "it could not be kept: \(error)") }
            return .seeOther("/notices?said=saved")
        } catch {
            return try page(caller, .fault("Nothing was changed: \(error.text)."), typed: form, connection, status: 422)
        }
    }

    private func saveSteps(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let known = Set(try NoticeSettingStore.colleagues(on: connection).map(\.account))
        var steps: [NoticeSettingStore.Step] = []
        for number in 1...3 {
            let colleague = fields["colleague-\(number)"] ?? ""
            if colleague.isEmpty { continue }
            guard known.contains(colleague), let minutes = Int(fields["after-\(number)"] ?? ""),
                (5...1_440).contains(minutes), minutes > steps.last?.afterMin ?? 0
            else {
                return try page(
                    caller,
                    .fault(
                        "Nothing was changed: give colleagues of your fleets, each after more minutes (5 to 1440) than the one before."
                    ),
                    connection, status: 422)
            }
            steps.append(.init(afterMin: minutes, colleague: colleague))
        }
        try NoticeSettingStore.save(steps, of: caller.account, on: connection)
        return .seeOther("/notices?said=saved")
    }

    private func saveWebhook(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let url = (fields["url"] ?? "").filter { $0 != " " }
        if url.isEmpty {
            try NoticeSettingStore.save(webhook: nil, of: caller.account, on: connection)
            return .seeOther("/notices?said=saved")
        }
        guard let codeKey = ways.codeKey, ways.webhookHosts.allow(url) else {
            return try page(
                caller,
                .fault(
                    "Nothing was changed: the address must begin with https:// and be at a host that your operator allows."
                ),
                connection, status: 422)
        }
        let key = Secrets.random(32)
        try NoticeSettingStore.save(webhook: (url, codeKey.seal(key)), of: caller.account, on: connection)
        return try page(
            caller, .done("Messages go there from now on. The key below is shown this once."),
            secret: "whsec_" + Data(key).base64EncodedString(), connection)
    }

    private func subscribe(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        guard ways.pushKey != nil, let endpoint = fields["endpoint"], ways.pushHosts.allow(endpoint),
            let key = fields["p256dh"].flatMap({ Base64URL.bytes($0.filter { $0 != "=" }) }), key.count == 65,
            key[0] == 4,
            let auth = fields["auth"].flatMap({ Base64URL.bytes($0.filter { $0 != "=" }) }), auth.count == 16
        else {
            return .problem(
                422, type: "form", detail: "This browser's push service is not one that your operator allows.")
        }
        let agent = String(decoding: Array((fields["agent"] ?? "").utf8.prefix(300)), as: UTF8.self)
        try NoticeSettingStore.subscribe(endpoint: endpoint, key: key, auth: auth, agent: agent, on: connection)
        return .seeOther("/notices?said=browser")
    }
}
