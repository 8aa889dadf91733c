internal import HTTPServer
internal import Presentation
internal import Reports
internal import Trips

/// Which trips the list shows, and in what order: all of it stands in the address.
struct TripFilter {
    /// A longer span is what reports are for.
    static let daysMax: Int64 = 31
    static let rowsMax = 50

    enum Order: String, CaseIterable {
        case vehicle, left, distance, time, fuel, cost, speed, harsh

        /// What people look for first: the latest, the longest, the dearest; names from A.
        var isDownAtFirst: Bool { self != .vehicle }

        var name: String {
            switch self {
            case .vehicle: t("Vehicle")
            case .left: t("Latest first")
            case .distance: t("Distance")
            case .time: t("Time")
            case .fuel: t("Fuel")
            case .cost: t("Cost")
            case .speed: t("Top speed")
            case .harsh: t("Harsh events")
            }
        }
    }

    let first: CivilDate
    /// The last day that is shown.
    let last: CivilDate
    /// Empty: of all.
    let vehicle, driver: String
    let isHarshOnly: Bool
    let order: Order
    let isDown: Bool
    /// From 1 on.
    let page: Int
    let columns: ColumnChoice

    /// Nil: a day in it is none.
    init?(_ request: Request, zone: String, nowMs: Int64) {
        func day(_ name: String) -> CivilDate?? {
            guard let text = request.query[name], !text.isEmpty else { return .some(nil) }
            return CivilDate(text, zone: zone).map { .some($0) }
        }
        guard let date = day("date"), let until = day("until") else { return nil }
        let first = date ?? until ?? CivilDate(ofMs: nowMs, zone: zone)
        let days = first.days(to: until ?? first)
        self.first = first
        last = first.moved(by: min(max(0, days), TripFilter.daysMax - 1))
        vehicle = VehicleForm.trimmed(request.query["vehicle"] ?? "")
        driver = String((request.query["driver"] ?? "").prefix(100))
        isHarshOnly = request.query["harsh"] == "1"
        order = request.query["sort"].flatMap(Order.init(rawValue:)) ?? .left
        isDown = request.query["by"].map { $0 == "down" } ?? order.isDownAtFirst
        columns = ColumnChoice(request, "trips", TripRowsView.columns)
        page = min(max(1, request.query["page"].flatMap { Int($0) } ?? 1), 1_000)
    }

    var days: Int64 { first.days(to: last) + 1 }
    var span: Range<Int64> { first.span(days: days) }
    /// As long, before it; of a time that is not over, as much as has passed: half a day is not held against a whole one.
    func spanBefore(nowMs: Int64) -> Range<Int64> {
        let before = first.moved(by: -days).span(days: days)
        guard span.contains(nowMs) else { return before }
        return before.lowerBound..<min(before.upperBound, before.lowerBound + max(1, nowMs - span.lowerBound))
    }
    var isFiltered: Bool { !vehicle.isEmpty || !driver.isEmpty || isHarshOnly }

    func keeps(_ read: TripRead) -> Bool {
        (driver.isEmpty || read.driver == driver)
            && (!isHarshOnly || read.trip.totals.sharpAccelerations + read.trip.totals.sharpBrakings > 0)
    }

    func ordered(_ reads: [TripRead], names: [String: String]) -> [TripRead] {
        func worth(_ read: TripRead) -> Double? {
            switch order {
            case .vehicle, .left: Double(read.trip.startMs)
            case .distance: read.figures.distanceKm.flatMap { Double($0) }
            case .time: Double(read.trip.endMs - read.trip.startMs)
            case .fuel: read.figures.litres
            case .cost: read.figures.fuelCost.flatMap { Double($0) }
            case .speed: read.figures.maxSpeedKmh.flatMap { Double($0) }
            case .harsh: Double(read.trip.totals.sharpAccelerations + read.trip.totals.sharpBrakings)
            }
        }
        func name(_ read: TripRead) -> String { names[read.vehicle] ?? read.vehicle }
        return reads.sorted { a, b in
            if order == .vehicle, name(a) != name(b) { return isDown ? name(a) > name(b) : name(a) < name(b) }
            // Unknown ones come last, either way.
            switch (worth(a), worth(b)) {
            case (nil, nil): return a.trip.startMs > b.trip.startMs
            case (nil, _): return false
            case (_, nil): return true
            case (let x?, let y?):
                return x == y ? (a.trip.startMs, a.vehicle) > (b.trip.startMs, b.vehicle) : isDown ? x > y : x < y
            }
        }
    }

    // MARK: Addresses

    /// The same list but for what is given; nothing stands in it that holds anyway.
    func address(
        first: CivilDate? = nil, last: CivilDate? = nil, vehicle: String? = nil, driver: String? = nil,
        isHarshOnly: Bool? = nil,
        order: Order? = nil, isDown: Bool? = nil, page: Int? = nil, format: String? = nil, columns: String? = nil
    ) -> HTML {
        let query: [HTML] = items(
            first: first, last: last, vehicle: vehicle, driver: driver, isHarshOnly: isHarshOnly, order: order,
            isDown: isDown, page: page, format: format, columns: columns
        ).map { "\($0.0)=\(encoded: $0.1)" }
        return "/trips?\(query.joined(separator: "&amp;"))"
    }

    /// This list as it is, for who is led there.
    var path: String { path(vehicle: nil, format: nil) }

    /// - Parameter vehicle: instead of the one that was typed.
    func path(vehicle: String?, format: String?) -> String {
        "/trips?"
            + items(vehicle: vehicle, page: page, format: format).map { "\($0.0)=\(URLText.escaped($0.1))" }
            .joined(separator: "&")
    }

    func items(
        first: CivilDate? = nil, last: CivilDate? = nil, vehicle: String? = nil, driver: String? = nil,
        isHarshOnly: Bool? = nil,
        order: Order? = nil, isDown: Bool? = nil, page: Int? = nil, format: String? = nil, columns: String? = nil
    ) -> [(String, String)] {
        let (from, to) = (first ?? self.first, last ?? self.last)
        let order = order ?? self.order
        let isDown = isDown ?? self.isDown
        var items = [("date", from.text)]
        if to.text != from.text { items.append(("until", to.text)) }
        func add(_ name: String, _ value: String) { if !value.isEmpty { items.append((name, value)) } }
        add("vehicle", vehicle ?? self.vehicle)
        add("driver", driver ?? self.driver)
        add("harsh", isHarshOnly ?? self.isHarshOnly ? "1" : "")
        if order != .left || isDown != order.isDownAtFirst { items.append(("sort", order.rawValue)) }
        if isDown != order.isDownAtFirst { items.append(("by", isDown ? "down" : "up")) }
        if let page, page > 1 { items.append(("page", String(page))) }
        if let format { items.append(("format", format)) }
        add(ColumnChoice.parameter, columns ?? self.columns.text)
        return items
    }
}
