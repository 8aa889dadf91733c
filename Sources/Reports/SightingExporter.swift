public import Postgres
public import Storage
public import Surveys
internal import Zip

/// Streams sightings or walks out of PostgreSQL, window by window: what is held is one chunk, however many they are.
public struct SightingExporter: Sendable {
    public enum Format: String, CaseIterable, Sendable {
        case csv, geojson, dwca

        public var mediaType: String {
            switch self {
            case .csv: "text/csv; charset=utf-8"
            case .geojson: "application/geo+json"
            case .dwca: "application/zip"
            }
        }
    }

    /// All surveys that began before `nextMs` are written.
    public struct Progress: Sendable {
        public let rows: Int64
        public let windowsDone, windows: Int
        public let nextMs: Int64
    }

    private static let chunkBytes = 256 << 10

    private let export: SightingExport
    private let rows: SightingExport.Rows
    private let format: Format
    private let dataset: DarwinCore.Dataset
    private let today: String

    /// - Parameters:
    ///   - rows: what a row of a table or a feature is; an archive has both.
    ///   - today: as 2026-11-22; an archive says of when it is.
    public init(
        _ export: SightingExport, _ format: Format, rows: SightingExport.Rows = .sightings,
        dataset: DarwinCore.Dataset, today: String
    ) {
        (self.export, self.format, self.rows, self.dataset, self.today) = (export, format, rows, dataset, today)
    }

    /// Returns how many sightings, or walks, were written. All is of one moment of the database. Where the export goes on behind
    /// something, neither header nor opening is written.
    /// - Parameter write: takes the bytes in order; what it throws ends the export.
    public func run(
        on connection: Connection, progress: (Progress) throws -> Void, write: @escaping ([UInt8]) throws -> Void
    ) throws -> Int64 {
        try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
            try connection.execute(
                "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL work_mem = '32MB'")
            switch format {
            case .csv: return try csv(connection, progress, write)
            case .geojson: return try features(connection, progress, write)
            case .dwca: return try archive(connection, progress, write)
            }
        }
    }

    private func csv(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        let shape = rows == .surveys ? export.wholeWalks(hasLine: false) : export.wholeRows
        if export.after == nil { try write(Array((shape.names.joined(separator: ",") + "\n").utf8)) }
        return try unsafe stream(shape, .csv, connection, progress, write) { row, chunk in
            unsafe chunk.append(contentsOf: row)
        }
    }

    private func features(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        let isOfWalks = rows == .surveys
        let shape = isOfWalks ? export.wholeWalks(hasLine: true) : export.wholeRows
        let features = SightingFeatures(
            properties: shape.properties.dropFirst(isOfWalks ? 3 : 2).map { ($0.name, $0.isJSON ? .json : .text) },
            hasLine: isOfWalks)
        var isFirst = export.after == nil
        if isFirst { try write(SightingFeatures.head) }
        let rows = try unsafe stream(shape, .text, connection, progress, write) { row, chunk in
            if !isFirst { chunk += Array(",\n".utf8) }
            isFirst = false
            chunk += unsafe features.feature(CopyText.fields(row))
        }
        try write(SightingFeatures.tail)
        return rows
    }

    private func archive(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: @escaping ([UInt8]) throws -> Void
    ) throws -> Int64 {
        var zip = ZipWriter(write: write)
        for (file, content) in [
            ("meta.xml", DarwinCore.meta), ("eml.xml", DarwinCore.eml(dataset, date: today, id: "drover/\(today)")),
        ] {
            try zip.begin(file)
            try zip.add(content)
            try zip.end()
        }
        typealias Add = (UnsafeRawBufferPointer, inout [UInt8]) -> Void
        func whole(_ table: DarwinCore.Table) -> Add {
            { row, lines in
                unsafe DarwinCore.append(Span<UInt8>(_unsafeBytes: row), of: table, to: &lines)
            }
        }
        func add(_ shape: SightingExport.Shape, isWindowed: Bool = true, _ take: Add) throws -> Int64 {
            try unsafe stream(
                shape, .terse, isWindowed: isWindowed, connection, progress, { try zip.add($0) }, take)
        }
        try zip.begin(DarwinCore.events.file)
        try zip.add(DarwinCore.head(DarwinCore.events))
        for shape in [export.sites, export.events] {
            precondition(shape.names == DarwinCore.events.terms, "columns and terms differ")
        }
        _ = try unsafe add(export.sites, isWindowed: false, whole(DarwinCore.events))
        _ = try unsafe add(export.events, whole(DarwinCore.events))
        try zip.end()
        try zip.begin(DarwinCore.occurrences.file)
        try zip.add(DarwinCore.head(DarwinCore.occurrences))
        precondition(export.occurrences.names == DarwinCore.occurrences.terms, "columns and terms differ")
        let sightings = try unsafe add(export.occurrences, whole(DarwinCore.occurrences))
        try zip.end()
        try zip.begin(DarwinCore.measurements.file)
        try zip.add(DarwinCore.head(DarwinCore.measurements))
        _ = try unsafe add(export.walkMeasurements) { row, lines in
            unsafe Measurements.append(walk: CopyText.fields(row, isTerse: true), to: &lines)
        }
        _ = try unsafe add(export.sightingMeasurements) { row, lines in
            unsafe Measurements.append(sighting: CopyText.fields(row, isTerse: true), to: &lines)
        }
        try zip.end()
        try zip.finish()
        return sightings
    }

    private func stream(
        _ shape: SightingExport.Shape, _ form: SightingExport.Form, isWindowed: Bool = true, _ connection: Connection,
        _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void, _ add: (UnsafeRawBufferPointer, inout [UInt8]) -> Void
    ) throws -> Int64 {
        var (rows, chunk): (Int64, [UInt8]) = (0, [])
        chunk.reserveCapacity(SightingExporter.chunkBytes + (64 << 10))
        let windows: [Range<Int64>?] = isWindowed ? try export.windows(on: connection) : [nil]
        for (index, window) in windows.enumerated() {
            let statement = try export.statement(shape, window: window, form, on: connection)
            try unsafe connection.copyOut(statement) { row in
                unsafe add(row, &chunk)
                rows += 1
                guard chunk.count >= SightingExporter.chunkBytes else { return }
                try write(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
            if !chunk.isEmpty {
                try write(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
            guard let window else { continue }
            try progress(
                Progress(rows: rows, windowsDone: index + 1, windows: windows.count, nextMs: window.upperBound))
        }
        return rows
    }
}
