import Foundation

extension World {
    static let isLong = ProcessInfo.processInfo.environment["DROVER_LONG"] == "1"
}
