internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Storage
internal import Tiles
internal import Tours

/// The calls of the editor's script. Each answer is JSON; refusals are problem details.
extension TourRoutes {
    func addCalls(to router: inout Router) {
        router.add("GET", "/tours/{tour}/draft") { [self] in showDraft($0) }
        router.add("PUT", "/tours/{tour}/draft") { [self] in saveDraft($0) }
        router.add("POST", "/tours/{tour}/order") { [self] in proposeOrder($0) }
        router.add("POST", "/tours/{tour}/publish") { [self] in publish($0) }
        router.add("GET", "/tours/{tour}/media/{medium}") { [self] in showMedium($0) }
        router.add("POST", "/tour-media") { [self] in acceptMedium($0) }
        router.add("POST", "/tour-track") { [self] in readTrack($0) }
    }

    // MARK: The draft

    private func showDraft(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { _, connection in
            guard let draft = try self.draft(request, on: connection) else { return TourRoutes.unknown }
            let types = try TourStore.mediaTypes(of: draft.tour, on: connection)
            let tour = try TourText.decode(Array(draft.draft.utf8))
            return TourRoutes.document(
                tour, revision: draft.revision, version: draft.version,
                [
                    ("tour", TourText.encode(tour)),
                    ("media", .object(types.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })),
                ])
        }
    }

    private func saveDraft(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { caller, connection in
            guard let revision = request.headers["if-match"].flatMap({ Int($0) }) else {
                return .problem(
                    428, type: "if-match", detail: "If-Match must be the revision that the tour was changed from.")
            }
            let tour: Tour
            do throws(TourText.Fault) { tour = try TourText.decode(request.body) } catch {
                return .problem(422, type: "tour", detail: "\(error).")
            }
            guard !tour.area.isEmpty else {
                return .problem(422, type: "tour", detail: "area: the tour needs the name of its area.")
            }
            guard let draft = try self.draft(request, isLocked: true, on: connection) else { return TourRoutes.unknown }
            let types = try TourStore.mediaTypes(of: draft.tour, on: connection)
            guard tour.media.allSatisfy({ types[$0] != nil }) else {
                return .problem(422, type: "tour", detail: "A picture or film is not there any more: add it again.")
            }
            guard
                let saved = try TourStore.save(
                    draft.tour, revision: revision, area: tour.area, draft: TourRoutes.text(tour), media: tour.media,
                    by: caller.account, on: connection)
            else { return TourRoutes.changedMeanwhile }
            return TourRoutes.document(tour, revision: saved, version: draft.version, [])
        }
    }

    private static let changedMeanwhile = Response.problem(
        409, type: "changed",
        detail: "Somebody has changed the tour meanwhile. Load the page again; what you see here is not saved.")

    private static func document(
        _ tour: Tour, revision: Int, version: Int, _ more: [JSONValue.Field]
    ) -> Response {
        Response.json(
            JSONValue.object(
                [
                    ("revision", .integer(Int64(revision))), ("version", .integer(Int64(version))),
                    ("missing", .list(tour.faults.map { .text($0) })), ("walk", walk(tour.waypoints.map(\.place))),
                ] + more
            ).rendered())
    }

    private static func walk(_ places: [Position]) -> JSONValue {
        let metres = WalkingOrder.metres(places, isRound: false)
        return .object([
            ("length_m", .integer(Int64(metres.rounded()))),
            ("walking_min", .integer(Int64(WalkingOrder.minutes(metres: metres)))),
        ])
    }

    // MARK: Order and line

    private func proposeOrder(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { _, _ in
            guard let tree = try? JSONValue(request.body, bytesMax: 64 << 10, valuesMax: 1_000),
                let items = tree["places"]?.items, (2...Tour.waypointsMax).contains(items.count)
            else {
                return .problem(422, type: "places", detail: "An order needs 2 to \(Tour.waypointsMax) places.")
            }
            let places = items.compactMap { Position(degrees: $0[0]?.double, $0[1]?.double) }
            guard places.count == items.count else {
                return .problem(422, type: "places", detail: "Each place must be latitude and longitude in degrees.")
            }
            let isRound = tree["is_round"] == .bool(true)
            let proposal = WalkingOrder.propose(places, isRound: isRound)
            let given = WalkingOrder.metres(places, isRound: isRound)
            return Response.json(
                JSONValue.object([
                    ("order", .list(proposal.order.map { .integer(Int64($0)) })),
                    ("length_m", .integer(Int64(proposal.metres.rounded()))),
                    ("walking_min", .integer(Int64(WalkingOrder.minutes(metres: proposal.metres)))),
                    ("given_length_m", .integer(Int64(given.rounded()))),
                    ("given_walking_min", .integer(Int64(WalkingOrder.minutes(metres: given)))),
                    ("is_proven", .bool(proposal.isProven)),
                ]).rendered())
        }
    }

    private func readTrack(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { _, _ in
            let track: GPXTrack
            do throws(GPXTrack.Fault) { track = try GPXTrack(request.body) } catch {
                return .problem(422, type: "track", detail: "The GPX file is not accepted: \(error).")
            }
            let line = TourText.encode(Tour(area: "", track: track.places))
            guard case .object(let fields) = line else { preconditionFailure("a tour is an object") }
            return Response.json(
                JSONValue.object([
                    ("points", .integer(Int64(track.points))), fields.first { $0.0 == "track" }!,
                ]).rendered())
        }
    }

    // MARK: Media

    private func acceptMedium(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { _, connection in
            let medium: TourMedium
            do throws(TourMedium.Fault) { medium = try TourMedium(request.body) } catch {
                return .problem(422, type: "medium", detail: "The file is not accepted: \(error).")
            }
            guard let draft = try self.draft(request, on: connection) else { return TourRoutes.unknown }
            let digest = Hex.text(Secrets.sha256(medium.content))
            let kept = TourStore.Medium(mediaType: medium.mediaType, content: medium.content)
            switch try TourStore.keep(kept, digest: digest, of: draft.tour, on: connection) {
            case .unknown: return TourRoutes.unknown
            case .full:
                return .problem(
                    422, type: "medium",
                    detail: "The tour has as many pictures and films as it can hold, those of the last day included.")
            case .kept:
                return Response.json(
                    JSONValue.object([
                        ("medium", .text(digest)), ("type", .text(medium.mediaType)),
                        ("bytes", .integer(Int64(medium.content.count))),
                    ]).rendered())
            }
        }
    }

    private func showMedium(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { _, connection in
            guard let draft = try self.draft(request, on: connection), let name = request.parameters["medium"],
                TourText.isDigest(name), let medium = try TourStore.medium(name, of: draft.tour, on: connection)
            else { return TourRoutes.unknown }
            return Response(
                200,
                headers: [
                    ("Content-Type", medium.mediaType), ("Content-Disposition", "inline"),
                    // Browsers may run and load nothing in it, whatever they take it for.
                    ("Content-Security-Policy", "default-src 'none'; media-src 'self'; sandbox"),
                    ("Cross-Origin-Resource-Policy", "same-origin"),
                ], body: medium.content)
        }
    }

    // MARK: Publishing

    private func publish(_ request: Request) -> Response {
        access.call(request, for: TourRoutes.rangers) { caller, connection in
            guard let tree = try? JSONValue(request.body, bytesMax: 1_000, valuesMax: 10),
                let revision = tree["revision"]?.integer, let version = tree["version"]?.integer,
                (1...Int64(TourEvent.versionMax)).contains(version)
            else {
                return .problem(
                    422, type: "publish", detail: "`revision` and `version` must say what is published as what.")
            }
            guard let draft = try self.draft(request, isLocked: true, on: connection) else { return TourRoutes.unknown }
            // Sent twice it is published once.
            guard draft.revision == Int(revision), draft.version + 1 == Int(version) else {
                return TourRoutes.changedMeanwhile
            }
            do {
                let package = try Publication.publish(
                    draft, by: caller.account, base, coarse: base.tiles == nil ? coarseMap : nil, on: connection)
                return Response.json(
                    JSONValue.object([
                        ("version", .integer(version)), ("bytes", .integer(Int64(package.bytes))),
                        ("sha256", .text(package.digest)),
                        ("package", .text("/v1/tours/\(draft.tour)/versions/\(version)/package")),
                    ]).rendered())
            } catch let fault as TourPackage.Fault {
                return .problem(422, type: "publish", detail: "\(fault)")
            }
        }
    }
}

