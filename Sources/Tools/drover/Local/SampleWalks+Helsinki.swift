import Fleet

/// Places and butterflies of Helsinki. Seasons and relative numbers are set by hand, after what is known of southern Finland; no record is
/// anybody's.
extension SampleWalks {
    static let sites: [Site] = [
        site(
            "toolonlahti", "Töölönlahti Bay", "lakeside park", [.park, .shore], sannas: true,
            [
                (60.1762, 24.9348), (60.1778, 24.9331), (60.1797, 24.9322), (60.1816, 24.9337), (60.1821, 24.9372),
                (60.1806, 24.9391),
            ]),
        site(
            "laakso", "Central Park, Laakso", "forest edge and meadow", [.wood, .meadow], sannas: true,
            [
                (60.1953, 24.9132), (60.1972, 24.9118), (60.1991, 24.9109), (60.2012, 24.9101), (60.2031, 24.9089),
                (60.2052, 24.9081),
            ]),
        site(
            "lapinlahti", "Lapinlahti Park", "old hospital park by the sea", [.park, .meadow, .shore], sannas: true,
            [(60.1683, 24.9121), (60.1671, 24.9102), (60.1662, 24.9083), (60.1653, 24.9101), (60.1659, 24.9128)]),
        site(
            "kaivopuisto", "Kaivopuisto", "rock and lawn", [.park], sannas: false,
            [(60.1581, 24.9539), (60.1569, 24.9561), (60.1559, 24.9588), (60.1553, 24.9561), (60.1560, 24.9529)]),
        site(
            "suomenlinna", "Suomenlinna ramparts", "dry meadow on ramparts", [.meadow, .shore], sannas: false,
            [(60.1469, 24.9852), (60.1452, 24.9861), (60.1436, 24.9849), (60.1421, 24.9837), (60.1408, 24.9819)]),
        site(
            "viikki", "Viikki fields", "field margins", [.meadow, .wood], sannas: false,
            [
                (60.2242, 25.0163), (60.2231, 25.0201), (60.2218, 25.0238), (60.2203, 25.0262), (60.2192, 25.0223),
                (60.2201, 25.0179),
            ]),
        site(
            "uutela", "Uutela shore", "coastal heath", [.wood, .shore, .heath], sannas: false,
            [(60.2049, 25.1821), (60.2032, 25.1842), (60.2013, 25.1857), (60.1998, 25.1883), (60.1987, 25.1919)]),
    ]

    private static func site(
        _ id: String, _ name: String, _ habitat: String, _ kinds: Set<Kind>, sannas: Bool, _ line: [(Double, Double)]
    ) -> Site {
        Site(site: "sample-" + id, name: name, habitat: habitat, line: line, kinds: kinds, isSannas: sannas)
    }

