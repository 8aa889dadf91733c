internal import CLibpq

extension Connection {
    /// Runs `COPY … TO STDOUT` and lends each row as the server sends it, in the statement's format. Holds one row at a
    /// time. When `take` throws, the rest is not asked for and its error is thrown on.
    package func copyOut(_ sql: String, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        try checkNoNUL(sql)
        let result = unsafe PQexec(handle, sql)
        let status = unsafe PQresultStatus(result)
        defer { unsafe PQclear(result) }

        guard status == PGRES_COPY_OUT else {
            try unsafe check(result)
            try abandonCopy(status)
            throw PostgresError.usage("copyOut needs COPY … TO STDOUT")
        }
        do {
            while try unsafe row(take) {}
        } catch {
            try abandonCopy(PGRES_COPY_OUT)
            throw error
        }
        var failure: PostgresError?
        // Until NULL: otherwise the connection stays busy.
        while let result = unsafe PQgetResult(handle) {
            defer { unsafe PQclear(result) }

            if unsafe PQresultStatus(result) != PGRES_COMMAND_OK {
                failure = unsafe failure ?? PostgresError.of(result, on: handle)
            }
            if !isOpen { break }
        }
        if let failure { throw failure }
        guard isOpen else { throw unsafe PostgresError.of(nil, on: handle) }
    }

    /// False: that was all, or what went wrong is in the result that follows.
    private func row(_ take: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        var bytes: UnsafeMutablePointer<CChar>?
        let count = unsafe PQgetCopyData(handle, &bytes, 0)
        guard count > 0, let start = unsafe bytes else { return false }
        defer { unsafe PQfreemem(start) }

        try unsafe take(UnsafeRawBufferPointer(start: start, count: Int(count)))
        return true
    }

    /// The text as a literal of a statement that takes no parameters, quotes and all.
    package func literal(_ text: String) throws -> String {
        try checkNoNUL(text)
        guard let quoted = unsafe PQescapeLiteral(handle, text, text.utf8.count) else {
            throw unsafe PostgresError.of(nil, on: handle)
        }
        defer { unsafe PQfreemem(quoted) }

        return unsafe String(cString: quoted)
    }
}
