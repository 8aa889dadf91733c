import CCurl
import CLibpq
import CMicrohttpd
import COpenSSL
import CQrencode
import CRdkafka
import CSQLite
import CSodium
import CXlsxwriter
import CYaml
import Foundation
import Testing

/// Every C library that the package names links and answers: an install step that forgets one fails here.
struct LibrariesTests {
    private static func text(_ version: UnsafePointer<CChar>?) -> String {
        unsafe version.map { unsafe String(cString: $0) } ?? "nothing"
    }

    /// Deploy/test runs this twice: with Debian's library, and with the newest in front of it on the library path.
    @Test func librdkafka() {
        let wanted = ProcessInfo.processInfo.environment["DROVER_TEST_LIBRDKAFKA"] ?? "2."
        #expect(unsafe Self.text(rd_kafka_version_str()).hasPrefix(wanted))
    }
    @Test func libpq() { #expect(PQlibVersion() >= 150_000) }
    @Test func libmicrohttpd() { #expect(unsafe Self.text(MHD_get_version()).contains(".")) }
    @Test func sqlite() { #expect(sqlite3_libversion_number() >= 3_040_000) }
    @Test func libcurl() { #expect(unsafe Self.text(curl_version()).hasPrefix("libcurl/")) }
    @Test func openssl() { #expect(OpenSSL_version_num() >= 0x3000_0000) }
    @Test func libsodium() { #expect(sodium_init() >= 0) }
    @Test func libxlsxwriter() { #expect(unsafe Self.text(lxw_version()).hasPrefix("1.")) }
    @Test func libqrencode() { #expect(unsafe Self.text(QRcode_APIVersionString()).hasPrefix("4.")) }
    @Test func libyaml() { #expect(unsafe Self.text(yaml_get_version_string()).hasPrefix("0.2")) }
}
