internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// What a ride is asked for with: a place by its name and *Request ride*. Whoever goes elsewhere types an address or taps the map.
struct RideAskView {
    private static let againMax = 3
    /// More than people look through.
    private static let listMax = 12

    let caller: PageCaller
    let settings: CampusSettings
    let recent: [RideNow]
    /// As it was typed.
    let typed: [String: String]
    let key: String

    private var names: PlaceNames { PlaceNames(settings) }

    var html: HTML {
        """
        \(again)
        <form class="fields" method="post" action="/ride" id="ask">
        \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("key", key))
        \(from)
        \(to)
        <div class="pair"><div><label for="passengers">Passengers</label><input id="passengers" name="passengers" type="number" min="1" max="100" required value="\(typed["passengers"] ?? "1")"></div>
        <div><label for="description">Note for the driver</label><input id="description" name="description" type="text" placeholder="Optional" maxlength="300" autocomplete="off" value="\(typed["description"] ?? "")"></div></div>
        <p class="soft small">One end is on campus, the other at most \(reach) outside.</p>
        <p class="go"><span id="asking" role="status" class="soft small"></span><button class="btn primary wide">Request ride</button></p>
        </form>
        """
    }

    private var reach: String { CampusTextView.distance(Double(settings[.reachM]) / 1_000, caller) }

    // MARK: The same again

    /// Forms of their own: Enter in a field of the other one asks for what is in it.
    private var again: HTML {
        var seen: Set<String> = []
        let rides = recent.filter { seen.insert(way($0)).inserted }.prefix(RideAskView.againMax)
        guard !rides.isEmpty else { return "" }
        let forms: [HTML] = rides.map { ride in
            """
            <form method="post" action="/ride">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("key", CampusPageRoutes.newKey()))\
            \(FormView.hidden("again", ride.pickup.request))\(FormView.hidden("passengers", "\(ride.pickup.passengers)"))\
            <button class="btn wide" title="Request this ride again">\(HTML.icon(.history))<span>\(way(ride))</span></button></form>
            """
        }
        return "<div class=\"again\" role=\"group\" aria-label=\"Ride again\">\(forms.joined())</div>"
    }

    private func way(_ ride: RideNow) -> String {
        let pickup = ride.pickup
        let from = CampusTextView.place(pickup.fromAddress, pickup.from, names)
        return t("\(from) to \(CampusTextView.place(pickup.toAddress, pickup.to, names))")
    }

    // MARK: The ends

    private var from: HTML {
        let options: [HTML] = names.all.map { place in
            "<option value=\"\(place.name)\" data-at=\"\(CampusTextView.data(place.place))\"\(" selected", if: typed["from_place"] == place.name)>\(place.name)</option>"
        }
        let choice: HTML =
            options.isEmpty
            ? ""
            : """
            <label class="sr" for="from_place">Start</label><select id="from_place" name="from_place" data-places="from_">\
            <option value="">My position</option>\(options.joined())</select>
            """
        return """
            <fieldset data-end="from_"><legend>From</legend>
            \(choice)
            \(elsewhere("from_", address: t("Address of the start"), latitude: t("Latitude of the start, degrees"), longitude: t("Longitude of the start, degrees")))
            </fieldset>
            """
    }

    private var to: HTML {
        let choices: [HTML] = names.all.map { place in
            "<label class=\"choice\"><input type=\"radio\" name=\"to_place\" value=\"\(place.name)\" data-at=\"\(CampusTextView.data(place.place))\"\(" checked", if: typed["to_place"] == place.name)><span>\(place.name)</span></label>"
        }
        let other: HTML =
            "<label class=\"choice\"><input type=\"radio\" name=\"to_place\" value=\"\"\(" checked", if: typed["to_place"] == "")><span>Another place</span></label>"
        let find: HTML =
            choices.count > RideAskView.listMax
            ? "<p class=\"tools\" hidden><input type=\"search\" data-filter=\"to_\" aria-label=\"Find a place\" placeholder=\"Find a place\" autocomplete=\"off\"></p>"
            : ""
        let choice: HTML =
            choices.isEmpty
            ? "" : "\(find)<div class=\"choices\" data-places=\"to_\">\((choices + [other]).joined())</div>"
        return """
            <fieldset data-end="to_"><legend>To</legend>
            \(choice)
            \(elsewhere("to_", address: t("Address of the destination"), latitude: t("Latitude of the destination, degrees"), longitude: t("Longitude of the destination, degrees")))
            </fieldset>
            """
    }

    /// Closed where a place by its name is nearer at hand, and nothing is typed.
    private func elsewhere(_ prefix: String, address: String, latitude: String, longitude: String) -> HTML {
        let text = typed[prefix + "address"] ?? ""
        let isPlaced =
            !(typed[prefix + "latitude_deg"] ?? "").isEmpty || !(typed[prefix + "longitude_deg"] ?? "").isEmpty
        let here: HTML =
            prefix == "from_"
            ? "<button type=\"button\" class=\"quiet\" data-here=\"from_\">Use my position</button>" : ""
        let fields: HTML = """
            <label for="\(prefix)address">\(address)</label><input id="\(prefix)address" name="\(prefix)address" type="text" maxlength="200" autocomplete="off" value="\(text)">
            <p class="tools" hidden><button type="button" class="quiet" data-pick="\(prefix)">Choose on the map</button>\(here)</p>
            <details class="small"\(" open", if: isPlaced)><summary>Coordinates</summary>
            \(CampusTextView.coordinates(prefix, latitude: latitude, longitude: longitude, typed))</details>
            """
        guard !names.all.isEmpty else { return fields }
        return """
            <details class="small"\(" open", if: isPlaced || !text.isEmpty)><summary>Address or point on the map</summary>
            \(fields)</details>
            """
    }
}
