import HTTPServer
import Testing

/// A list of where somebody is logged in is read by people.
struct UserAgentTests {
    /// A line each: how it is called, and what it says of itself.
    private static let browsers = """
        Chrome on Android: Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36
        Safari on iPhone: Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1
        Chrome on iPad: Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile/15E148 Safari/604.1
        Safari on macOS: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15
        Edge on Windows: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0
        Samsung Internet on Android: Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36
        """.split(separator: "\n")

    @Test(arguments: browsers) func browser(_ line: Substring) {
        let colon = line.firstIndex(of: ":")!
        #expect(UserAgent.name(String(line[colon...].dropFirst(2))) == String(line[..<colon]))
    }

    @Test(arguments: [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on Linux"),
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/131.0.0.0 Safari/537.36", "Chrome on ChromeOS"),
        ("Dalvik/2.1.0 (Linux; U; Android 13; Pixel 6)", "Dalvik on Android"),
        ("Mozilla/5.0 (compatible; something)", "a browser"), ("curl/8.5.0", "curl"), ("Firefox", "Firefox"),
        ("python-requests/2.32", "python-requests"), ("Firefox <1>", "Firefox"), ("<b>", "<b>"), ("/", ""), ("", ""),
    ])
    func name(_ text: String, _ name: String) { #expect(UserAgent.name(text) == name) }
}
