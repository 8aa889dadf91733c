package import Fleet

/// The list of the stages: what comes in, a topic each, and who folds it. Whoever tells the topics apart switches over all of
/// them, without `default`: a new one is a compile error wherever it matters.
///
/// | Stage      | Topic              | A key names | Decoded by       | Folded by          |
/// | ---------- | ------------------ | ----------- | ---------------- | ------------------ |
/// | `cars`     | `drover.cars`      | a car       | `RecordDecoder`  | `CarPartition`     |
/// | `machines` | `drover.machines`  | a machine   | `RecordDecoder`  | `MachinePartition` |
/// | `campuses` | `drover.dispatch`  | a campus    | `RideRecords`    | `CampusPartition`  |
/// | `surveys`  | `drover.sightings` | a site      | `SurveyRecords`  | `SurveyFold`       |
/// | `tours`    | `drover.tours`     | a tour      | `TourRecords`    | `TourFold`         |
package enum RecordStage: CaseIterable, Sendable {
    case cars, machines, campuses, surveys, tours

    package var topic: String {
        switch self {
        case .cars: Topic.cars
        case .machines: Topic.machines
        case .campuses: Topic.dispatch
        case .surveys: Topic.sightings
        case .tours: Topic.tours
        }
    }

    /// Nil: no stage of ours reads this topic.
    package init?(topic: String) {
        guard let stage = RecordStage.allCases.first(where: { $0.topic == topic }) else { return nil }
        self = stage
    }

    /// The kind of vehicles whose records they are, where each key is a fold of its own, so that one can be set apart (decision 25). Nil: a
    /// ride, a survey and a tour are decided together with others of their site.
    package var vehicleKind: VehicleKind? {
        switch self {
        case .cars: .car
        case .machines: .machine
        case .campuses, .surveys, .tours: nil
        }
    }
}

/// The list of what leaves the database for topics: the worker's transaction puts it into the outbox, and the relay of
/// `drover notify` publishes it.
package enum Publication: CaseIterable, Sendable {
    case alerts, assignments, rejected
    /// Onto the topic that they are of: a replay reads them there (decision 12).
    case decisions

    package var topic: String {
        switch self {
        case .alerts: Topic.alerts
        case .assignments: Topic.assignments
        case .rejected: Topic.rejected
        case .decisions: RecordStage.campuses.topic
        }
    }
}
