import Alerts
import Backtesting
import Foundation

/// Threshold files from a folder.
enum Rules {
    /// The whole content: what is in force must not change while it is looked at.
    static func read(_ directory: String) throws -> RuleFolder {
        var files: [String: [UInt8]] = [:]
        var places = [""]
        if FileManager.default.fileExists(atPath: directory + "/" + RuleFolder.machines) {
            places.append(RuleFolder.machines)
        }
        for place in places {
            for name in try Files.list(directory + "/" + place) where name.hasSuffix(".xml") {
                files[place + name] = try Files.read(directory + "/" + place + name)
            }
        }
        return RuleFolder(files)
    }

    static func tests(_ folder: String) throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)] {
        try Files.list(folder).filter { $0.hasSuffix(".yaml") }.map { name in
            do { return (name, .success(try Files.read(folder + "/" + name))) } catch {
                return (name, .failure(RuleTestFault(description: "\(error)")))
            }
        }
    }

    /// Those beside the rules; empty where there are none.
    static func tests(
        inFolderOf directory: String
    ) throws -> [(name: String, bytes: Result<[UInt8], RuleTestFault>)] {
        let folder = directory + "/tests"
        return FileManager.default.fileExists(atPath: folder) ? try tests(folder) : []
    }

    static func load(_ directory: String) throws -> RuleSet {
        let folder = try read(directory)
        let rules = try load(folder, directory)
        for model in folder.modelsWithoutThresholds {
            Out.note("\(directory): model `\(model)` has no thresholds: its machines are shown and raise no alert")
        }
        return rules
    }

    static func load(_ folder: RuleFolder, _ directory: String) throws -> RuleSet {
        let rules: RuleSet
        do throws(ThresholdError) { rules = try folder.load() } catch {
            throw Failure("thresholds in \(directory) do not load:\n\(error)")
        }
        guard !rules.modelNames.isEmpty else {
            throw Failure(
                "\(directory): holds no `<model>-thresholds.xml`. Name another folder with --thresholds or alerts.thresholds_dir"
            )
        }
        guard rules.text.utf8.count <= RuleSet.textBytesMax else {
            throw Failure(
                "\(directory): the rules take \(rules.text.utf8.count) bytes, at most \(RuleSet.textBytesMax) fit a record. "
                    + "Shorten advice, or give models fewer machines with rules of their own")
        }
        return rules
    }
}
