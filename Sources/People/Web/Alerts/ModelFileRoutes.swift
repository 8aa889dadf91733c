internal import Alerts
internal import Codecs
internal import Formats
internal import Foundation
internal import HTTPServer
internal import Presentation

/// The models, their thresholds and pictures, for programs that judge without a connection: the files of the thresholds'
/// folder as they are, read with each request. Only names that `tractors.xml` lists are looked for.
package struct ModelFileRoutes: Sendable {
    static let bytesMax = 4 << 20
    private static let pictureTypes = ["svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg"]

    private let folder: String

    package init(folder: String) { self.folder = folder }

    func add(to router: inout Router) {
        router.add("GET", "/v1/models") { request in
            answer { .json(JSONValue.list(try models().map(summary)).rendered()) }.conditional(request)
        }
        router.add("GET", "/v1/models/{name}/thresholds.xml") { request in
            answer {
                let model = try model(request)
                guard let bytes = try read(model.thresholdsFile) else { throw Fault.missing }
                return Response(200, headers: [("Content-Type", "application/xml")], body: bytes)
            }.conditional(request)
        }
        router.add("GET", "/v1/models/{name}/picture") { request in
            answer {
                guard let image = try model(request).image, let type = ModelFileRoutes.type(of: image),
                    let bytes = try read("pictures/" + image)
                else { throw Fault.missing }
                return Response(
                    200,
                    headers: [
                        ("Content-Type", type),
                        // An SVG that is opened by itself is a page: it may run nothing and load nothing.
                        ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
                    ], body: bytes)
            }.conditional(request)
        }
    }

    private enum Fault: Error {
        case missing
        case unreadable(String)
    }

    private func answer(_ make: () throws -> Response) -> Response {
        do {
            return try make()
        } catch Fault.missing {
            return .problem(404, type: "not-found", detail: "There is no such model, or it has no such file.")
        } catch {
            return .problem(
                503, type: "models", detail: "The models cannot be read. `drover check` says what is wrong with them."
            ).with("Retry-After", "60")
        }
    }

    private func models() throws -> [MachineModel] {
        guard let bytes = try read("tractors.xml") else { throw Fault.unreadable("tractors.xml") }
        return try ModelList.parse(fileName: "tractors.xml", bytes: bytes)
    }

    private func model(_ request: Request) throws -> MachineModel {
        guard let model = try models().first(where: { $0.name == request.parameters["name"] }) else {
            throw Fault.missing
        }
        return model
    }

    /// A model as pages name it.
    struct Listed: Sendable {
        let name: String
        /// The address of its picture.
        let picture: String?
    }

    /// Empty where they cannot be read: pages say what they can.
    func listed() -> [Listed] {
        ((try? models()) ?? []).map { model in
            Listed(
                name: model.name,
                picture: hasPicture(model) ? "/v1/models/" + URLText.escaped(model.name) + "/picture" : nil)
        }
    }

    private func hasPicture(_ model: MachineModel) -> Bool {
        guard let image = model.image, ModelFileRoutes.type(of: image) != nil else { return false }
        return FileManager.default.fileExists(atPath: folder + "/pictures/" + image)
    }

    private func summary(_ model: MachineModel) -> JSONValue {
        let address = "/v1/models/" + URLText.escaped(model.name)
        let hasThresholds = FileManager.default.fileExists(atPath: folder + "/" + model.thresholdsFile)
        return .object([
            ("name", .text(model.name)), ("fuel_capacity_gal", .number(model.fuelCapacityGal.map { String($0) })),
            ("thresholds", .optional(hasThresholds ? address + "/thresholds.xml" : nil)),
            ("picture", .optional(hasPicture(model) ? address + "/picture" : nil)),
        ])
    }

    /// Nil: there is no such file. `name` is made of what `tractors.xml` says, never of a request.
    private func read(_ name: String) throws -> [UInt8]? {
        guard let handle = FileHandle(forReadingAtPath: folder + "/" + name) else { return nil }
        defer { try? handle.close() }  // Read only: nothing can be lost by a failing close.
        guard let data = try handle.read(upToCount: ModelFileRoutes.bytesMax + 1),
            data.count <= ModelFileRoutes.bytesMax
        else {
            throw Fault.unreadable(name)
        }
        return [UInt8](data)
    }

    private static func type(of image: String) -> String? {
        pictureTypes[String(image.split(separator: ".").last ?? "").lowercased()]
    }
}

extension MachineModel {
    /// Precondition: names of models hold no `/`: `ModelList` sees to it.
    fileprivate var thresholdsFile: String { name + "-thresholds.xml" }
}