/// Makes the next version of a draft and keeps it.
enum Publication {
    /// Precondition: within the transaction that has locked the draft.
    static func publish(
        _ draft: TourStore.Draft, by account: String, _ base: BaseMap, coarse: CoarseMap?, on connection: Connection
    ) throws -> (bytes: Int, digest: String) {
        let tour = try TourText.decode(Array(draft.draft.utf8))
        var media: [String: TourPackage.Medium] = [:]
        for name in tour.media {
            media[name] = try TourStore.medium(name, of: draft.tour, on: connection).map {
                TourPackage.Medium(mediaType: $0.mediaType, content: $0.content)
            }
        }
        let version = draft.version + 1
        let tiles = try base.tiles.map { file in
            try MapTiles(of: tour, zooms: file.zooms, mediaType: file.type, attribution: base.attribution) {
                file.tile(zoom: $0, column: $1, row: $2)
            }
        }
        let package = try TourPackage(
            of: tour, id: draft.tour, version: version, media: media, tiles: tiles, coarse: coarse,
            sha256: sha256)
        let whole = package.archive
        let digest = Secrets.sha256(whole)
        var archives = [(fromVersion: 0, content: whole, digest: digest)]
        if let before = try TourVersionStore.files(draft.tour, version: draft.version, on: connection) {
            let delta = package.delta(
                from: draft.version, try files(before.files),
                digests: (from: Hex.text(before.digest), to: Hex.text(digest)), sha256: sha256)
            archives.append((fromVersion: draft.version, content: delta, digest: Secrets.sha256(delta)))
        }
        let names = JSONValue.object(package.files.map { ($0.name, .text($0.digest)) }).rendered()
        try TourVersionStore.publish(
            TourVersionStore.Made(
                version: version, area: tour.area, document: String(decoding: package.files[0].content, as: UTF8.self),
                files: names, waypoints: tour.waypoints.map(\.id), archives: archives),
            of: draft.tour, by: account, on: connection)
        return (whole.count, Hex.text(digest))
    }

    private static func sha256(_ bytes: [UInt8]) -> String { Hex.text(Secrets.sha256(bytes)) }

    /// Digests by name.
    private static func files(_ text: String) throws -> [String: String] {
        guard case .object(let fields) = try JSONValue(Array(text.utf8)) else { return [:] }
        return Dictionary(fields.map { ($0.key, $0.value.text ?? "") }) { first, _ in first }
    }
}
