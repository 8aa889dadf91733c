import Fleet

/// A square of about two kilometres.
let squareCampus = CampusSettings(
    name: "The square",
    boundary: [(0, 0), (200_000, 0), (200_000, 200_000), (0, 200_000)].map { place($0.0, $0.1) })

/// So many 10⁻⁷ degrees north and east of its corner.
func place(_ north: Int32, _ east: Int32) -> Position {
    Position(latitude: 389_000_000 + north, longitude: -770_000_000 + east)
}

func entered(_ vehicle: String, _ place: Position) -> RideRecord.Kind {
    .inService(
        RideRecord.InService(
            vehicle: vehicle, driver: "d-\(vehicle)", person: .init(name: "D", photo: nil), capacity: 4, place: place))
}
