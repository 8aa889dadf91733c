internal import Foundation

/// Where the embedded servers keep their data and which binaries they are.
package struct LocalServerSettings: Sendable {
    /// Everything is kept below this folder; it is made when missing. One running `drover` a folder.
    package var dataDirectory: String
    /// The broker's program, `noida-db`. Nil: `$DROVER_BROKER`, then `.drover/venv` in a folder above the running
    /// program (where Deploy/install puts it), then `PATH`.
    package var brokerBinary: String?
    /// Which broker stands beside the database.
    package var broker: BrokerChoice
    /// The folder that holds `postgres` and `initdb`. Nil: the version that made the cluster or, for a new one, the
    /// newest under /usr/lib/postgresql, then `PATH`.
    package var postgresBinDirectory: String?
    /// Receives one line an event, without a time stamp.
    package var log: @Sendable (String) -> Void

    package init(
        dataDirectory: String, brokerBinary: String? = nil, broker: BrokerChoice = .embedded,
        postgresBinDirectory: String? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.dataDirectory = dataDirectory
        self.brokerBinary = brokerBinary
        self.broker = broker
        self.postgresBinDirectory = postgresBinDirectory
        self.log = log
    }
}

/// A thing that could not be done, to what, and what to do about it; the text is complete and meant for people.
package struct LocalServerError: Error, CustomStringConvertible, Equatable, Sendable {
    package let description: String

    init(_ description: String) { self.description = description }

    /// A failed system call on a path, with advice for the causes that people meet.
    static func failed(_ action: String, _ path: String, errno code: Int32) -> LocalServerError {
        let advice =
            switch code {
            case EACCES, EPERM, EROFS: "Choose a folder that you may write to with --data, or correct its owner."
            case ENOSPC, EDQUOT: "The disk is full. Free some space or choose another disk with --data."
            case ENOTDIR, EEXIST: "Part of this path is a file, not a folder. Choose another with --data."
            case ENAMETOOLONG: "The path is too long. Choose a shorter one with --data."
            default: "Check the path, or choose another folder with --data."
            }
        return LocalServerError("\(path): cannot \(action): \(errorText(code)). \(advice)")
    }
}

/// The C library's text for an error number.
func errorText(_ code: Int32) -> String {
    unsafe String(cString: strerror(code))
}
