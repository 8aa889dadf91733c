internal import Codecs
package import Fleet

extension Upload {
    /// Records of one campus.
    package init(rides records: [RideRecord]) throws(Fault) {
        try unsafe self.init(
            topic: Topic.dispatch, records, key: \.campus, encode: RideRecords.encode, decode: RideRecords.decode)
    }

    /// Downloads and visits, each keyed by its tour.
    package init(tours events: [TourEvent]) throws(Fault) {
        try unsafe self.init(
            topic: Topic.tours, events, key: \.tour, encode: TourRecords.encode, decode: TourRecords.decode)
    }

    /// Records of one site.
    package init(surveys records: [SurveyRecord]) throws(Fault) {
        try unsafe self.init(
            topic: Topic.sightings, records, key: \.site, encode: SurveyRecords.encode, decode: SurveyRecords.decode)
    }

    /// Goes to the log before the others.
    package mutating func insert(survey record: SurveyRecord) throws(Fault) {
        items.insert(try unsafe Upload.item(record.site, SurveyRecords.encode(record), SurveyRecords.decode), at: 0)
        reasons.insert(nil, at: 0)
    }
}
