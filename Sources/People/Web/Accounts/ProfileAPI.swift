internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Storage

extension CampusRoutes {
    private static let nameBytesMax = 200

    /// People's own profiles.
    func addProfiles(to router: inout Router) {
        func anybody(
            _ method: String, _ path: String, _ then: @escaping @Sendable (Request, Caller) -> Response
        ) {
            router.add(method, CampusRoutes.path + path) { [self] request in
                asPerson(request, Set(PersonRole.allCases)) { then(request, $0) }
            }
        }
        anybody("GET", "/me") { [self] _, caller in
            read(caller) { CampusRoutes.profile(try CampusRoutes.person(caller, on: $0), caller) }
        }
        anybody("PUT", "/me") { [self] in put($0, $1) }
        anybody("PUT", "/me/photo") { [self] in putPhoto($0, $1) }
        anybody("DELETE", "/me/photo") { [self] _, caller in
            change(caller) { RideRecord.Person(name: $0.name, photo: nil) }
        }
        anybody("GET", "/photos/{photo}") { [self] in photo($0, $1) }
    }

    /// His last profile; before that, the roster's.
    static func person(_ caller: Caller, on connection: Connection) throws -> RideRecord.Person {
        try RideQueries.profile(RideQueries.Key(caller.campus, caller.id), on: connection)
            ?? RideRecord.Person(name: caller.name, photo: nil)
    }

    private static func profile(_ person: RideRecord.Person, _ caller: Caller) -> Response {
        .json(
            JSONValue.object([
                ("campus", .text(caller.campus)), ("id", .text(caller.id)), ("role", .text(caller.role.rawValue)),
                ("name", .text(person.name)), ("photo", RideDocument.photo(person.photo, caller.campus)),
            ]).rendered(indent: true))
    }

    private func put(_ request: Request, _ caller: Caller) -> Response {
        let name: String
        do throws(CampusRequestBody.Fault) {
            let given = try CampusRequestBody(request).optionalText("name", bytesMax: CampusRoutes.nameBytesMax)
            guard given?.contains(where: { $0 == "\n" || $0 == "\t" }) != true else {
                throw CampusRequestBody.Fault("name", "one line")
            }
            name = given ?? caller.name
        } catch { return error.response }
        return change(caller) { RideRecord.Person(name: name, photo: $0.photo) }
    }

    /// Says the whole profile anew.
    private func change(
        _ caller: Caller, _ make: (RideRecord.Person) -> RideRecord.Person
    ) -> Response {
        if let refusal = overBudget(caller) { return refusal }
        let person: RideRecord.Person
        do {
            person = make(try reading(caller) { try CampusRoutes.person(caller, on: $0) })
        } catch {
            return databaseAway(error)
        }
        let answer = DeferredResponse()
        let kind = RideRecord.Kind.profile(rider: caller.id, person: person)
        say([record(kind, of: caller, id: CampusRoutes.id("p", of: caller, key: nil))], to: answer) {
            connection, place in
            guard let connection else { return CampusRoutes.undecided(caller, place) }
            return CampusRoutes.profile(try CampusRoutes.person(caller, on: connection), caller)
        }
        return .later(answer)
    }

    // MARK: Photos

    static let photoBytesMax = 512 << 10

    func putPhoto(_ request: Request, _ caller: Caller) -> Response {
        guard request.body.count <= CampusRoutes.photoBytesMax else {
            return .problem(
                413, type: "body-too-large", detail: "A photo has at most \(CampusRoutes.photoBytesMax) bytes here.")
        }
        let cleaned: PhotoFile
        do throws(PhotoFile.Fault) { cleaned = try PhotoFile(request.body) } catch {
            return .problem(415, type: "photo", detail: "This is no photo that can be taken: \(error).")
        }
        if let refusal = overBudget(caller) { return refusal }
        let photo = Hex.text(Secrets.digest(cleaned.content))
        do {
            try pool.withConnection {
                try PhotoStore.keep(
                    cleaned.content, type: cleaned.mediaType, photo: photo,
                    of: RideQueries.Key(caller.campus, caller.id), on: $0)
            }
        } catch {
            return databaseAway(error)
        }
        return change(caller) { RideRecord.Person(name: $0.name, photo: photo) }
    }

    func photo(_ request: Request, _ caller: Caller) -> Response {
        let found: PhotoStore.Photo?
        do {
            found = try reading(caller) {
                try PhotoStore.photo(
                    request.parameters["photo"]!, for: RideQueries.Key(caller.campus, caller.id),
                    isDispatcher: caller.role == .dispatcher, on: $0)
            }
        } catch {
            return databaseAway(error)
        }
        return found.map(CampusRoutes.document) ?? CampusRoutes.notFound
    }

    static func document(_ found: PhotoStore.Photo) -> Response {
        Response(
            200,
            headers: [
                ("Content-Type", found.mediaType), ("X-Content-Type-Options", "nosniff"),
                ("Content-Security-Policy", "default-src 'none'; sandbox"), ("Cache-Control", "private, no-store"),
            ], body: found.content)
    }
}
