internal import COpenSSL
internal import Glibc

/// The files of a TLS client as they were at one moment: read once, tried with OpenSSL as its users do, and held as copies in memory that
/// nobody can change any more. A renewal that is half written is refused here, in words, whatever a library would do with it.
@safe
package final class TLSFiles {
    /// What a file is for.
    package enum Part: Sendable { case roots, certificate, key }

    /// It cannot be used; the file, and why.
    package struct Fault: Error {
        package let part: Part
        package let path: String
        package let reason: String
    }

    private static let bytesMax = 1 << 20

    private var copies: [Int32] = []
    /// The copies as files of this process; they are there as long as this lives.
    package private(set) var paths: [(part: Part, path: String)] = []

    /// Paths of PEM files; empty: there is none.
    package init(roots: String, certificate: String, key: String, keyPassword: String?) throws(Fault) {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw Fault(part: .roots, path: roots, reason: "OpenSSL has no memory")
        }
        defer { unsafe SSL_CTX_free(context) }

        if !roots.isEmpty {
            let copy = try copied(.roots, roots)
            try TLSFiles.check(.roots, roots) { unsafe SSL_CTX_load_verify_locations(context, copy, nil) }
        }
        if !certificate.isEmpty {
            let copy = try copied(.certificate, certificate)
            try TLSFiles.check(.certificate, certificate) { unsafe SSL_CTX_use_certificate_chain_file(context, copy) }
        }
        guard !key.isEmpty else { return }
        let copy = try copied(.key, key)
        // Without a callback OpenSSL asks on the terminal.
        unsafe SSL_CTX_set_default_passwd_cb(context) { buffer, size, _, password in
            guard let buffer = unsafe buffer, let password = unsafe password else { return -1 }
            let length = unsafe strlen(password.assumingMemoryBound(to: CChar.self))
            guard length < Int(size) else { return -1 }
            unsafe memcpy(buffer, password, length)
            return Int32(length)
        }
        let password = unsafe keyPassword.map { unsafe strdup($0) } ?? nil
        defer { unsafe free(password) }
        unsafe SSL_CTX_set_default_passwd_cb_userdata(context, password)
        try TLSFiles.check(.key, key) { unsafe SSL_CTX_use_PrivateKey_file(context, copy, SSL_FILETYPE_PEM) }
        if !certificate.isEmpty { try TLSFiles.check(.key, key) { unsafe SSL_CTX_check_private_key(context) } }
    }

    deinit { for copy in copies { close(copy) } }

    private func copied(_ part: Part, _ path: String) throws(Fault) -> String {
        let bytes = try TLSFiles.read(part, path)
        let copy = unsafe drover_memory_copy("drover-tls", bytes, bytes.count)
        guard copy >= 0 else { throw Fault(part: part, path: path, reason: unsafe String(cString: strerror(errno))) }
        copies.append(copy)
        paths.append((part, "/proc/self/fd/\(copy)"))
        return "/proc/self/fd/\(copy)"
    }

    private static func read(_ part: Part, _ path: String) throws(Fault) -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else {
            let reason = unsafe "\(String(cString: strerror(errno))). Check the name and the permissions"
            throw Fault(part: part, path: path, reason: reason)
        }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        // A part of a file of roots would be taken for all of it.
        guard unsafe ferror(file) == 0 else {
            throw Fault(part: part, path: path, reason: unsafe String(cString: strerror(errno)))
        }
        guard count < bytesMax else {
            throw Fault(part: part, path: path, reason: "larger than 1 MiB. Is it the right file?")
        }
        return Array(bytes.prefix(count))
    }

    private static func check(_ part: Part, _ path: String, _ call: () -> Int32) throws(Fault) {
        ERR_clear_error()
        guard call() != 1 else { return }
        let reason = unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) }
        ERR_clear_error()
        throw Fault(part: part, path: path, reason: reason ?? "not in PEM form")
    }
}
