/// A place of a campus as people call it: *Library*, *Main gate*.
public struct CampusPlace: Equatable, Sendable {
    public let name: String
    public let place: Position

    /// Places of a campus.
    public static let countMax = 200
    public static let nameBytesMax = 80

    /// Nil: nobody could read this name, or a line could not hold it.
    public init?(name: String, place: Position) {
        let breaks: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        let isOneLine = name.unicodeScalars.allSatisfy { !breaks.contains($0.properties.generalCategory) }
        guard isOneLine, !name.allSatisfy(\.isWhitespace), name.utf8.count <= CampusPlace.nameBytesMax else {
            return nil
        }
        (self.name, self.place) = (name, place)
    }
}

extension CampusSettings {
    /// What stands after `said`: settings without a word on places leave them, and a change of places leaves all else. It counts only when it
    /// was made from the places that stand, so that of two at once none is lost unseen.
    public func changed(by said: CampusSettings) -> CampusSettings {
        var next = said.placesBase == nil ? said : self
        (next.places, next.placesVersion, next.placesBase) = (places, placesVersion, nil)
        guard let told = said.places, told != places ?? [], said.placesBase ?? placesVersion == placesVersion else {
            return next
        }
        // It only has to differ: a record may have told any number.
        (next.places, next.placesVersion) = (told, placesVersion &+ 1)
        return next
    }

    /// The same but for what people call its places.
    public func isSame(butPlacesOf other: CampusSettings) -> Bool {
        var same = self
        (same.places, same.placesVersion, same.placesBase) = (other.places, other.placesVersion, other.placesBase)
        return same == other
    }
}
