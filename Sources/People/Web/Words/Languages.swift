internal import Basics
internal import Crypto
internal import Foundation
package import HTTPServer
internal import Presentation

/// The languages that pages can be read in beside English: a file of gettext's form each, in the folder `words` of the assets. They are
/// read once, and one that would break a page is refused then.
package struct Languages: Sendable {
    /// A file that cannot be used.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Installed {
        let language: Language
        /// What scripts show, as a script that gives it to words.js.
        let script: [UInt8]
        let version: String
    }

    private static let most = 100
    private static let wishesMax = 20
    /// No file's name has more: what stands behind them decides nothing, and a header may hold thousands.
    private static let partsMax = 3
    /// What is for programs, or the same in all languages.
    private static let others = [
        "/v1/", "/assets/", "/tiles/", "/words/", "/openapi.json", "/healthz", "/sightings/export",
    ]

    /// By tag in lower case.
    private let all: [String: Installed]

    package init(folder: String) throws {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var all: [String: Installed] = [:]
        for file in files.sorted() where file.hasSuffix(".po") {
            let (tag, path) = (String(file.dropLast(3)), folder + "/" + file)
            guard Languages.isTag(tag), all.count < Languages.most else {
                throw Fault(
                    description:
                        "\(path): name the file as its language, like fi.po or pt-BR.po; at most \(Languages.most)")
            }
            guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= Catalogue.bytesMax,
                let text = String(validating: bytes, as: UTF8.self)
            else { throw Fault(description: "\(path): cannot be read, is no UTF-8, or has more than 4 MB") }
            do throws(Catalogue.Fault) {
                let language = Language(tag: tag, try Catalogue(po: text))
                let script = Array("droverWords(\(language.scriptTexts(quoted: JSONString.quoted)));\n".utf8)
                all[tag.lowercased()] = Installed(
                    language: language, script: script, version: Hex.text(Secrets.digest(script).prefix(8)))
            } catch {
                throw Fault(description: "\(path): \(error)")
            }
        }
        self.all = all
    }

    /// BCP 47, as far as it is a language with a script or a region.
    private static func isTag(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count <= 3 && (2...3).contains(parts[0].count)
            && parts.allSatisfy {
                (2...8).contains($0.count) && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
    }

    /// `English, fi (812 texts)`
    package var list: String {
        let others = all.values.map { "\($0.language.tag) (\($0.language.count) texts)" }.sorted()
        return (["English"] + others).joined(separator: ", ")
    }

    // MARK: Answering

    /// Answers in the language that the reader's browser asks for. Files, the API and mails stay English.
    package func answer(_ request: Request, _ handler: (Request) -> Response) -> Response {
        guard !all.isEmpty, Languages.isPage(request) else { return handler(request) }
        let language = language(wished: request.headers["accept-language"] ?? "")
        let response = Language.$current.withValue(language) { handler(request) }
        // Also in English: a cache must ask again for the next reader.
        return response.then { $0.with("Vary", "Accept-Language") }
    }

    private static func isPage(_ request: Request) -> Bool {
        guard !others.contains(where: request.path.hasPrefix) else { return false }
        guard let format = request.query["format"], !format.isEmpty else { return true }
        return format == "html"
    }

    /// Nil: English, which is also what is left where nothing else fits (RFC 9110, 12.5.4).
    func language(wished: String) -> Language? {
        let wishes = wished.split(separator: ",").prefix(Languages.wishesMax).map {
            part -> (tag: String, quality: Double) in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            let quality = words.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return (words.first ?? "", quality)
        }
        // In the order of the list where two are wished alike.
        let ordered = wishes.enumerated().filter { $0.element.quality > 0 }.sorted {
            ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset)
        }
        for wish in ordered {
            var parts = wish.element.tag.split(separator: "-", maxSplits: Languages.partsMax).prefix(Languages.partsMax)
            if parts.first == "*" { return nil }
            while !parts.isEmpty {
                let tag = parts.joined(separator: "-")
                if let found = all[tag] { return found.language }
                if tag == "en" { return nil }
                parts.removeLast()
            }
        }
        return nil
    }

    // MARK: Scripts

    /// The texts of scripts; they tell nothing of who asks.
    package func add(to router: inout Router) {
        router.add("GET", "/words/{file}") { request in
            guard let file = request.parameters["file"], file.hasSuffix(".js"),
                let found = all[String(file.dropLast(3)).lowercased()]
            else { return .problem(404, type: "not-found", detail: "The words of scripts are /words/LANGUAGE.js.") }
            let response = Response(
                200, headers: [("Content-Type", "text/javascript; charset=utf-8")], body: found.script)
            guard request.query["v"] == found.version else { return response.conditional(request) }
            return response.with("Cache-Control", "public, max-age=31536000, immutable")
        }
    }

    /// Where a page in the current language has the words of its scripts from; nil: they stand in the scripts.
    var scriptAddress: String? {
        Language.current.flatMap { all[$0.tag.lowercased()] }.map { "/words/\($0.language.tag).js?v=\($0.version)" }
    }
}

extension Response {
    /// Like `then`, for what makes a page: what comes later is made by another thread, in the language that was asked for.
    func thenPage(_ make: @escaping @Sendable (Response) -> Response) -> Response {
        guard let language = Language.current else { return then(make) }
        return then { response in Language.$current.withValue(language) { make(response) } }
    }
}
