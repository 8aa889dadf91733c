internal import Fleet
package import Postgres
internal import Storage
internal import Tours

/// The trail tour of `drover up --sample`: a walk through Helsinki's Central Park, published so that visitors find it.
package enum SampleTour {
    package static let id = "sample-central-park"

    /// Publishes its first version, where that has not been done.
    /// - Returns: the ids of its waypoints, in walking order.
    package static func publish(
        by account: String, base: BaseMap, assets: AssetFiles, on connection: Connection
    ) throws -> [String] {
        let tour = tour
        try connection.transaction {
            _ = try TourStore.add(
                id, area: tour.area, draft: TourRoutes.text(tour), by: account, on: connection)
            guard let draft = try TourStore.draft(id, isLocked: true, on: connection), draft.version == 0 else {
                return
            }
            let coarse = base.tiles == nil ? CoarseMap(geoJSON: assets.content("natural-earth.json")) : nil
            _ = try Publication.publish(draft, by: account, base, coarse: coarse, on: connection)
        }
        return tour.waypoints.map(\.id)
    }

    private static var tour: Tour {
        Tour(
            area: "Helsinki Central Park: bay to forest",
            text: """
                From the bay in the middle of the city into the forest that begins there: Central Park runs ten kilometres to the north.
                An easy walk on gravel, good for prams. The stops and the trail are a sample, made by nobody who is responsible for the park.
                """,
            corners: Corners(southWest: place(60.1735, 24.9000), northEast: place(60.2085, 24.9450)),
            waypoints: waypoints.enumerated().map { number, stop in
                Waypoint(id: "w\(number + 1)", place: stop.place, title: stop.title, text: stop.text)
            },
            track: track.map { place($0.0, $0.1) })
    }

    private static var waypoints: [(title: String, place: Position, text: String)] {
        [
            (
                "Töölönlahti Bay", place(60.1778, 24.9331),
                """
                Begin where the railway, the opera and the park meet. The bay is brackish and shallow; great crested grebes breed between the reeds.
                Look down as well: the lawn by the shore is left long until August, and common blues fly over it in June.
                """
            ),
            (
                "Winter Garden", place(60.1853, 24.9312),
                """
                The glass house of 1893 has camellias and a rose garden in front. On warm days in April the first small tortoiseshells sit on the south wall.
                """
            ),
            (
                "Eläintarha rocks", place(60.1893, 24.9271),
                """
                Bare rock, ground smooth by ice from the north-west: the scratches still show the way it went. Heather and juniper grow in the cracks.
                """
            ),
            (
                "Laakso meadow", place(60.1972, 24.9118),
                """
                Mown once a year, after the flowers have set seed. Ringlets in July, scarce coppers in August. Walk along the edge, not across.
                """
            ),
            (
                "Ruskeasuo alders", place(60.2012, 24.9101),
                """
                A wet hollow with black alder and meadowsweet. Lesser marbled fritillaries lay their eggs here. In May listen for the wood warbler.
                """
            ),
            (
                "Old spruces", place(60.2058, 24.9079),
                """
                Spruces of more than a hundred years, dead wood left where it fell. Flying squirrels live in woodpecker holes: look for their yellow droppings at the foot of aspens.
                From here the forest goes on for eight kilometres; the bus back leaves from Mannerheimintie.
                """
            ),
        ]
    }

    private static let track: [(Double, Double)] = [
        (60.1778, 24.9331), (60.1797, 24.9322), (60.1816, 24.9320), (60.1836, 24.9318), (60.1853, 24.9312),
        (60.1868, 24.9299), (60.1881, 24.9283), (60.1893, 24.9271), (60.1909, 24.9236), (60.1925, 24.9198),
        (60.1941, 24.9163), (60.1957, 24.9136), (60.1972, 24.9118), (60.1991, 24.9109), (60.2012, 24.9101),
        (60.2031, 24.9089), (60.2046, 24.9084), (60.2058, 24.9079),
    ]

    private static func place(_ latitude: Double, _ longitude: Double) -> Position {
        // They are on the globe.
        Position(degrees: latitude, longitude)!
    }
}
