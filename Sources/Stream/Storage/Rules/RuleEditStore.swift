package import Fleet
package import Postgres

/// Thresholds as people change them in pages: whose they are to change, and what was changed (`drover.edits_rules`, `drover.rule_edit`).
/// The rules themselves stand in files and on the log.
/// Precondition of all: `RowSecurity.apply` in this transaction.
package enum RuleEditStore {
    /// - Parameter machine: nil asks for rules of models.
    package static func mayEdit(rulesOf machine: VehicleID?, on connection: Connection) throws -> Bool {
        try connection.query("SELECT drover.edits_rules($1)", [.text(machine?.text)])[0].bool(0) ?? false
    }

    /// Those of them whose rules are the caller's to change.
    package static func edited(of machines: [VehicleID], on connection: Connection) throws -> Set<VehicleID> {
        try ids(
            connection.query(
                "SELECT asked FROM unnest($1::text[]) AS asked WHERE drover.edits_rules(asked)",
                [.textArray(machines.map(\.text))]))
    }

    /// Those of them that the caller sees, be it only as registered, and how they are called; nil: they have no name.
    package static func names(of machines: [VehicleID], on connection: Connection) throws -> [VehicleID: String?] {
        var names: [VehicleID: String?] = [:]
        for row in try connection.query(
            """
            SELECT vehicle, r.name
            FROM (SELECT vehicle FROM drover.vehicle WHERE kind = 'machine' AND vehicle = ANY ($1)) v
            FULL JOIN (SELECT vehicle, name FROM drover.registration WHERE kind = 'machine' AND vehicle = ANY ($1)) r USING (vehicle)
            """, [.textArray(machines.map(\.text))])
        {
            guard let vehicle = try row.text(0).flatMap({ VehicleID($0) }) else { continue }
            names.updateValue(try row.text(1), forKey: vehicle)
        }
        return names
    }

    private static func ids(_ rows: Rows) throws -> Set<VehicleID> {
        Set(try rows.compactMap { try $0.text(0).flatMap { VehicleID($0) } })
    }

    /// Notes which change somebody made to a model's or a machine's rules, and in which version.
    package static func note(
        model: String?, machine: VehicleID?, version: String, changes: [String], on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.note_rule_edit($1, $2, $3, $4)",
            [.text(model), .text(machine?.text), .text(version), .textArray(changes)])
    }

    /// How far the machines of a partition are judged; nil: nothing was.
    package static func clockMs(ofMachines partition: Int32, on connection: Connection) throws -> Int64? {
        try connection.query("SELECT drover.machine_clock($1)", [.int4(partition)])[0].timestampMs(0)
    }
}
