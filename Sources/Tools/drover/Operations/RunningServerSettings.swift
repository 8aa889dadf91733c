import App
import Codecs
import Formats
import Foundation

/// The file in the data folder of `drover up` by which commands from another terminal find its servers, whose ports and
/// sockets are its own.
enum RunningServerSettings {
    /// - Returns: the file's path.
    static func write(_ values: [String: String], to data: String) throws -> String {
        let path = URL(filePath: data).appending(path: "drover.yaml").path
        var text = "# Made by `drover up` with each start: how other commands find its servers.\n"
        var section = ""
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            let names = key.split(separator: ".", maxSplits: 1)
            if names[0] != section {
                section = String(names[0])
                text += "\(section):\n"
            }
            // What JSON quotes, YAML reads.
            text += "  \(names[1]): \(JSONValue.text(value).rendered())\n"
        }
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw Failure("\(path): cannot be written: \(error.localizedDescription)")
        }
        return path
    }
}
