internal import Foundation

/// A root and a certificate for the nodes of one data folder, and the password of its one user. Made once; nothing of them leaves the
/// folder.
enum KafkaCertificates {
    private static let days = "3650"

    static func keys(in folder: DataFolder) throws -> KafkaKeys {
        let (roots, node) = (folder.file("kafka/roots.pem"), folder.file("kafka/node.pem"))
        let password = try folder.read("kafka/password") ?? folder.writing("kafka/password", random(bytes: 24))
        if unsafe access(node, F_OK) != 0 { try make(roots: roots, node: node, in: folder) }
        return KafkaKeys(roots: roots, node: node, user: "drover", password: password)
    }

    private static func make(roots: String, node: String, in folder: DataFolder) throws {
        let (rootKey, nodeKey, nodeCertificate) = (
            folder.file("kafka/roots.key"), folder.file("kafka/node.key"), folder.file("kafka/node.crt")
        )
        let new = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", days,
        ]
        try openssl(
            new + [
                "-keyout", rootKey, "-out", roots, "-subj", "/CN=Drover's local brokers", "-addext",
                "keyUsage=critical,keyCertSign",
            ], folder)
        try openssl(
            new + [
                "-keyout", nodeKey, "-out", nodeCertificate, "-subj", "/CN=127.0.0.1", "-CA", roots, "-CAkey", rootKey,
                "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE",
                "-addext", "extendedKeyUsage=serverAuth,clientAuth",
            ], folder)
        // Nobody signs with it again.
        folder.remove("kafka/roots.key")
        guard let key = folder.read("kafka/node.key"), let certificate = folder.read("kafka/node.crt") else {
            throw LocalServerError(
                "\(nodeCertificate): openssl made no certificate. Look at \(folder.file("openssl.log"))")
        }
        try folder.write("kafka/node.pem", key + "\n" + certificate)
    }

    private static func openssl(_ words: [String], _ folder: DataFolder) throws {
        let output = folder.startLog("openssl")
        let child = try Child("openssl", ["openssl"] + words, user: nil, directory: folder.path, output: output)
        guard child.waitForExit(seconds: 60) == 0 else {
            throw LocalServerError(
                "openssl made no certificate for --secure. Is it there (apt-get install openssl)? The end of \(output):\n"
                    + tail(of: output, lines: 6))
        }
    }

    /// As Kafka writes ids: Base64 for addresses, without its padding.
    static func random(bytes: Int) -> String {
        var chance = SystemRandomNumberGenerator()
        var data = Data((0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &chance) })
        // None begins with a hyphen, which a command would take for an option of its own.
        data[0] &= 0x7F
        return data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension DataFolder {
    /// Writes a small file, and gives what is in it.
    func writing(_ name: String, _ text: String) throws -> String {
        try write(name, text)
        return text
    }

    func makeFolder(_ name: String) throws {
        guard unsafe mkdir(file(name), 0o700) == 0 || errno == EEXIST else {
            throw LocalServerError.failed("make", file(name), errno: errno)
        }
    }
}
