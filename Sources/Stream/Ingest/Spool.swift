internal import CSQLite
package import Fleet
internal import Foundation
internal import Synchronization

/// A failure of the spool's file, and what to do about it.
package struct SpoolError: Error, CustomStringConvertible {
    package let description: String
}

/// A record that waits for the broker.
package struct SpooledRecord {
    package let position: Int64
    package let topic: String
    package let vehicle: String
    package let json: [UInt8]
}

/// Records of one vehicle that belong together.
package struct SpooledPage {
    /// Where a box's readings end.
    package struct End {
        package let serial: String
        package let sequence: Int64

        package init(serial: String, sequence: Int64) { (self.serial, self.sequence) = (serial, sequence) }
    }
    package let topic: String
    package let vehicle: VehicleID
    /// Nil: of a car, or the gateway's own.
    package let end: End?
    package let records: [[UInt8]]

    package init(topic: String, vehicle: VehicleID, end: End?, records: [[UInt8]]) {
        self.topic = topic
        self.vehicle = vehicle
        self.end = end
        self.records = records
    }
}

/// Records that were fetched from boxes and are not yet acknowledged by the broker, in one file (SQLite, WAL): in their
/// order, and the sequence number stored last of each box, always in one transaction. A lost file loses what was not
/// pushed and not kept by its box; all else is fetched again with the same ids.
@safe
package final class Spool: @unchecked Sendable {
    // The connection is used under the lock only.
    private let database: OpaquePointer
    private let lock = NSLock()
    private let path: String
    private let used = Atomic<Int64>(0)
    private let waiting = Atomic<Int64>(0)

    /// "DRVR": files of other programs are left alone.
    private static let applicationID: Int64 = 0x4452_5652
    private static let version: Int64 = 2
    package static let rowsMax = 1_000

    package init(path: String) throws(SpoolError) {
        self.path = path
        Spool.makePrivate(path)
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            let why = unsafe String(cString: sqlite3_errstr(code))
            unsafe sqlite3_close_v2(handle)
            throw SpoolError(description: "\(path): \(why). Check gateway.spool_path, the folder and its rights")
        }
        unsafe database = unsafe handle
        try prepare()
        closeToOthers()
    }

    deinit { unsafe sqlite3_close_v2(database) }

    /// Where people were stands in it: for us alone from its first byte. One that is there is not opened: closing it would
    /// give away the locks of whoever has it open in this process. What cannot be made is told when it is opened.
    private static func makePrivate(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Closes a file of an earlier version, which made it open to others; SQLite gives its two files beside it the same rights.
    private func closeToOthers() {
        for file in [path, path + "-wal", path + "-shm"] { unsafe chmod(file, 0o600) }
    }

    private func prepare() throws(SpoolError) {
        // Ours alone: a second gateway on this file is refused here.
        try execute("PRAGMA locking_mode = EXCLUSIVE")
        let isEmpty = try number("SELECT count(*) FROM sqlite_schema") == 0
        if !isEmpty {
            guard try number("PRAGMA application_id") == Spool.applicationID else {
                throw SpoolError(
                    description: "\(path): is a file of another program. Name another one in gateway.spool_path")
            }
            let version = try number("PRAGMA user_version")
            guard (1...Spool.version).contains(version) else {
                throw SpoolError(
                    description: "\(path): is a spool of version \(version), this program knows \(Spool.version)."
                        + " Run the program that made it until it is drained, or move it away")
            }
            try check()
            if version == 1 { try migrateFirstVersion() }
        }
        // A box may forget what was stored: it must survive a loss of power, not only of the process.
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        if isEmpty {
            try transaction { () throws(SpoolError) in
                try execute(
                    """
                    CREATE TABLE record (position INTEGER PRIMARY KEY AUTOINCREMENT, vehicle TEXT NOT NULL,
                        json BLOB NOT NULL, refused TEXT, topic TEXT NOT NULL);
                    CREATE TABLE box (vehicle TEXT NOT NULL, serial TEXT NOT NULL, sequence INTEGER NOT NULL,
                        PRIMARY KEY (vehicle, serial)) WITHOUT ROWID;
                    PRAGMA application_id = \(Spool.applicationID); PRAGMA user_version = \(Spool.version);
                    """)
            }
        }
        waiting.store(try number("SELECT count(*) FROM record WHERE refused IS NULL"), ordering: .relaxed)
        try measure()
    }

    /// The first version knew machines only.
    private func migrateFirstVersion() throws(SpoolError) {
        try transaction { () throws(SpoolError) in
            try execute(
                """
                ALTER TABLE record ADD COLUMN topic TEXT NOT NULL DEFAULT '\(Topic.machines)';
                PRAGMA user_version = \(Spool.version);
                """)
        }
    }

    private func check() throws(SpoolError) {
        var found = ""
        try query("PRAGMA quick_check(1)") { found = $0.text(0) }
        if found != "ok" { throw damaged(found) }
    }

    private func damaged(_ why: String) -> SpoolError {
        SpoolError(
            description: "\(path): is damaged or no spool: \(why). Move it away and start again: boxes are asked for"
                + " all that they still have, and repeats count once")
    }

    /// Bytes of the file that hold something, as of the last change.
    package var bytes: Int64 { used.load(ordering: .relaxed) }
    /// Records that wait for the broker.
    package var count: Int64 { waiting.load(ordering: .relaxed) }

    /// Sequence numbers stored last, by vehicle and serial number.
    package func sequences() throws(SpoolError) -> [String: [String: Int64]] {
        try locked { () throws(SpoolError) in
            var sequences: [String: [String: Int64]] = [:]
            try query("SELECT vehicle, serial, sequence FROM box") {
                sequences[$0.text(0), default: [:]][$0.text(1)] = $0.integer(2)
            }
            return sequences
        }
    }

    /// All or nothing, on disk when it returns.
    package func append(_ pages: [SpooledPage]) throws(SpoolError) {
        try locked { () throws(SpoolError) in
            try transaction { () throws(SpoolError) in
                for page in pages {
                    for json in page.records {
                        try run(
                            "INSERT INTO record (vehicle, json, topic) VALUES (?1, ?2, ?3)",
                            [.text(page.vehicle.text), .bytes(json), .text(page.topic)])
                    }
                    guard let end = page.end else { continue }
                    try run(
                        "INSERT OR REPLACE INTO box (vehicle, serial, sequence) VALUES (?1, ?2, ?3)",
                        [.text(page.vehicle.text), .text(end.serial), .integer(end.sequence)])
                }
            }
            waiting.wrappingAdd(Int64(pages.reduce(0) { $0 + $1.records.count }), ordering: .relaxed)
            try measure()
        }
    }

    package func oldest() throws(SpoolError) -> [SpooledRecord] {
        try locked { () throws(SpoolError) in
            var records: [SpooledRecord] = []
            try query(
                """
                SELECT position, vehicle, json, topic FROM record WHERE refused IS NULL ORDER BY position
                LIMIT \(Spool.rowsMax)
                """
            ) {
                records.append(
                    SpooledRecord(
                        position: $0.integer(0), topic: $0.text(3), vehicle: $0.text(1), json: $0.bytes(2)))
            }
            return records
        }
    }

    /// Removes records that the broker has acknowledged, and sets aside those that it will never take, with their reason.
    package func settle(acknowledged: [Int64], refused: [(position: Int64, reason: String)]) throws(SpoolError) {
        try locked { () throws(SpoolError) in
            try transaction { () throws(SpoolError) in
                for position in acknowledged { try run("DELETE FROM record WHERE position = ?1", [.integer(position)]) }
                for (position, reason) in refused {
                    try run("UPDATE record SET refused = ?2 WHERE position = ?1", [.integer(position), .text(reason)])
                }
            }
            waiting.wrappingSubtract(Int64(acknowledged.count + refused.count), ordering: .relaxed)
            try measure()
        }
    }

    private func locked<R>(_ body: () throws(SpoolError) -> R) throws(SpoolError) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    private func measure() throws(SpoolError) {
        let pages = try number("PRAGMA page_count") - number("PRAGMA freelist_count")
        used.store(pages * (try number("PRAGMA page_size")), ordering: .relaxed)
    }
}

