internal import CLibpq

extension Connection {
    /// Runs `COPY … FROM STDIN (FORMAT binary)` with the rows that `body` writes, sent while they are made. Returns how
    /// many rows the server took. When `body` throws, nothing is copied and its error is thrown on.
    @discardableResult
    package func copyIn(_ sql: String, _ body: (inout CopyWriter) throws -> Void) throws -> Int {
        try beginCopy(sql)
        var writer = CopyWriter(self)
        do {
            try body(&writer)
            try writer.finish()
        } catch {
            let refusal = endCopy("given up by the client")
            // The server may have refused the rows first; its reason is the better one.
            if error is CopyBroken, let refusal { throw refusal }
            throw error
        }
        return try finishCopy()
    }

    /// The same for data that is ready, in the format the statement names.
    @discardableResult
    package func copyIn(_ sql: String, bytes: [UInt8]) throws -> Int {
        try beginCopy(sql)
        do {
            var at = 0
            while at < bytes.count {
                let end = min(at + CopyWriter.chunkBytes, bytes.count)
                try put(bytes, at..<end)
                at = end
            }
        } catch {
            if let refusal = endCopy("given up by the client") { throw refusal }
            throw error
        }
        return try finishCopy()
    }

    /// The same for rows in the binary format that were made elsewhere, without header and trailer.
    @discardableResult
    package func copyIn(_ sql: String, fragments: [[UInt8]]) throws -> Int {
        try beginCopy(sql)
        do {
            try put(BinaryCopy.header, 0..<BinaryCopy.header.count)
            for fragment in fragments { try put(fragment, 0..<fragment.count) }
            try put([0xFF, 0xFF], 0..<2)
        } catch {
            if let refusal = endCopy("given up by the client") { throw refusal }
            throw error
        }
        return try finishCopy()
    }

    private func beginCopy(_ sql: String) throws {
        try checkNoNUL(sql)
        let result = unsafe PQexec(handle, sql)
        defer { unsafe PQclear(result) }

        let status = unsafe PQresultStatus(result)
        guard status != PGRES_COPY_IN else { return }
        try unsafe check(result)
        try abandonCopy(status)
        throw PostgresError.usage("copyIn needs COPY … FROM STDIN")
    }

    func put(_ bytes: [UInt8], _ range: Range<Int>) throws {
        let sent = unsafe bytes.withUnsafeBytes { all in
            unsafe PQputCopyData(
                handle, all.baseAddress?.advanced(by: range.lowerBound).assumingMemoryBound(to: CChar.self),
                Int32(range.count))
        }
        if sent != 1 { throw CopyBroken() }
    }

    private func finishCopy() throws -> Int {
        guard unsafe PQputCopyEnd(handle, nil) == 1 else { throw unsafe PostgresError.of(nil, on: handle) }
        var rows = 0
        var failure: PostgresError?
        // Until NULL: otherwise the connection stays busy.
        while let result = unsafe PQgetResult(handle) {
            defer { unsafe PQclear(result) }

            if unsafe PQresultStatus(result) == PGRES_COMMAND_OK {
                rows = unsafe Connection.rowsChanged(result)
            } else {
                failure = unsafe failure ?? PostgresError.of(result, on: handle)
                if !isOpen { break }
            }
        }
        if let failure { throw failure }
        guard isOpen else { throw unsafe PostgresError.of(nil, on: handle) }
        return rows
    }

    /// Ends a COPY as failed and reads what the server says, which is nil when it only repeats our reason.
    private func endCopy(_ reason: String) -> PostgresError? {
        _ = unsafe PQputCopyEnd(handle, reason)
        var refusal: PostgresError?
        while let result = unsafe PQgetResult(handle) {
            defer { unsafe PQclear(result) }

            let error = unsafe PostgresError.of(result, on: handle)
            // 57014: the server's answer to our own end of the COPY.
            if error.sqlState != "57014", refusal == nil { refusal = error }
            if !isOpen { break }
        }
        if isOpen { return refusal }
        return unsafe refusal ?? PostgresError.of(nil, on: handle)
    }

    /// Leaves a COPY that nobody meant to start.
    func abandonCopy(_ status: ExecStatusType) throws {
        if status == PGRES_COPY_IN {
            _ = endCopy("not started by copyIn")
        } else if status == PGRES_COPY_OUT {
            canceller().cancel()
            var line: UnsafeMutablePointer<CChar>?
            while unsafe PQgetCopyData(handle, &line, 0) > 0 { unsafe PQfreemem(line) }
            while let result = unsafe PQgetResult(handle) { unsafe PQclear(result) }
        }
    }
}

/// The server or the network ended a COPY while we were sending; the reason is in the result that follows.
struct CopyBroken: Error {}

/// Takes the rows of one COPY and sends them in chunks.
package struct CopyWriter {
    static let chunkBytes = 256 * 1024

    private let connection: Connection
    private var copy = BinaryCopy(reservingBytes: chunkBytes + 4096)

    init(_ connection: Connection) { self.connection = connection }

    /// One row. Precondition: `fill` writes exactly `columns` fields.
    @inline(__always)
    package mutating func row(columns: Int, _ fill: (inout BinaryCopy) throws -> Void) throws {
        if copy.bytes.count >= CopyWriter.chunkBytes { try flush() }
        copy.row(columns: columns)
        try fill(&copy)
    }

    mutating func finish() throws {
        copy.finish()
        try flush()
    }

    private mutating func flush() throws {
        try connection.put(copy.bytes, 0..<copy.bytes.count)
        copy.sent()
    }
}
