internal import Presentation

/// Parts that many pages share.
extension HTML {
    /// The options of a `select`.
    static func options(_ values: [(String, String)], _ chosen: String?) -> HTML {
        values.map { value, text in
            "<option value=\"\(value)\"\(" selected", if: value == chosen)>\(text)</option>"
        }.joined()
    }

    /// Why what was asked for was not done; screen readers say it at once.
    static func fault(_ text: String) -> HTML { "<p role=\"alert\" class=\"critical\">\(text)</p>" }

    /// The result of a submission.
    static func notice(_ notice: FormView.Notice) -> HTML {
        notice.isFault ? fault(notice.text) : "<p role=\"status\" class=\"soon\">\(notice.text)</p>"
    }
}
