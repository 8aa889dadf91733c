extension HTML {
    /// A whole page: works without script, on a phone and in print. The style is inline, so a report is one file.
    /// - Parameter head: what else stands in the head.
    package static func page(title: String, head: HTML = "", body: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="\(Language.currentTag)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <style>\(style)</style>\(head)
        </head>
        <body>
        \(body)
        </body>
        </html>

        """
    }

    /// A page of the web server: its style is in files, so that a browser keeps it.
    package static func document(title: String, head: HTML, body: HTML, bodyClass: HTML = "") -> HTML {
        """
        <!doctype html>
        <html lang="\(Language.currentTag)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <title>\(title)</title>
        \(head)
        </head>
        <body\(" class=\"\(bodyClass)\"", if: !bodyClass.isEmpty)>
        \(body)
        </body>
        </html>

        """
    }

    /// Colours keep a contrast of at least 4.5 to 1 in light and dark.
    package static let style: HTML = """
        :root{color-scheme:light dark;--ink:#1b1f23;--soft:#57606a;--line:#d0d7de;--back:#fff;--band:#f6f8fa;--accent:#0b5c8a;--warn:#8a4b00;--crit:#b3141d}
        @media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#a0a9b3;--line:#3d444d;--back:#0d1117;--band:#161b22;--accent:#79c0ff;--warn:#e3b341;--crit:#ff8f87}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:75rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back)}
        h1{font-size:1.5rem;margin:.25rem 0}h2{font-size:1.15rem;margin:1.75rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}
        a{color:var(--accent)}p{margin:.25rem 0}code{overflow-wrap:anywhere}.soft,.empty{color:var(--soft)}
        .scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem}
        .scroll:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{padding:.4rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
        th{background:var(--band);font-weight:600}tbody tr:last-child td{border-bottom:0}.num{text-align:right;white-space:nowrap}th.num{white-space:normal}td.nowrap,.t{white-space:nowrap}td.prose{min-width:12rem}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:1rem 0;padding:0;list-style:none}
        .tiles li{border:1px solid var(--line);border-radius:.4rem;padding:.6rem .8rem}.tiles b{display:block;font-size:1.35rem}
        .warning{color:var(--warn);font-weight:600}.critical{color:var(--crit);font-weight:700}.soon{color:var(--accent);font-weight:600}
        svg[role=img]{width:100%;height:auto;display:block}svg .axis{stroke:var(--line)}svg text{fill:var(--soft);font-size:11px}svg .speed{fill:none;stroke:var(--accent);stroke-width:1.5}svg .bar{fill:var(--accent)}
        .narrow{max-width:30rem;margin:0 auto}.fields{display:grid;gap:.35rem;margin:1rem 0}.fields button{margin-top:.6rem;justify-self:start}
        input,select,textarea,button{font:inherit;color:inherit;background:var(--back);border:1px solid var(--soft);border-radius:.4rem;padding:.5rem .6rem}
        input:not([type=checkbox]),select,textarea{width:100%}button{background:var(--accent);color:var(--back);border-color:var(--accent);cursor:pointer;min-height:2.75rem;padding:.5rem 1rem}
        label{font-weight:600}.check{font-weight:400;display:flex;gap:.5rem;align-items:center;min-height:2.75rem}.check input{width:1.25rem;height:1.25rem}
        fieldset{border:1px solid var(--line);border-radius:.4rem}summary{cursor:pointer;padding:.6rem 0;min-height:2.75rem}
        input:focus-visible,select:focus-visible,textarea:focus-visible,button:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        @media print{.scroll{overflow:visible;border:0}body{max-width:none}}
        """
}
