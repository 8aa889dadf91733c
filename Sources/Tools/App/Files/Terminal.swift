internal import Foundation

package enum Terminal {
    /// The user at the terminal; services and containers do not say it, and a container's user may have no name.
    package static var login: String {
        let environment = ProcessInfo.processInfo.environment
        let said = [environment["USER"], environment["LOGNAME"]].compactMap(\.self).first { !$0.isEmpty }
        if let said { return said }
        guard let known = unsafe getpwuid(getuid()) else { return "operator" }
        return unsafe String(cString: known.pointee.pw_name)
    }
}
