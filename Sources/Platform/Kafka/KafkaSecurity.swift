internal import Crypto
internal import Glibc

/// How a client authenticates, and how it verifies the brokers. The host name in their certificate is always checked. Files are read
/// whenever a client is made.
public struct KafkaSecurity: Sendable {
    public enum Secret: Sendable {
        case text(String)
        /// The first line of a file.
        case file(String)
    }

    /// The protocol's own name: `plaintext`, `ssl`, `sasl_plaintext`, `sasl_ssl`.
    public var wire = "plaintext"
    /// PEM files; empty: the system's roots, and no certificate of ours.
    public var rootsFile = ""
    public var certificateFile = ""
    public var keyFile = ""
    public var keyPassword: Secret?
    public var mechanism = ""
    public var user = ""
    public var password: Secret?

    public init() {}

    var isTLS: Bool { wire.hasSuffix("ssl") }
    var isSASL: Bool { wire.hasPrefix("sasl") }

    /// librdkafka's properties, without the files of TLS.
    func properties() throws -> [(String, String)] {
        var all = [("security.protocol", wire)]
        if isTLS {
            all += [
                ("ssl.endpoint.identification.algorithm", "https"), ("enable.ssl.certificate.verification", "true"),
            ]
            if let keyPassword { all.append(("ssl.key.password", try keyPassword.read("kafka.key_password_file"))) }
        }
        if isSASL {
            all += [("sasl.mechanism", mechanism), ("sasl.username", user)]
            if let password { all.append(("sasl.password", try password.read("kafka.sasl_password_file"))) }
        }
        return all
    }

    /// Its files of TLS, tried: librdkafka before 2.13.0 frees parts of a configuration that it refuses twice (its change log, #5240).
    func tlsFiles() throws -> TLSFiles? {
        guard isTLS else { return nil }
        do {
            return try TLSFiles(
                roots: rootsFile, certificate: certificateFile, key: keyFile,
                keyPassword: keyPassword?.read("kafka.key_password_file"))
        } catch let fault as TLSFiles.Fault {
            throw KafkaError(
                doing: "TLS to the brokers", message: "\(fault.part.setting) failed: \(fault.path): \(fault.reason)")
        }
    }

    /// The files whose content can be renewed in place.
    var files: [String] {
        var all = isTLS ? [rootsFile, certificateFile, keyFile] : []
        for secret in [isTLS ? keyPassword : nil, isSASL ? password : nil] {
            if case .file(let path)? = secret { all.append(path) }
        }
        return all.filter { !$0.isEmpty }
    }
}

extension TLSFiles.Part {
    fileprivate var setting: String {
        switch self {
        case .roots: "kafka.ca_file"
        case .certificate: "kafka.certificate_file"
        case .key: "kafka.key_file"
        }
    }

    /// librdkafka's.
    var property: String {
        switch self {
        case .roots: "ssl.ca.location"
        case .certificate: "ssl.certificate.location"
        case .key: "ssl.key.location"
        }
    }
}

extension KafkaSecurity.Secret {
    private static let bytesMax = 4_096

    fileprivate func read(_ setting: String) throws -> String {
        switch self {
        case .text(let text): return text
        case .file(let path):
            guard let file = unsafe fopen(path, "r") else {
                throw KafkaError(
                    doing: "\(setting): \(path)",
                    message: unsafe "\(String(cString: strerror(errno))). Check the name and the permissions")
            }
            defer { unsafe fclose(file) }
            var bytes = [UInt8](repeating: 0, count: KafkaSecurity.Secret.bytesMax)
            let count = unsafe fread(&bytes, 1, bytes.count, file)
            let line = bytes.prefix(count).prefix { $0 != 0x0A && $0 != 0x0D }
            guard !line.isEmpty else {
                throw KafkaError(
                    doing: "\(setting): \(path)", message: "its first line is empty. Write the password there")
            }
            return String(decoding: line, as: UTF8.self)
        }
    }
}

/// Tells whether files that a client was made with were renewed since: librdkafka reads them once.
struct Renewal {
    private struct Stamp: Equatable {
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var bytes: Int64 = 0
        var seconds: Int = 0
        var nanoseconds: Int = 0
    }

    /// Between two looks at the files.
    private static let lookMs: Int64 = 2_000

    private let files: [String]
    private let made: [Stamp]
    private var lookedMs: Int64
    /// A renewal that failed to load: it may be half written.
    private var unusable: [Stamp]?
    private(set) var isDue = false

    init(_ files: [String], nowMs: Int64) {
        self.files = files
        made = files.map(Renewal.stamp)
        lookedMs = nowMs
    }

    /// - Parameter isUsable: asked when the files are others than before; once for each that it says no of.
    mutating func look(nowMs: Int64, isUsable: () -> Bool) -> Bool {
        guard !files.isEmpty, !isDue, nowMs - lookedMs >= Renewal.lookMs else { return isDue }
        lookedMs = nowMs
        let now = files.map(Renewal.stamp)
        guard now != made, now != unusable else { return false }
        isDue = isUsable()
        unusable = isDue ? nil : now
        return isDue
    }

    /// The stamp of the link's target. A missing file has one, too: all zeros.
    private static func stamp(_ path: String) -> Stamp {
        var found = stat()
        guard unsafe stat(path, &found) == 0 else { return Stamp() }
        return Stamp(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), bytes: Int64(found.st_size),
            seconds: found.st_mtim.tv_sec, nanoseconds: found.st_mtim.tv_nsec)
    }
}
