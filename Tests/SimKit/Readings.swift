public import Fleet

extension CarReading {
    /// Of these values.
    public init(ts: Int64, _ values: [Signal: Int32]) {
        self.init(ts: ts)
        for (signal, value) in values { self[signal] = value }
    }
}

extension MachineReading {
    public init(
        vehicle: VehicleID, ts: Int64, id: String, model: String = "8R Tractor", _ values: [MachineParameter: Int64]
    ) {
        self.init(vehicle: vehicle, ts: ts, id: id, model: model)
        self.values = values
    }
}
