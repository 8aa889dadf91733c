/// Travel times between places as somebody measured them, for the decisions that follow.
public struct MeasuredTable: Equatable, Sendable {
    /// The source.
    public var by: String
    public var from: [CampusPoint]
    public var to: [CampusPoint]
    /// Row by row, one row an origin; nil: no way is known.
    public var seconds: [Double?]

    /// Origins and destinations of one table.
    public static let placesMax = 200
    static let byBytesMax = 200

    /// Nil: the table is too large, its rows are not complete, or a time is none.
    public init?(by: String, from: [CampusPoint], to: [CampusPoint], seconds: [Double?]) {
        guard from.count <= MeasuredTable.placesMax, to.count <= MeasuredTable.placesMax,
            seconds.count == from.count * to.count, (1...MeasuredTable.byBytesMax).contains(by.utf8.count),
            (from + to).allSatisfy(\.isValid),
            seconds.allSatisfy({ $0.map { (0...TravelTimes.longestS).contains($0) } ?? true })
        else { return nil }
        self.by = by
        self.from = from
        self.to = to
        self.seconds = seconds
    }
}

/// The places that a campus's measured times are known for, in the order of their sites.
struct MeasuredPlaces: Equatable, Sendable {
    struct Place: Equatable, Sendable {
        var point: CampusPoint
        /// When it was measured last.
        var atMs: Int64
    }

    var by = ""
    var places: [Place] = []

    static let placesMax = 250
    /// A place that nobody needs yet may be that of the request that comes next.
    static let keptMs: Int64 = 120_000
    /// This far from a measured place, a stop is still there.
    static let stopM = 30.0
    /// A vehicle drives on while somebody measures.
    static let vehicleM = 100.0

    /// -1: nothing was measured there.
    func site(_ point: CampusPoint, within metres: Double) -> Int32 {
        var (best, site) = (metres * metres, Int32(-1))
        for (index, place) in places.enumerated() {
            let (dx, dy) = (place.point.xM - point.xM, place.point.yM - point.yM)
            let square = dx * dx + dy * dy
            if square < best || (square == best && site < 0) { (best, site) = (square, Int32(index)) }
        }
        return site
    }
}

extension Campus {
    /// The source of the measured times; nil: none are measured.
    public var measuredBy: String? { measured.places.isEmpty ? nil : measured.by }
    public var measuredPlaceCount: Int { measured.places.count }

    /// Merges measured times; nothing is decided. Times of another source replace the present ones.
    mutating func absorb(_ table: MeasuredTable, _ atMs: Int64) {
        let old = table.by == measured.by ? stillNeeded(atMs) : []
        var places = MeasuredPlaces(by: table.by, places: old.map { measured.places[$0] })
        func site(_ point: CampusPoint) -> Int? {
            if let known = places.places.firstIndex(where: { $0.point.xM == point.xM && $0.point.yM == point.yM }) {
                places.places[known].atMs = atMs
                return known
            }
            guard places.places.count < MeasuredPlaces.placesMax else { return nil }
            places.places.append(.init(point: CampusPoint(xM: point.xM, yM: point.yM), atMs: atMs))
            return places.places.count - 1
        }
        let (rows, columns) = (table.from.map(site), table.to.map(site))
        rebuild(places, from: old)
        for (r, row) in rows.enumerated() {
            for (c, column) in columns.enumerated() {
                guard let row, let column, row != column, let seconds = table.seconds[r * columns.count + c] else {
                    continue
                }
                _ = travel.measure(seconds, from: row, to: column)
            }
        }
    }

    /// Forgets what no vehicle and no stop needs, once it is old.
    public mutating func forgetMeasured(nowMs: Int64) {
        guard !measured.places.isEmpty else { return }
        let kept = stillNeeded(nowMs)
        guard kept.count < measured.places.count else { return }
        rebuild(MeasuredPlaces(by: measured.by, places: kept.map { measured.places[$0] }), from: kept)
    }

    /// Times by distance only.
    public mutating func forgetAllMeasured() {
        measured = MeasuredPlaces()
        travel = TravelTimes(secondsPerMetre: travel.secondsPerMetre)
        for index in vehicles.indices { vehicles[index].place.site = -1 }
        for index in rides.indices {
            (rides[index].request.pickup.site, rides[index].request.dropoff.site) = (-1, -1)
        }
    }

    private func stillNeeded(_ nowMs: Int64) -> [Int] {
        var needed = Set(vehicles.map { Int($0.place.site) })
        for ride in rides { needed.formUnion([Int(ride.request.pickup.site), Int(ride.request.dropoff.site)]) }
        return measured.places.indices.filter {
            needed.contains($0) || nowMs - measured.places[$0].atMs <= MeasuredPlaces.keptMs
        }
    }

    /// `old`: where the first places stood before.
    private mutating func rebuild(_ places: MeasuredPlaces, from old: [Int]) {
        let count = places.places.count
        guard var next = TravelTimes(secondsPerMetre: travel.secondsPerMetre, sites: count) else {
            preconditionFailure("more places than sites")
        }
        for (row, oldRow) in old.enumerated() {
            for (column, oldColumn) in old.enumerated() {
                // Not measured is not a number, and is refused.
                _ = next.measure(travel.measuredS[oldRow * travel.sites + oldColumn], from: row, to: column)
            }
        }
        measured = places
        travel = next
        for index in vehicles.indices { vehicles[index].place = sited(vehicle: vehicles[index].place) }
        for index in rides.indices {
            rides[index].request.pickup = sited(stop: rides[index].request.pickup)
            rides[index].request.dropoff = sited(stop: rides[index].request.dropoff)
        }
    }

    /// A place with its site among the measured ones. Where places were never measured by this campus, sites are others'.
    func sited(stop point: CampusPoint) -> CampusPoint {
        guard !measured.by.isEmpty else { return point }
        return CampusPoint(xM: point.xM, yM: point.yM, site: measured.site(point, within: MeasuredPlaces.stopM))
    }

    func sited(vehicle point: CampusPoint) -> CampusPoint {
        guard !measured.by.isEmpty else { return point }
        return CampusPoint(xM: point.xM, yM: point.yM, site: measured.site(point, within: MeasuredPlaces.vehicleM))
    }
}