    static let species: [Species] = [
        one("Gonepteryx rhamni", [.wood, .park], .patrolling, (122, 16, 2.5), (218, 18, 3)),
        one("Aglais urticae", [.meadow, .park], .nectaring, (116, 14, 2), (188, 13, 3), (236, 16, 2)),
        one("Aglais io", [.meadow, .park, .wood], .nectaring, (124, 14, 1.4), (222, 16, 4.5)),
        one("Nymphalis antiopa", [.wood], .basking, (120, 14, 0.4), (232, 14, 0.3)),
        one("Nymphalis xanthomelas", [.wood], .basking, (114, 9, 0.12)),
        one("Polygonia c-album", [.wood, .park], .basking, (122, 13, 0.5), (214, 16, 1)),
        one("Vanessa atalanta", [.park, .meadow, .shore], .nectaring, (168, 18, 0.5), (238, 20, 2.5)),
        one("Vanessa cardui", [.meadow, .shore], .nectaring, (172, 18, 0.5), (222, 17, 0.7)),
        one("Araschnia levana", [.wood, .park], .nectaring, (144, 11, 1), (206, 13, 2)),
        one("Celastrina argiolus", [.wood, .park], .patrolling, (140, 12, 1.8), (206, 10, 0.3)),
        one("Anthocharis cardamines", [.wood, .meadow, .park], .patrolling, (146, 10, 2.6)),
        one("Pieris napi", [.meadow, .wood, .park, .shore], .patrolling, (142, 14, 3.2), (207, 17, 8)),
        one("Pieris rapae", [.meadow, .park], .patrolling, (146, 13, 0.8), (216, 16, 2.6)),
        one("Pieris brassicae", [.meadow, .park], .nectaring, (152, 13, 0.3), (216, 15, 0.8)),
        one("Leptidea sinapis", [.wood], .patrolling, (152, 12, 0.7)),
        one("Callophrys rubi", [.wood], .perching, (137, 12, 1)),
        one("Pararge aegeria", [.wood], .perching, (144, 13, 1), (216, 14, 1.4)),
        one("Lasiommata maera", [.wood, .shore], .basking, (176, 12, 0.5)),
        one("Coenonympha pamphilus", [.meadow], .perching, (164, 13, 1), (226, 12, 0.5)),
        one("Coenonympha glycerion", [.meadow], .perching, (181, 11, 0.8)),
        one("Aphantopus hyperantus", [.meadow, .wood, .park], .nectaring, (194, 12, 12)),
        one("Maniola jurtina", [.meadow], .nectaring, (196, 12, 1.6)),
        one("Erebia ligea", [.wood], .nectaring, (193, 11, 0.9)),
        one("Polyommatus icarus", [.meadow, .shore], .nectaring, (172, 13, 2), (226, 12, 1.2)),
        one("Polyommatus amandus", [.meadow], .nectaring, (179, 11, 1.1)),
        one("Cyaniris semiargus", [.meadow], .nectaring, (177, 11, 1)),
        one("Plebejus argus", [.shore, .wood], .perching, (186, 11, 1.4)),
        one("Aricia artaxerxes", [.meadow], .nectaring, (187, 11, 0.4)),
        one("Lycaena virgaureae", [.meadow, .wood], .nectaring, (201, 12, 1.8)),
        one("Lycaena phlaeas", [.meadow, .shore], .perching, (150, 12, 0.4), (218, 14, 0.7)),
        one("Lycaena hippothoe", [.meadow], .perching, (174, 10, 0.3)),
        one("Thecla betulae", [.wood], .perching, (236, 12, 0.2)),
        one("Favonius quercus", [.park], .perching, (214, 11, 0.3)),
        one("Thymelicus lineola", [.meadow, .shore, .park], .nectaring, (195, 11, 4.5)),
        one("Ochlodes sylvanus", [.meadow, .wood], .perching, (179, 12, 2)),
        one("Carterocephalus silvicola", [.wood], .perching, (150, 11, 0.6)),
        one("Argynnis paphia", [.wood], .nectaring, (203, 13, 2.6)),
        one("Speyeria aglaja", [.meadow, .shore], .nectaring, (196, 12, 0.9)),
        one("Fabriciana adippe", [.wood, .meadow], .nectaring, (196, 11, 0.4)),
        one("Brenthis ino", [.meadow, .wood], .nectaring, (187, 11, 1.8)),
        one("Boloria selene", [.meadow, .wood], .patrolling, (165, 12, 0.9)),
        one("Boloria euphrosyne", [.wood], .patrolling, (154, 11, 0.5)),
        one("Issoria lathonia", [.meadow, .shore], .basking, (216, 16, 0.5)),
        one("Melitaea athalia", [.meadow, .wood], .nectaring, (178, 11, 0.7)),
        one("Limenitis populi", [.wood], .puddling, (180, 8, 0.07)),
        one("Apatura iris", [.wood], .puddling, (196, 9, 0.06)),
        one("Aporia crataegi", [.park, .shore], .nectaring, (173, 9, 0.6)),
        one("Papilio machaon", [.shore], .patrolling, (162, 12, 0.1)),
        // Its places are nobody's business: pages show those of its site blurred.
        one("Parnassius apollo", [.heath], .nectaring, (196, 12, 0.5)),
    ]

    private static func one(
        _ name: String, _ kinds: Set<Kind>, _ behaviour: Sighting.Behaviour,
        _ flights: (day: Double, spread: Double, count: Double)...
    ) -> Species {
        Species(name: name, flights: flights, kinds: kinds, behaviour: behaviour)
    }
}
