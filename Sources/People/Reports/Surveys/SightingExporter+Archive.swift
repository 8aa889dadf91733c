internal import Formats
internal import Postgres
internal import Storage
internal import Surveys

/// The Darwin Core Archive: one table after the other, as a ZIP file has its entries. Walks and sightings are read twice,
/// the second time only those with something measured: nothing is kept aside.
extension SightingExporter {
    func archive(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: @escaping ([UInt8]) throws -> Void
    ) throws -> Int64 {
        let windows = try export.windows(on: connection)
        var zip = ZipWriter(write: write)
        for (file, content) in [
            ("meta.xml", DarwinCore.meta), ("eml.xml", DarwinCore.eml(dataset, date: today, id: "drover/\(today)")),
        ] {
            try zip.begin(file)
            try zip.add(content)
            try zip.end()
        }
        func copy(
            _ shape: SightingExport.Shape, over windows: [Range<Int64>?], _ table: DarwinCore.Table
        ) throws -> Int64 {
            precondition(shape.names == table.terms, "columns and terms differ")
            return try unsafe stream(shape, .terse, over: windows, connection, progress, { try zip.add($0) }) {
                row, lines in
                unsafe DarwinCore.append(Span<UInt8>(_unsafeBytes: row), of: table, to: &lines)
            }
        }
        func measure(
            _ shape: SightingExport.Shape, _ append: ([[UInt8]?], inout [UInt8]) -> Void
        ) throws {
            _ = try unsafe stream(shape, .terse, over: windows, connection, progress, { try zip.add($0) }) {
                row, lines in
                unsafe append(CopyText.fields(row, isTerse: true), &lines)
            }
        }
        try zip.begin(DarwinCore.events.file)
        try zip.add(DarwinCore.head(DarwinCore.events))
        _ = try copy(export.sites, over: [nil], DarwinCore.events)
        _ = try copy(export.events, over: windows, DarwinCore.events)
        try zip.end()
        try zip.begin(DarwinCore.occurrences.file)
        try zip.add(DarwinCore.head(DarwinCore.occurrences))
        let sightings = try copy(export.occurrences, over: windows, DarwinCore.occurrences)
        try zip.end()
        try zip.begin(DarwinCore.measurements.file)
        try zip.add(DarwinCore.head(DarwinCore.measurements))
        try measure(export.walkMeasurements) { Measurements.append(walk: $0, to: &$1) }
        try measure(export.sightingMeasurements) { Measurements.append(sighting: $0, to: &$1) }
        try zip.end()
        try zip.finish()
        return sightings
    }
}