/// SQLite, as far as the spool needs it.
extension Spool {
    package enum Value { case integer(Int64), text(String), bytes([UInt8]) }

    @safe
    package struct Row {
        fileprivate let statement: OpaquePointer

        package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }
        package func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
        package func bytes(_ column: Int32) -> [UInt8] {
            guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
            let count = Int(unsafe sqlite3_column_bytes(statement, column))
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
        }
    }

    private func transaction(_ body: () throws(SpoolError) -> Void) throws(SpoolError) {
        try execute("BEGIN IMMEDIATE")
        do throws(SpoolError) {
            try body()
            try execute("COMMIT")
        } catch {
            // The first fault is the one to tell; without a transaction there is nothing to roll back.
            try? execute("ROLLBACK")
            throw error
        }
    }

    private func execute(_ sql: String) throws(SpoolError) {
        guard unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw fault() }
    }

    private func number(_ sql: String) throws(SpoolError) -> Int64 {
        var number: Int64 = 0
        try query(sql) { number = $0.integer(0) }
        return number
    }

    private func run(_ sql: String, _ values: [Value]) throws(SpoolError) { try query(sql, values) { _ in } }

    private func query(_ sql: String, _ values: [Value] = [], _ take: (Row) -> Void) throws(SpoolError) {
        var prepared: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(database, sql, -1, &prepared, nil) == SQLITE_OK,
            let statement = unsafe prepared
        else { throw fault() }
        defer { unsafe sqlite3_finalize(statement) }

        for (index, value) in values.enumerated() {
            guard unsafe Spool.bind(value, statement, Int32(index + 1)) == SQLITE_OK else { throw fault() }
        }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: unsafe take(Row(statement: statement))
            case SQLITE_DONE: return
            default: throw fault()
            }
        }
    }

    private static func bind(_ value: Value, _ statement: OpaquePointer, _ index: Int32) -> Int32 {
        // SQLITE_TRANSIENT: SQLite makes a copy of its own.
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let integer): return unsafe sqlite3_bind_int64(statement, index, integer)
        case .text(let text):
            return unsafe sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), transient)
        case .bytes(let bytes): return unsafe sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), transient)
        }
    }

    private func fault() -> SpoolError {
        let why = unsafe String(cString: sqlite3_errmsg(database))
        switch unsafe sqlite3_errcode(database) {
        case SQLITE_NOTADB, SQLITE_CORRUPT: return damaged(why)
        case SQLITE_BUSY:
            return SpoolError(
                description: "\(path): another gateway has it. Give each its own gateway.spool_path")
        case SQLITE_FULL: return SpoolError(description: "\(path): the disk is full. Make room; it goes on by itself")
        default: return SpoolError(description: "\(path): \(why). Check the folder and its rights")
        }
    }
}
