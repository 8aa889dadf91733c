internal import Codecs
internal import Formats
internal import HTTPServer
internal import Reports

/// The meanings of trouble codes, for programs that judge without a connection.
struct TroubleCodeAPI {
    let folder: TroubleCodeFolder

    func add(to router: inout Router) {
        router.add("GET", "/v1/trouble-codes") { request in
            do {
                let make = request.query["make"].flatMap(TroubleCodeMeanings.fileName)
                let makes = try folder.makes()
                let known = make.flatMap { makes.contains($0) ? $0 : nil }
                return Response.json(
                    TroubleCodeAPI.json(try folder.meanings(make: known), make: known, makes: makes).rendered()
                ).conditional(request)
            } catch {
                return .problem(
                    503, type: "trouble-codes",
                    detail: "The meanings cannot be read. `drover check` says what is wrong with them."
                ).with("Retry-After", "60")
            }
        }
    }

    private static func json(_ meanings: TroubleCodeMeanings, make: String?, makes: [String]) -> JSONValue {
        .object([
            ("make", .optional(make)), ("makes", .list(makes.map { .text($0) })),
            (
                "codes",
                .list(
                    meanings.codes.map { code in
                        .object([
                            ("code", .text(code.text)), ("system", .text(code.system.rawValue)),
                            ("origin", .text(code.origin.rawValue)), ("subsystem", .optional(code.subsystem)),
                            ("description", .optional(meanings.meaning(of: code))),
                        ])
                    })
            ),
        ])
    }
}
