package import Clients
package import Crypto
internal import Fleet
internal import Foundation
package import HTTPServer
package import Ingest
internal import Notifications
internal import Postgres
internal import Presentation
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
    private static let toldMax: Int64 = 50

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
                return try page(caller, said.map { .done($0) }, query: request.query, connection)
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

    private static var said: [String: String] {
        [
            "saved": t("Saved. It holds for what happens from now on."),
            "browser": t("This browser gets notifications from now on."),
            "browser-ended": t("That browser gets no more notifications."),
        ]
    }

    /// The channels on which a message to its owner would come.
    private func reach(_ setting: NoticeSetting, browsers: Int) -> Set<NoticeChannel> {
        Set(
            NoticeChannel.allCases.filter { channel in
                switch channel {
                case .mail: ways.hasMail && !setting.isMailEnded
                case .push: ways.pushKey != nil && browsers > 0
                case .webhook: setting.webhookURL != nil && !ways.webhookHosts.isEmpty
                }
            })
    }

    func page(
        _ caller: PageCaller, _ notice: FormView.Notice?, typed: NoticeForm? = nil,
        steps typedSteps: NoticeStepsForm? = nil,
        webhook: (typed: String, error: String)? = nil, secret: String? = nil, query: [String: String] = [:],
        _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let isAll = !caller.roles.isDisjoint(with: [.operator, .administrator])
        let setting = try NoticeSettingStore.setting(of: caller.account, on: connection)
        let steps = try NoticeSettingStore.steps(of: caller.account, on: connection)
        let colleagues = try NoticeSettingStore.colleagues(on: connection)
        let browsers = try NoticeSettingStore.browsers(of: caller.account, on: connection)
        let reach = reach(setting, browsers: browsers.count)
        let view = NoticeView(
            caller: caller, ways: ways, form: typed ?? NoticeForm(setting), setting: setting,
            steps: typedSteps ?? NoticeStepsForm(steps), colleagues: colleagues,
            flow: NoticeFlow(setting: setting, steps: steps, colleagues: colleagues, reach: reach, query: query),
            reach: reach, browsers: browsers,
            told: try NoticeSettingStore.told(rowsMax: NoticeRoutes.toldMax, on: connection), isAll: isAll,
            webhook: webhook, secret: secret,
            trouble: try isAll ? NoticeSettingStore.trouble(on: connection) : nil, nowMs: Clock.nowMs())
        var response = PageShell(caller: caller, assets: assets).page(
            t("Notifications"), at: "/notices", heading: PageHeading(t("Notifications")),
            scripts: ["alerts/notices.js"] + (ways.pushKey == nil ? [] : ["push.js"]),
            main: "\(notice.map(HTML.notice))\(view.html)")
        response.status = status
        return response
    }

    private func save(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        var form = NoticeForm(fields)
        guard let setting = form.setting() else {
            return try page(
                caller, .fault(t("Not saved. Please check what is marked.")), typed: form, connection, status: 422)
        }
        try NoticeSettingStore.save(setting, of: caller.account, on: connection)
        return .seeOther("/notices?said=saved")
    }

    private func saveSteps(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let known = Set(try NoticeSettingStore.colleagues(on: connection).map(\.account))
        var form = NoticeStepsForm(fields)
        guard let steps = form.steps(known) else {
            return try page(
                caller, .fault(t("Not saved. Please check what is marked.")), steps: form, connection, status: 422)
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
                caller, .fault(t("Not saved. Please check what is marked.")),
                webhook: (url, t("Must begin with https:// and be at a host that your operator allows.")), connection,
                status: 422)
        }
        let key = Secrets.random(32)
        try NoticeSettingStore.save(webhook: (url, codeKey.seal(key)), of: caller.account, on: connection)
        return try page(
            caller, .done(t("Webhook saved. Copy its key now: it is shown only once.")),
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
