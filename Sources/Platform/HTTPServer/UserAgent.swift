/// The client's name for people, from the header User-Agent (RFC 9110, 10.1.5).
package enum UserAgent {
    /// The first that is found: later ones call themselves as earlier ones do, too.
    private static let programs = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Chromium/", "Chromium"),
        ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
        ("Mac OS X", "macOS"), ("Macintosh", "macOS"), ("Linux", "Linux"),
    ]

    /// `Chrome on Android`; of unknown agents the first name: `curl`. Empty: the header is missing.
    package static func name(_ text: String) -> String {
        func found(_ names: [(mark: String, name: String)]) -> String? { names.first { text.contains($0.mark) }?.name }
        let program = found(programs) ?? first(text)
        return found(systems).map { "\(program) on \($0)" } ?? program
    }

    private static func first(_ text: String) -> String {
        let word = String(text.prefix { !"/ (;".contains($0) })
        return word == "Mozilla" ? "a browser" : word
    }
}
