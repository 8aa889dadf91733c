internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// Where pointing at a machine begins: the camera, and what one does without it.
struct FieldEntryView {
    struct Machine {
        let vehicle: String
        let name, model: String?
        let lastMs: Int64?
        let openAlerts: Int
        let severity: Episode.Severity?

        init(_ row: Row) throws {
            vehicle = try row.text("vehicle")!
            name = try row.text("name")
            model = try row.text("model")
            lastMs = try row.timestampMs("last_reading_at")
            openAlerts = try row.int("open_alerts")!
            severity = try row.word("worst_severity")
        }
    }

    /// Nil: nothing was.
    let typed: String?
    /// It was the address of something else.
    let isForeign: Bool
    let found: [MachineCode]
    let machines: [Machine]
    let isMore: Bool
    let caller: PageCaller
    let nowMs: Int64
    let assets: AssetFiles
    /// The host of these pages as stickers name it; nil: it is not said.
    let site: String?

    var html: HTML {
        """
        <div id="point" class="point stack" data-decoder="\(assets.address("qr/decode.js"))" data-site="\(site ?? "")">
        <div id="asof" class="strip warning" role="status" hidden></div>
        \(FieldEntryView.camera)
        \(answer)
        \(FieldEntryView.typing(typed ?? ""))
        <div id="found" hidden></div>
        \(list)
        </div>
        """
    }

    /// For a device without a network: what it kept is shown by its script, nothing of anybody is in here. Its decoder and icons are kept
    /// with it.
    static func offline(_ assets: AssetFiles, site: String?) -> HTML {
        """
        <h1>Field view</h1>
        <div id="point" class="point stack" data-decoder="\(assets.address("qr/decode.js"))" data-site="\(site ?? "")" data-offline \
        data-keep="\(assets.address("qr/decode.js")) /assets/qr/index.js /assets/icons.svg">
        <div id="asof" class="strip warning" role="status">\(HTML.icon(.offline))<span class="grow">No network. What this device kept is shown.</span></div>
        \(camera)
        \(typing(""))
        <div id="found" hidden></div>
        <section class="card" id="kept" hidden><header><h2>Kept on this device</h2></header><ul class="plain"></ul></section>
        </div>
        """
    }

    /// Shown by its script.
    private static var camera: HTML {
        """
        <section class="card" id="scene" aria-label="Camera" hidden>
        <div class="picture"><video id="video" playsinline muted hidden></video><canvas id="still" hidden></canvas>\
        <div class="frame" aria-hidden="true" hidden></div><div id="over"></div></div>
        <div class="row wrap body tight"><button class="btn primary" type="button" id="open">\(HTML.icon(.camera))Open the camera</button>\
        <button class="btn" type="button" id="freeze" aria-pressed="false" hidden>\(HTML.icon(.pause))Freeze</button>\
        <button class="btn" type="button" id="shut" hidden>\(HTML.icon(.close))Close</button>\
        <label class="btn" id="photo-label">\(HTML.icon(.photo))Use a photo<input class="sr" id="photo" type="file" accept="image/*" capture="environment"></label></div>
        <p class="soft body tight" id="said" role="status">Point the camera at the sticker on a machine.</p>
        </section>
        """
    }

    private static func typing(_ typed: String) -> HTML {
        """
        <form class="card" id="typed" method="get" action="/field"><div class="body form"><div class="fld">\
        <label for="code">Serial number, Machine ID or name</label><div class="row"><input id="code" name="code" type="text" required \
        maxlength="300" autocomplete="off" autocapitalize="characters" spellcheck="false" class="box grow" value="\(typed)">\
        <button class="btn primary">Show</button></div></div></div></form>
        """
    }

    private var answer: HTML {
        guard let typed, !typed.allSatisfy(\.isWhitespace) else { return "" }
        if isForeign {
            return
                "<p class=\"strip warning\" role=\"alert\">\(HTML.icon(.warn))<span>That code is no sticker of this site. Nothing was opened.</span></p>"
        }
        guard !found.isEmpty else {
            return
                "<p class=\"strip warning\" role=\"alert\">\(HTML.icon(.find))<span>No machine that you may see has <b>\(typed)</b> on it.</span></p>"
        }
        let items: [HTML] = found.map { machine in
            """
            <li><a class="item" href="/field/\(encoded: machine.vehicle)"><span class="ic s">\(HTML.icon(.tractor))</span>\
            <span><b>\(machine.name ?? machine.vehicle)</b><small>\(FieldEntryView.about(machine.vehicle, machine.name, machine.model))</small></span>\
            \(HTML.icon(.right))</a></li>
            """
        }
        return
            "<section class=\"card\"><header><h2>Which one?</h2></header><ul class=\"plain\">\(items.joined())</ul></section>"
    }

    private static func about(_ vehicle: String, _ name: String?, _ model: String?) -> String {
        [name == nil ? nil : vehicle, model].compactMap { $0 }.joined(separator: ", ")
    }

    private var list: HTML {
        guard !machines.isEmpty else {
            return """
                <section class="card">\(HTML.emptyState(
                    .tractor, t("No machines yet"), .t("Machines that you may see are listed here."),
                    action: "<a class=\"btn\" href=\"/vehicles\">Vehicles</a>"))</section>
                """
        }
        let items: [HTML] = machines.map { machine in
            let pill: HTML =
                machine.severity.map { HTML.pill($0.rawValue, t("\(machine.openAlerts) open")) }
                ?? HTML.pill("ok", t("Nothing open"))
            let about = FieldEntryView.about(machine.vehicle, machine.name, machine.model)
            let heard = machine.lastMs.map { caller.words.age($0, nowMs: nowMs) } ?? t("nothing heard yet")
            return """
                <li><a class="item" href="/field/\(encoded: machine.vehicle)" data-machine="\(machine.vehicle)">\
                <span class="ic s">\(HTML.icon(.tractor))</span><span><b>\(machine.name ?? machine.vehicle)</b>\
                <small>\(about.isEmpty ? heard : "\(about), \(heard)")</small></span>\(pill)</a></li>
                """
        }
        let more: HTML = isMore ? "<a class=\"more link\" href=\"/vehicles?kind=machine\">All machines</a>" : ""
        return """
            <section class="card" id="machines"><header><h2>Your machines</h2><span class="count">\(machines.count)</span>\(more)\
            <button class="btn small end" type="button" id="take" hidden>\(HTML.icon(.download))Keep for offline</button></header>\
            <ul class="plain">\(items.joined(separator: "\n"))</ul></section>
            """
    }
}
