internal import Foundation
internal import Glibc
package import Settings
package import Telemetry

/// Looks at the files that settings name, and at who else could read a secret. What is only looked at by its owner is
/// read by whoever uses it: this says it before.
package enum SettingFiles {
    package struct Fault {
        package let key: String
        /// With its place, the rule and what to do.
        package let text: String
        /// No: it could be used, but others can read it.
        package let isInTheWay: Bool

        package init(key: String, text: String, isInTheWay: Bool) {
            self.key = key
            self.text = text
            self.isInTheWay = isInTheWay
        }
    }

    package static func faults(_ settings: Settings) -> [Fault] {
        SettingRow.table.compactMap { row in
            if let text = fault(row, settings) { return Fault(key: row.key, text: text, isInTheWay: true) }
            return exposed(row, settings).map { Fault(key: row.key, text: $0, isInTheWay: false) }
        }
    }

    /// A role that starts says who else could read the secrets that it reads; it does not stay down for it.
    package static func warn(_ settings: Settings, of reader: SettingReader, log: Log) {
        for row in SettingRow.table where row.readers.contains(reader) {
            if let text = exposed(row, settings) { log.warning("others can read a secret", ["setting": "\(text)"]) }
        }
    }

    /// A file that is missing, or is not what it should be.
    private static func fault(_ row: SettingRow, _ settings: Settings) -> String? {
        let path = settings.text(row.key)
        // Defaults are the program's own; `drover check` reads those files whole.
        guard !path.isEmpty, let place = settings.place(row.key) else { return nil }
        func wrong(_ text: String) -> String { "\(place): is \(path), \(text)" }
        switch row.kind {
        case .text, .integer, .choice, .thousandths, .connection, .secret: return nil
        case .file, .secretFile:
            guard let mode = mode(path) else { return wrong("which is not there. \(putThere)") }
            if mode & S_IFMT == S_IFDIR { return wrong("which is a folder, must be a file") }
            return may(path, R_OK) ? nil : wrong("which this user may not read. \(letIn(path))")
        case .folder:
            guard let mode = mode(path) else {
                return wrong("which is not there. Make the folder, or correct the path")
            }
            if mode & S_IFMT != S_IFDIR { return wrong("which is a file, must be a folder") }
            return may(path, W_OK | X_OK) ? nil : wrong("in which this user may not write. \(letIn(path))")
        case .shipped:
            guard let whole = try? Home.path(path), mode(whole) != nil else {
                return wrong("which is not there. \(putThere)")
            }
            return may(whole, R_OK) ? nil : wrong("which this user may not read. \(letIn(whole))")
        case .fileToMake:
            if mode(path).map({ $0 & S_IFMT == S_IFDIR }) == true { return wrong("which is a folder, must be a file") }
            let folder = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) + "/" : "."
            return may(mode(path) == nil ? folder : path, W_OK)
                ? nil : wrong("which cannot be made or written. Make its folder, and let this user write there")
        }
    }

    private static let putThere = "Put it there, or correct the path"
    private static func letIn(_ path: String) -> String {
        "Give the user or its group the right (chown, chmod): \(path)"
    }

    /// A secret that everybody on this machine can read.
    private static func exposed(_ row: SettingRow, _ settings: Settings) -> String? {
        guard let place = settings.place(row.key), let source = settings.source(row.key) else { return nil }
        let value = settings.text(row.key)
        switch row.kind {
        case .secretFile:
            guard !value.isEmpty, let mode = mode(value), mode & 0o007 != 0 else { return nil }
            return "\(place): is \(value), which everybody on this machine may read or write (mode \(octal(mode))). "
                + "Secrets are for their owner and group: chmod o-rwx \(value)"
        case .secret, .connection:
            let isSecret = row.isSecret(value)
            guard isSecret else { return nil }
            switch source.origin {
            case .file:
                guard let mode = mode(source.name), mode & 0o007 != 0 else { return nil }
                return "\(place): is a secret in a file that everybody on this machine may read or write "
                    + "(mode \(octal(mode))): chmod o-rwx \(source.name), or set the variable \(row.variable)"
            case .other:
                return "\(place): is a secret that everybody on this machine sees in the list of processes. "
                    + "Set the variable \(row.variable)"
            case .environment: return nil
            }
        case .text, .integer, .choice, .thousandths, .file, .folder, .shipped, .fileToMake: return nil
        }
    }

    /// Nil: nothing is there.
    private static func mode(_ path: String) -> mode_t? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found.st_mode : nil
    }

    private static func may(_ path: String, _ rights: Int32) -> Bool { unsafe access(path, rights) == 0 }

    private static func octal(_ mode: mode_t) -> String {
        let text = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }
}

extension SettingRow {
    /// A connection string is a secret when it holds a password: `password=…` or `postgresql://user:…@host`.
    package func isSecret(_ value: String) -> Bool {
        guard !value.isEmpty else { return false }
        if case .connection = kind {
            return value.contains("password") || value.contains(/:\/\/[^\/@]*:[^\/@]+@/)
        }
        return true
    }
}
