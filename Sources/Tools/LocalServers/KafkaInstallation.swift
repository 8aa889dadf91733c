internal import Foundation

/// Apache Kafka's jars and a Java to run them.
struct KafkaInstallation: Sendable {
    let java: String
    /// The folder of the jars.
    let libraries: String

    /// - Throws: with what to do where one of them is missing.
    static func find() throws -> KafkaInstallation {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["DROVER_KAFKA_HOME"] ?? ""
        guard let libraries = home.isEmpty ? besideProgram() : newest(in: home) else {
            throw LocalServerError(
                home.isEmpty
                    ? "Apache Kafka: not found in .drover/kafka above the program, nor in ../shared/kafka. Run Deploy/install --kafka, "
                        + "or download it from kafka.apache.org and name its folder in DROVER_KAFKA_HOME."
                    : "\(home) (DROVER_KAFKA_HOME): holds no Kafka: libs/kafka-clients-*.jar is missing. Name the folder of the download."
            )
        }
        let javaHome = environment["JAVA_HOME"].map { [$0 + "/bin"] } ?? []
        let places = (javaHome + searchPath()).map { $0 + "/java" }
        guard let java = places.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw LocalServerError(
                "java: not found on PATH, and Apache Kafka needs Java 17 or later: apt-get install openjdk-17-jre-headless"
            )
        }
        return KafkaInstallation(java: java, libraries: libraries)
    }

    private static func besideProgram() -> String? {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        var folder = URL(fileURLWithPath: program).deletingLastPathComponent()
        for _ in 0..<16 where folder.path != "/" {
            if let found = newest(in: folder.path + "/.drover/kafka") ?? newest(in: folder.path + "/../shared/kafka") {
                return found
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    /// A download's folder, or one that holds such folders: the newest of them.
    static func newest(in home: String) -> String? {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []).prefix(1_000)
        let folders = [home + "/libs"] + names.map { "\(home)/\($0)/libs" }
        return folders.compactMap { folder in version(of: folder).map { (folder, $0) } }
            .max { $0.1.lexicographicallyPrecedes($1.1) }?.0
    }

    private static func version(of libraries: String) -> [Int]? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
        guard let jar = names.first(where: { $0.hasPrefix("kafka-clients-") && $0.hasSuffix(".jar") }) else {
            return nil
        }
        return jar.dropFirst(14).dropLast(4).split { !$0.isNumber }.compactMap { Int($0) }
    }
}
