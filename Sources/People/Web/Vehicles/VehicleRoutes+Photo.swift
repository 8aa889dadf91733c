internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// A photo of a single machine, by its owner or dealer. The page's script makes it small; metadata, above all the place, is taken out here.
extension VehicleRoutes {
    static let photographers: Set<Role> = [.farmer, .dealer, .fleetManager, .administrator]

    func addPhotos(to router: inout Router) {
        router.add("GET", "/vehicles/{vehicle}/photo") { request in
            access.call(request, for: WebRoutes.fleetReaders) { _, connection in
                guard let photo = try MachinePhotoStore.photo(of: request.parameters["vehicle"]!, on: connection) else {
                    return VehicleRoutes.noPhoto
                }
                return Response(
                    200,
                    headers: [
                        ("Content-Type", photo.mediaType), ("Content-Disposition", "inline"),
                        ("X-Content-Type-Options", "nosniff"),
                        // Browsers may run and load nothing in it, whatever they take it for.
                        ("Content-Security-Policy", "default-src 'none'; sandbox"),
                        ("Cross-Origin-Resource-Policy", "same-origin"),
                        // Asked for by its digest: another photo has another address.
                        ("Cache-Control", "private, max-age=86400"),
                        // The next one who logs in at this browser asks for themselves.
                        ("Vary", "Cookie"),
                    ], body: photo.content)
            }
        }
        router.add("POST", "/vehicles/{vehicle}/photo") { request in
            access.call(request, for: VehicleRoutes.photographers) { _, connection in
                try keepPhoto(request, connection)
            }
        }
        router.add("POST", "/vehicles/{vehicle}/photo/remove") { request in
            access.form(request, for: VehicleRoutes.photographers) { _, _, connection in
                guard let vehicle = VehicleID(request.parameters["vehicle"]!),
                    try MachinePhotoStore.remove(of: vehicle.text, on: connection)
                else { return VehicleRoutes.notYours }
                return VehicleRoutes.seen(vehicle, isCar: false, said: "changed", .details)
            }
        }
    }

    private static let noPhoto = Response.problem(
        404, type: "not-found", detail: "There is no photo of such a machine that you may see.")

    private func keepPhoto(_ request: Request, _ connection: Connection) throws -> Response {
        guard let vehicle = VehicleID(request.parameters["vehicle"]!) else { return VehicleRoutes.notYours }
        let file: PhotoFile
        do throws(PhotoFile.Fault) { file = try PhotoFile(request.body) } catch {
            return .problem(422, type: "photo", detail: "The photo is not accepted: \(error).")
        }
        guard file.content.count <= MachinePhotoStore.bytesMax else {
            return .problem(
                422, type: "photo",
                detail: "The photo has \(file.content.count) bytes, at most \(MachinePhotoStore.bytesMax) are kept.")
        }
        let photo = MachinePhotoStore.Photo(mediaType: file.mediaType, content: file.content)
        let digest = Hex.text(Secrets.sha256(file.content))
        guard try MachinePhotoStore.keep(photo, digest: digest, of: vehicle.text, on: connection) else {
            return VehicleRoutes.notYours
        }
        return .json(JSONValue.object([("photo", .text(digest))]).rendered())
    }
}

/// The photo of a machine on its page, and the form for another one, which needs a script: it makes the photo small first.
struct MachinePhotoView {
    let about: VehicleView.About
    let caller: PageCaller
    let known: MachinePhotoStore.Known

    private var path: String { "/vehicles/\(URLText.escaped(about.vehicle))/photo" }

    /// Nil: there is none.
    var picture: HTML? {
        known.photo.map {
            "<img class=\"photo\" src=\"\(path)?v=\($0)\" alt=\"Photo of \(about.name ?? about.vehicle)\">"
        }
    }

    var form: HTML {
        guard known.isTheirs, !caller.roles.isDisjoint(with: VehicleRoutes.photographers) else { return "" }
        let remove: HTML = """
            <form method="post" action="\(path)/remove">\(FormView.hidden(CSRFGuard.field, caller.mark))\
            <button class="btn small ghost">Remove photo</button></form>
            """
        return """
            <div class="row wrap"><label class="btn small" id="photo" data-address="\(path)" data-mark="\(caller.mark)" hidden>\
            \(HTML.icon(.camera))\(known.photo == nil ? t("Add a photo") : t("Other photo"))\
            <input class="sr" type="file" accept="image/jpeg,image/png,image/webp"></label>\(known.photo == nil ? "" : remove)</div>
            <p class="soft small" id="photo-said" role="status" hidden></p>
            """
    }
}
