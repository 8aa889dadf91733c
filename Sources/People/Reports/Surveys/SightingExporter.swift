package import Postgres
package import Storage
package import Surveys

/// Streams sightings or walks out of PostgreSQL, window by window: what is held is one chunk, however many they are.
package struct SightingExporter: Sendable {
    package enum Format: String, CaseIterable, Sendable {
        case csv, geojson, dwca

        package var mediaType: String {
            switch self {
            case .csv: "text/csv; charset=utf-8"
            case .geojson: "application/geo+json"
            case .dwca: "application/zip"
            }
        }
    }

    /// All surveys that began before `nextMs` are written.
    package struct Progress: Sendable {
        package let rows: Int64
        package let windowsDone, windows: Int
        package let nextMs: Int64
    }

    private static let chunkBytes = 256 << 10

    private(set) var export: SightingExport
    private let rows: SightingExport.Rows
    private let format: Format
    let dataset: DarwinCore.Dataset
    let today: String

    /// - Parameters:
    ///   - rows: what a row of a table or a feature is; an archive has both.
    ///   - today: as 2026-11-22; an archive says of when it is.
    package init(
        _ export: SightingExport, _ format: Format, rows: SightingExport.Rows = .sightings,
        dataset: DarwinCore.Dataset, today: String
    ) {
        self.export = export
        self.format = format
        self.rows = rows
        self.dataset = dataset
        self.today = today
    }

    /// Returns how many sightings, or walks, were written. All is of one moment of the database. Where the export goes on behind
    /// something, neither header nor opening is written.
    /// - Parameter write: takes the bytes in order; what it throws ends the export.
    package func run(
        on connection: Connection, progress: (Progress) throws -> Void, write: @escaping ([UInt8]) throws -> Void
    ) throws -> Int64 {
        try connection.snapshot {
            try connection.execute(
                "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL work_mem = '32MB'")
            var resolved = self
            resolved.export = try export.resolved(on: connection)
            switch format {
            case .csv: return try resolved.csv(connection, progress, write)
            case .geojson: return try resolved.features(connection, progress, write)
            case .dwca: return try resolved.archive(connection, progress, write)
            }
        }
    }

    private func csv(
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void
    ) throws -> Int64 {
        let shape = rows == .surveys ? export.wholeWalks(hasLine: false) : export.wholeRows
        if export.after == nil { try write(Array((shape.names.joined(separator: ",") + "\n").utf8)) }
        return try unsafe stream(shape, .csv, over: export.windows(on: connection), connection, progress, write) {
            row, chunk in
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
        let rows = try unsafe stream(
            shape, .text, over: export.windows(on: connection), connection, progress, write
        ) { row, chunk in
            if !isFirst { chunk += Array(",\n".utf8) }
            isFirst = false
            chunk += unsafe features.feature(CopyText.fields(row))
        }
        try write(SightingFeatures.tail)
        return rows
    }

    /// Returns how many rows there were.
    /// - Parameters:
    ///   - windows: nil stands for all of it in one go.
    ///   - add: appends what becomes of a row.
    func stream(
        _ shape: SightingExport.Shape, _ form: SightingExport.Form, over windows: [Range<Int64>?],
        _ connection: Connection, _ progress: (Progress) throws -> Void, _ write: ([UInt8]) throws -> Void,
        _ add: (UnsafeRawBufferPointer, inout [UInt8]) -> Void
    ) throws -> Int64 {
        var (rows, chunk): (Int64, [UInt8]) = (0, [])
        chunk.reserveCapacity(SightingExporter.chunkBytes + (64 << 10))
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
