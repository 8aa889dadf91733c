internal import COpenSSL
internal import Codecs
internal import Crypto
internal import Formats
internal import Foundation

/// Encrypts what is pushed, so that the push service in between reads nothing (RFC 8291, RFC 8188).
enum PushCipher {
    /// One record: header, ciphertext and tag. Nil: the browser's key is no point of the curve.
    static func seal(_ plain: [UInt8], for browser: [UInt8], auth: [UInt8]) -> [UInt8]? {
        guard let (ours, shared) = P256.agree(with: browser) else { return nil }
        let salt = Secrets.random(16)
        // RFC 8291, 3.4.
        let ikm = hkdf(
            salt: auth, ikm: shared, info: Array("WebPush: info\u{0}".utf8) + browser + ours, count: 32)
        let key = hkdf(salt: salt, ikm: ikm, info: Array("Content-Encoding: aes128gcm\u{0}".utf8), count: 16)
        let nonce = hkdf(salt: salt, ikm: ikm, info: Array("Content-Encoding: nonce\u{0}".utf8), count: 12)
        // A delimiter says that it is the last record (RFC 8188, 2).
        guard let box = P256.aesGCM(plain + [2], key: key, nonce: nonce) else { return nil }
        let size = UInt32(box.count + 1)
        let header =
            salt + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + [UInt8(ours.count)] + ours
        return header + box
    }

    /// RFC 5869, of one block.
    private static func hkdf(salt: [UInt8], ikm: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        let key = Secrets.hmacSHA256(ikm, key: salt)
        return Array(Secrets.hmacSHA256(info + [1], key: key).prefix(count))
    }
}

/// Our identity for push services (VAPID, RFC 8292): a key pair of P-256.
@safe
package final class PushKey: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    private let pem: [UInt8]
    /// The public key, 65 bytes: what browsers subscribe with.
    package let publicKey: [UInt8]
    /// `mailto:` or `https:`, where push services reach who sends.
    private let contact: String

    /// - Parameters:
    ///   - pem: a private key, as `openssl ecparam -name prime256v1 -genkey -noout` writes it.
    ///   - contact: a mail address or page of whoever runs this installation.
    package init(pem: [UInt8], contact: String) throws {
        guard let publicKey = P256.publicKey(pem: pem) else {
            throw Fault(
                description:
                    "is no private key of P-256: make it with `openssl ecparam -name prime256v1 -genkey -noout -out FILE`"
            )
        }
        self.pem = pem
        self.publicKey = publicKey
        self.contact = contact.contains(":") ? contact : "mailto:\(contact)"
    }

    /// The header `Authorization` for a push service. Nil: the endpoint is no address.
    func authorization(for endpoint: String, nowMs: Int64) -> String? {
        guard let url = URLComponents(string: endpoint), let scheme = url.scheme, let host = url.host else {
            return nil
        }
        let audience = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
        let head = JSONValue.object([("typ", .text("JWT")), ("alg", .text("ES256"))])
        let claims = JSONValue.object([
            ("aud", .text(audience)), ("exp", .integer(nowMs / 1_000 + 43_200)), ("sub", .text(contact)),
        ])
        let said = [head, claims].map { Base64URL.text(Array($0.rendered().utf8)) }.joined(separator: ".")
        guard let signature = P256.sign(Array(said.utf8), pem: pem) else { return nil }
        return "vapid t=\(said).\(Base64URL.text(signature)), k=\(Base64URL.text(publicKey))"
    }
}

/// The curve P-256 and AES-128-GCM from OpenSSL.
private enum P256 {
    /// A new key pair's public point, and the secret that it shares with `peer`; nil: no point of the curve.
    static func agree(with peer: [UInt8]) -> (publicKey: [UInt8], shared: [UInt8])? {
        guard let ours = unsafe drover_p256_new() else { return nil }
        defer { unsafe EVP_PKEY_free(ours) }
        var (point, shared) = ([UInt8](repeating: 0, count: 65), [UInt8](repeating: 0, count: 32))
        guard unsafe drover_p256_public(ours, &point) == 1,
            unsafe drover_p256_agree(ours, peer, peer.count, &shared) == 1
        else { return nil }
        return (point, shared)
    }

    static func publicKey(pem: [UInt8]) -> [UInt8]? {
        guard let key = unsafe drover_p256_read(pem, Int32(pem.count)) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        var point = [UInt8](repeating: 0, count: 65)
        return unsafe drover_p256_public(key, &point) == 1 ? point : nil
    }

    /// ECDSA with SHA-256: r and s, 32 bytes each (RFC 7518, 3.4).
    static func sign(_ bytes: [UInt8], pem: [UInt8]) -> [UInt8]? {
        guard let key = unsafe drover_p256_read(pem, Int32(pem.count)) else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        var signature = [UInt8](repeating: 0, count: 64)
        return unsafe drover_p256_sign(key, bytes, bytes.count, &signature) == 1 ? signature : nil
    }

    static func aesGCM(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        var box = [UInt8](repeating: 0, count: plain.count + 16)
        return unsafe drover_aes_128_gcm(key, nonce, plain, Int32(plain.count), &box) == 1 ? box : nil
    }
}
