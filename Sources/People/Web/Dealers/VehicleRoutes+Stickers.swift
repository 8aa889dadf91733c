internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// Stickers for machines as a PDF, whose codes open the field view.
extension VehicleRoutes {
    func addStickers(to router: inout Router) {
        router.add("GET", "/vehicles/stickers") { request in
            access.page(request, for: WebRoutes.fleetReaders) { caller, connection in
                try stickers(request, caller, connection)
            }
        }
    }

    /// Of the machines that are named, else of all that the list's filter leaves.
    private func stickers(_ request: Request, _ caller: PageCaller, _ connection: Connection) throws -> Response {
        let named = request.queryItems.filter { $0.name == "vehicle" }.map(\.value)
        let vehicles = named.isEmpty ? [] : VehicleRoutes.selected(named)
        let paper =
            request.query["paper"].map(StickerSheet.Paper.init(rawValue:)) ?? StickerSheet.Paper.standard(caller)
        guard let vehicles, let paper else {
            return .problem(
                400, type: "stickers",
                detail:
                    "`vehicle` must be ids of machines, \(DealerMarkStore.machinesMax) at most; `paper` a4 or letter.")
        }
        func asked(_ name: String) -> String { String((request.query[name] ?? "").prefix(64)) }
        let rows = try connection.query(
            queries["sticker_machines"],
            [
                .textArray(vehicles), .text(asked("search")), .text(asked("tag")), .text(asked("class")),
                .text(asked("own")), .int8(Int64(StickerSheet.stickersMax) + 1),
            ])
        guard !rows.isEmpty else {
            return .problem(404, type: "not-found", detail: "There is no such machine that you may see.")
        }
        guard rows.count <= StickerSheet.stickersMax else {
            return .problem(
                422, type: "stickers",
                detail: "A sheet has \(StickerSheet.stickersMax) stickers at most. Select machines, or filter the list."
            )
        }
        guard let site = site(request) else {
            return .problem(
                503, type: "address",
                detail: "The codes need the address of these pages: the setting web.public_url.")
        }
        let stickers = try rows.map { row in
            let vehicle = try row.text("vehicle")!
            return StickerSheet.Sticker(
                vehicle: vehicle, name: try row.text("name"), model: try row.text("model"),
                address: "\(site)/field/\(URLText.escaped(vehicle))")
        }
        return Response(
            200,
            headers: [
                ("Content-Type", "application/pdf"), ("X-Content-Type-Options", "nosniff"),
                ("Content-Disposition", "inline; filename=\"qr-stickers.pdf\""),
            ], body: try StickerSheet(stickers, on: paper).file(madeMs: Clock.nowMs()))
    }

    /// The address of these pages, without a slash at its end: as it is set, else as the browser has it. Nil: neither is known.
    private func site(_ request: Request) -> String? {
        guard publicAddress.isEmpty else {
            return publicAddress.hasSuffix("/") ? String(publicAddress.dropLast()) : publicAddress
        }
        // A name or address with its port, and nothing else (RFC 9110, 7.2).
        guard let host = request.headers["host"], (1...255).contains(host.utf8.count),
            host.utf8.allSatisfy({ byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || ".-:[]".utf8.contains(byte)
            })
        else { return nil }
        return (isSecure ? "https://" : "http://") + host
    }
}

extension StickerSheet.Paper {
    static func standard(_ caller: PageCaller) -> StickerSheet.Paper { caller.units == .us ? .letter : .a4 }

    /// Of a form's choice.
    static func options(_ caller: PageCaller) -> HTML {
        HTML.options(allCases.map { ($0.rawValue, $0.words) }, standard(caller).rawValue)
    }

    /// The paper, and the labels that it is for.
    var words: String {
        switch self {
        case .a4: t("A4, labels 70 × 37 mm")
        case .letter: t("Letter, labels 2.83 × 1.31 in")
        }
    }
}
