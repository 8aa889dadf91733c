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
    static func fault(_ text: String) -> HTML {
        "<p role=\"alert\" class=\"strip critical\">\(icon(.warn))<span>\(text)</span></p>"
    }

    /// The result of a submission.
    static func notice(_ notice: FormView.Notice) -> HTML {
        notice.isFault
            ? fault(notice.text)
            : "<p role=\"status\" class=\"strip ok\">\(icon(.check))<span>\(notice.text)</span></p>"
    }

    /// A severity or state as shape, word and colour. `tone` is a class of `.pill`: critical, warning, ok, info, idle, quiet, silent, service, plain.
    static func pill(_ tone: String, _ words: String) -> HTML { "<span class=\"pill \(tone)\">\(words)</span>" }

    /// What a page or card shows while it has nothing: what comes here, and how.
    static func emptyState(_ icon: IconName, _ title: String, _ words: HTML, action: HTML = "") -> HTML {
        """
        <div class="empty"><span class="ic">\(HTML.icon(icon))</span><b>\(title)</b><p>\(words)</p>\
        \(action.isEmpty ? "" : "<div class=\"row\">\(action)</div>")</div>
        """
    }

    /// A figure with its unit: `7.9 L/100 km`.
    static func figure(_ value: String, _ unit: String, size: StaticString = "fig") -> HTML {
        "<span class=\"\(HTML(stringLiteral: size))\">\(value)<small>\(unit)</small></span>"
    }
}
