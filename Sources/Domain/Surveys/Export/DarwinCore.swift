internal import Codecs
internal import Formats

/// The files of a Darwin Core Archive with an event core (TDWG, "Darwin Core text guide", 2014): terms by the names of the
/// list at dwc.tdwg.org/terms, tables as text with tabs.
package enum DarwinCore {
    /// A table of the archive.
    package struct Table: Sendable {
        package let file: String
        package let rowType: String
        /// The first column is the event's id.
        package let terms: [String]
        private let footprint: Int?

        init(file: String, rowType: String, terms: [String]) {
            self.file = file
            self.rowType = rowType
            self.terms = terms
            footprint = terms.firstIndex(of: "footprintWKT")
        }

        func isFootprint(_ column: Int) -> Bool { column == footprint }
    }

    private static let namespace = "http://rs.tdwg.org/dwc/terms/"

    package static let events = Table(
        file: "event.txt", rowType: namespace + "Event",
        terms: [
            "eventID", "parentEventID", "eventDate", "locationID", "locality", "verbatimLocality", "footprintWKT",
            "footprintSRS", "decimalLatitude", "decimalLongitude", "geodeticDatum", "coordinateUncertaintyInMeters",
            "samplingProtocol", "samplingEffort", "sampleSizeValue", "sampleSizeUnit", "eventRemarks",
            "dataGeneralizations", "informationWithheld", "dynamicProperties",
        ])
    package static let occurrences = Table(
        file: "occurrence.txt", rowType: namespace + "Occurrence",
        terms: [
            "eventID", "occurrenceID", "basisOfRecord", "eventDate", "scientificName", "taxonID",
            "verbatimIdentification", "individualCount", "occurrenceStatus", "decimalLatitude", "decimalLongitude",
            "geodeticDatum", "coordinateUncertaintyInMeters", "recordedBy", "lifeStage", "sex", "behavior",
            "identificationRemarks", "habitat", "occurrenceRemarks", "associatedMedia", "associatedTaxa",
            "dataGeneralizations", "informationWithheld", "dynamicProperties",
        ])
    package static let measurements = Table(
        file: "measurementorfact.txt", rowType: namespace + "MeasurementOrFact",
        terms: [
            "eventID", "measurementID", "occurrenceID", "measurementType", "measurementValue", "measurementUnit",
            "measurementMethod", "measurementDeterminedDate",
        ])
    package static let tables = [events, occurrences, measurements]

    /// The first line of a table.
    package static func head(_ table: Table) -> [UInt8] { Array((table.terms.joined(separator: "\t") + "\n").utf8) }

    /// One line. The guide's tables have no escapes: control characters become blanks.
    package static func line(_ fields: [[UInt8]?], of table: Table) -> [UInt8] {
        precondition(fields.count == table.terms.count, "a row has as many fields as the table has terms")
        var line: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { line.append(0x09) }
            for byte in field ?? [] { line.append(blanked(byte)) }
        }
        line.append(0x0A)
        return line
    }

    /// Appends a line made of a row of COPY (text format, NULL as nothing) whose columns are the table's terms. A
    /// footprint comes as an encoded polyline and leaves as well-known text.
    package static func append(_ row: Span<UInt8>, of table: Table, to lines: inout [UInt8]) {
        var (at, column, start) = (0, 0, lines.count)
        while at < row.count {
            let byte = row[at]
            at += 1
            switch byte {
            case 0x09:
                if table.isFootprint(column) { writeFootprint(start, &lines) }
                lines.append(0x09)
                column = column + 1
                start = lines.count
            case 0x0A: break
            case UInt8(ascii: "\\") where at < row.count:
                lines.append(blanked(CopyText.unescaped(row[at])))
                at += 1
            default: lines.append(blanked(byte))
            }
        }
        precondition(column + 1 == table.terms.count, "a row has as many fields as the table has terms")
        if table.isFootprint(column) { writeFootprint(start, &lines) }
        lines.append(0x0A)
    }

    /// Readers differ in which control characters end a line.
    private static func blanked(_ byte: UInt8) -> UInt8 { byte < 0x20 || byte == 0x7F ? 0x20 : byte }

    private static func writeFootprint(_ start: Int, _ lines: inout [UInt8]) {
        guard start < lines.count else { return }
        let line = WalkLine(encoded: lines[start...])
        lines.removeSubrange(start...)
        lines += line.map { Array($0.wellKnownText.utf8) } ?? []
    }

    /// `meta.xml`: which columns are which terms.
    package static var meta: [UInt8] {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <archive xmlns="http://rs.tdwg.org/dwc/text/" metadata="eml.xml">

            """
        for (index, table) in tables.enumerated() {
            let (element, id) = index == 0 ? ("core", "id") : ("extension", "coreid")
            text += """
                  <\(element) encoding="UTF-8" fieldsTerminatedBy="\\t" linesTerminatedBy="\\n" fieldsEnclosedBy="" \
                ignoreHeaderLines="1" rowType="\(table.rowType)">
                    <files><location>\(table.file)</location></files>
                    <\(id) index="0"/>

                """
            for (column, term) in table.terms.enumerated() {
                text += "    <field index=\"\(column)\" term=\"\(namespace)\(term)\"/>\n"
            }
            text += "  </\(element)>\n"
        }
        return Array((text + "</archive>\n").utf8)
    }

    /// The metadata of an archive.
    package struct Dataset: Sendable {
        package var title: String
        /// The publishing organisation.
        package var creator: String
        /// The licence.
        package var rights: String
        package init(title: String, creator: String, rights: String) {
            self.title = title
            self.creator = creator
            self.rights = rights
        }
    }

    /// `eml.xml`, with what GBIF's profile of EML 2.1.1 asks for at least.
    /// - Parameter date: of the export, as 2026-11-22.
    package static func eml(_ dataset: Dataset, date: String, id: String) -> [UInt8] {
        let (title, creator) = (XMLRPC.escaped(dataset.title), XMLRPC.escaped(dataset.creator))
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <eml:eml xmlns:eml="eml://ecoinformatics.org/eml-2.1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
            xsi:schemaLocation="eml://ecoinformatics.org/eml-2.1.1 http://rs.gbif.org/schema/eml-gbif-profile/1.1/eml.xsd" \
            packageId="\(XMLRPC.escaped(id))" system="drover" scope="system" xml:lang="en">
              <dataset>
                <title xml:lang="en">\(title)</title>
                <creator><organizationName>\(creator)</organizationName></creator>
                <metadataProvider><organizationName>\(creator)</organizationName></metadataProvider>
                <pubDate>\(XMLRPC.escaped(date))</pubDate>
                <language>en</language>
                <abstract><para>Surveys of butterflies on walks, with each sighting, its place, time and weather.</para></abstract>
                <intellectualRights><para>\(XMLRPC.escaped(dataset.rights))</para></intellectualRights>
                <contact><organizationName>\(creator)</organizationName></contact>
              </dataset>
            </eml:eml>

            """.utf8)
    }
}
