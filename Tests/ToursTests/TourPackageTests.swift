import Foundation
import Testing
import Tours

@Suite struct TourPackageTests {
    private func package(_ version: Int = 1, _ change: (inout Tour) -> Void = { _ in }) throws -> TourPackage {
        try TourPackage(of: hillWalk(change), id: "hollental", version: version, media: media, sha256: sum)
    }

    @Test func itsBytesFollowFromItsContents() throws {
        let whole = try package()
        #expect(try whole.archive == package().archive)
        #expect(
            whole.files.map(\.name) == [
                "tour.json", "map.geojson", "media/\(filmName).mp4", "media/\(pictureName).png",
            ])
        // Python's own writer makes the same archive of the same files.
        let said = try python(
            """
            import io, sys, zipfile
            given = open(sys.argv[1], "rb").read()
            archive = zipfile.ZipFile(io.BytesIO(given))
            assert archive.testzip() is None
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
                for info in archive.infolist():
                    entry = zipfile.ZipInfo(info.filename)
                    entry.create_system, entry.external_attr = 3, 0o100644 << 16
                    made.writestr(entry, archive.read(info))
            print(out.getvalue() == given, len(archive.infolist()))
            """, [whole.archive])
        #expect(said == "True 4\n")
    }

    @Test func whatStandsInIt() throws {
        let files = try package().files
        let tour = try #require(try JSONSerialization.jsonObject(with: Data(files[0].content)) as? [String: Any])
        #expect(tour["area"] as? String == "Höllental" && tour["version"] as? Int == 1)
        let waypoints = try #require(tour["waypoints"] as? [[String: Any]])
        #expect(waypoints.map { $0["number"] as? Int } == [1, 2, 3])
        #expect(waypoints[1]["text"] as? String == "It is \"old\".\nVery.")
        let film = try #require((waypoints[2]["media"] as? [[String: Any]])?.first)
        #expect(film["file"] as? String == "media/\(filmName).mp4" && film["bytes"] as? Int == 70_000)
        let map = try #require(try JSONSerialization.jsonObject(with: Data(files[1].content)) as? [String: Any])
        let features = try #require(map["features"] as? [[String: Any]])
        let kinds = features.map { ($0["properties"] as? [String: String])?["kind"] }
        #expect(kinds == ["frame", "trail"])
        let line = (features[1]["geometry"] as? [String: Any])?["coordinates"] as? [[Double]]
        #expect(line?.first == [8.01, 47.91], "longitude first")
    }

    @Test func aDeltaAndTheEarlierFilesMakeTheNewArchive() throws {
        let old = try package(1)
        let new = try package(2) { tour in
            tour.waypoints[1].media = []
            tour.waypoints[2].media = [filmName]
            tour.waypoints[0].text = "Full on Sundays."
        }
        let delta = new.delta(
            from: 1, Dictionary(uniqueKeysWithValues: old.files.map { ($0.name, $0.digest) }),
            digests: (from: sum(old.archive), to: sum(new.archive)), sha256: sum)
        #expect(delta.count < 4_000, "the film is not sent again")
        let said = try python(
            """
            import io, json, sys, zipfile
            old, delta, new = (open(path, "rb").read() for path in sys.argv[1:4])
            had, got = zipfile.ZipFile(io.BytesIO(old)), zipfile.ZipFile(io.BytesIO(delta))
            out = io.BytesIO()
            listed = json.loads(got.read("delta.json"))
            with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
                for file in listed["files"]:
                    entry = zipfile.ZipInfo(file["name"])
                    entry.create_system, entry.external_attr = 3, 0o100644 << 16
                    made.writestr(entry, (got if file["is_here"] else had).read(file["name"]))
            print(out.getvalue() == new, [file["is_here"] for file in listed["files"]])
            """, [old.archive, delta, new.archive])
        #expect(said == "True [True, False, False]\n")
    }

    @Test func whatCannotBePublishedIsSaid() {
        #expect(throws: TourPackage.Fault.unfinished(["The tour needs a waypoint."])) {
            try package { $0.waypoints = [] }
        }
        let other = String(repeating: "f", count: 64)
        #expect(throws: TourPackage.Fault.mediumMissing(other)) { try package { $0.waypoints[0].media = [other] } }
        #expect(throws: TourPackage.Fault.self) {
            let film = TourPackage.Medium(mediaType: "video/mp4", content: [UInt8](repeating: 0, count: 33 << 20))
            let names = [pictureName, filmName]
            _ = try TourPackage(
                of: hillWalk(), id: "t", version: 1, media: Dictionary(uniqueKeysWithValues: names.map { ($0, film) }),
                sha256: { _ in pictureName })
        }
    }

    // MARK: Tiles

    /// As slippy maps count them: wiki.openstreetmap.org/wiki/Slippy_map_tilenames has these two.
    @Test func tilesCoverTheFrame() {
        let small = Corners(southWest: place(51.510, -0.12), northEast: place(51.511, -0.119))
        #expect(TileCover(small, zoom: 0) == TileCover(small, zoom: 0) && TileCover(small, zoom: 0).count == 1)
        let london = TileCover(Corners(southWest: place(51.5, -0.13), northEast: place(51.52, 0.01)), zoom: 10)
        #expect(london.columns == 511...512 && london.rows == 340...340)
        let brest = TileCover(Corners(southWest: place(48.3, -4.6), northEast: place(48.5, -4.3)), zoom: 12)
        #expect(brest.columns == 1995...1999 && brest.rows == 1415...1418)
        let pole = TileCover(Corners(southWest: place(88.5, 179), northEast: place(90, 180)), zoom: 3)
        #expect(pole.columns == 7...7 && pole.rows == 0...0)
    }

    @Test func aMapIsCutAndKeptWithWhoMadeIt() throws {
        var asked = 0
        let tour = hillWalk { $0.mapZoom = 12 }
        let tiles = try MapTiles(of: tour, zooms: 8...14, mediaType: "image/png", attribution: "The makers") {
            zoom, column, row in
            asked += 1
            return zoom == 9 ? nil : Array("tile \(zoom) \(column) \(row)".utf8)
        }
        #expect(asked == (8...12).reduce(0) { $0 + TileCover(tour.corners!, zoom: $1).count })
        let whole = try TourPackage(of: tour, id: "t", version: 1, media: media, tiles: tiles, sha256: sum)
        let names = whole.files.map(\.name)
        #expect(
            names.contains("tiles/8/133/88.png")
                && !names.contains { $0.hasPrefix("tiles/9/") || $0.hasPrefix("tiles/13/") })
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(whole.files[0].content)) as? [String: Any])
        let map = try #require((document["map"] as? [String: Any])?["tiles"] as? [String: Any])
        #expect(map["attribution"] as? String == "The makers" && map["count"] as? Int == tiles.tiles.count)
        #expect(map["zoom_min"] as? Int == 8 && map["zoom_max"] as? Int == 12)
    }

    @Test func tooMuchMapIsRefused() {
        for (zoom, bytes) in [(17, 1), (14, 1 << 20)] {
            #expect(throws: TourPackage.Fault.self) {
                try MapTiles(
                    of: hillWalk { $0.mapZoom = zoom }, zooms: 0...17, mediaType: "image/png", attribution: "x"
                ) { _, _, _ in [UInt8](repeating: 0, count: bytes) }
            }
        }
    }
}
