public import Postgres
public import Storage
public import Surveys
internal import Zip

/// Streams sightings out of PostgreSQL, window by window: what is held is one chunk, however many they are.
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
    private let format: Format
    private let dataset: DarwinCore.Dataset
    private let today: String

    /// - Parameter today: as 2026-11-22; an archive says of when it is.
    public init(_ export: SightingExport, _ format: Format, dataset: DarwinCore.Dataset, today: String) {
        (self.export, self.format, self.dataset, self.today) = (export, format, dataset, today)
    }

    /// Returns how many sightings were written. All is of one moment of the database. Where the export goes on behind
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
        let shape = export.wholeRows
        if export.after == nil { try write(Array((shape.names.joined(separator: ",") + "\n").utf8)) }
        return try unsafe stream(shape, isCSV: true, connection, progress, write) { row, chunk in
            unsafe chunk.append(contentsOf: row)
        }
    }

    private func features(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        let shape = export.wholeRows
        let features = SightingFeatures(
            properties: shape.properties.dropFirst(2).map { ($0.name, $0.isJSON ? .json : .text) })
        var isFirst = export.after == nil
        if isFirst { try write(SightingFeatures.head) }
        let rows = try unsafe stream(shape, isCSV: false, connection, progress, write) { row, chunk in
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
        var sightings: Int64 = 0
        for (table, shape) in [
            (DarwinCore.events, export.events), (DarwinCore.occurrences, export.occurrences),
            (DarwinCore.measurements, export.measurements),
        ] {
            precondition(shape.names == table.terms, "columns and terms differ")
            try zip.begin(table.file)
            try zip.add(DarwinCore.head(table))
            let rows = try unsafe stream(shape, isCSV: false, connection, progress, { try zip.add($0) }) { row, chunk in
                chunk += unsafe DarwinCore.line(CopyText.fields(row), of: table)
            }
            if table.file == DarwinCore.occurrences.file { sightings = rows }
            try zip.end()
        }
        try zip.finish()
        return sightings
    }

    private func stream(
        _ shape: SightingExport.Shape, isCSV: Bool, _ connection: Connection, _ progress: (Progress) throws -> Void,
        _ write: ([UInt8]) throws -> Void, _ add: (UnsafeRawBufferPointer, inout [UInt8]) -> Void
    ) throws -> Int64 {
        var (rows, chunk): (Int64, [UInt8]) = (0, [])
        chunk.reserveCapacity(SightingExporter.chunkBytes + (64 << 10))
        let windows = try export.windows(on: connection)
        for (index, window) in windows.enumerated() {
            let statement = try export.statement(shape, window: window, isCSV: isCSV, on: connection)
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
            try progress(
                Progress(rows: rows, windowsDone: index + 1, windows: windows.count, nextMs: window.upperBound))
        }
        return rows
    }
}

extension SightingExport.Shape {
    var names: [String] { properties.map(\.name) }
}
