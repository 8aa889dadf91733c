internal import DepotRoutes
internal import Foundation

/// `peer-plan FILE [options]`: ours in the comparison of static sets (Tests/Peers/static/README.md). Exit codes: 0 done,
/// 1 no plan (said why), 2 wrong use.
@main
struct PeerPlan {
    static func main() {
        do {
            let options = try PlanOptions(CommandLine.arguments.dropFirst())
            print(try planned(options))
        } catch let wrong as PlanOptions.Wrong {
            StandardError.say("\(wrong)\n\n\(PlanOptions.usage)")
            exit(2)
        } catch {
            StandardError.say("\(error)")
            exit(1)
        }
    }

    private static func planned(_ options: PlanOptions) throws -> String {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: options.path)))
        let name = URL(fileURLWithPath: options.path).lastPathComponent
        let plan = try options.planning.plan(bytes, name: name)
        return options.isJSON ? DepotPlanning.json(plan) : DepotPlanning.text(plan)
    }
}

enum StandardError { static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) } }

/// It could not be planned, and this says why and what to do.
struct NoPlan: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
