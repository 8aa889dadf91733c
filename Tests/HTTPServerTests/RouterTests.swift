import HTTPServer
import Testing

@Suite struct RouterTests {
    let router = {
        var router = Router()
        router.add("GET", "/") { _ in .text("home") }
        router.add("GET", "/vehicles/{vehicle}/trips") { .text("trips of \($0.parameters["vehicle"]!)") }
        router.add("POST", "/vehicles/{vehicle}/trips") { _ in Response(202) }
        router.add("GET", "/vehicles/all/trips") { _ in .text("never: the pattern before matches") }
        return router
    }()

    func answer(_ method: String, _ path: String) -> Response { router.route(Request(method: method, path: path)) }

    @Test func segmentsBecomeParameters() {
        #expect(answer("GET", "/vehicles/a b/trips").body == Array("trips of a b".utf8))
        #expect(answer("HEAD", "/vehicles/a/trips").status == 200)
        #expect(answer("POST", "/vehicles/a/trips").status == 202)
        #expect(answer("GET", "/").body == Array("home".utf8))
    }

    @Test func unknownAddressesAreProblems() {
        for path in ["/vehicles", "/vehicles//trips", "/vehicles/a/trips/", "/x"] {
            let response = answer("GET", path)
            #expect(response.status == 404)
            #expect(response.header("content-type") == "application/problem+json")
        }
        #expect(
            String(decoding: answer("GET", "/x").body, as: UTF8.self).contains(
                #""type":"urn:drover:problem:not-found""#))
    }

    @Test func otherMethodsAreToldWhichThereAre() {
        let response = answer("DELETE", "/vehicles/a/trips")
        #expect(response.status == 405)
        #expect(response.header("Allow") == "GET, HEAD, OPTIONS, POST")
        #expect(answer("OPTIONS", "/vehicles/a/trips").status == 204)
        #expect(answer("HEAD", "/x").status == 404)
    }

    @Test(arguments: [
        ("/", "/", 1), ("/a/b", "/a/b", 2), ("/a%2Fb", "/a/b", 1), ("/K%C3%B6ln", "/Köln", 1), ("/a+b", "/a+b", 1),
        ("/a/", "/a/", 2),
    ])
    func goodTargets(_ raw: String, _ path: String, _ segments: Int) {
        let target = Target(Array(raw.utf8))
        #expect(target?.path == path)
        #expect(target?.segments.count == segments)
    }

    @Test(arguments: [
        "", "a", "*", "http://h/", "/%", "/%2", "/%zz", "/%00", "/a%0Ab", "/%C3%28", "/%FF", "/../x", "/a/%2e%2e/b",
        "/./x",
        "/a#b", "/a?x=%00", "/a?x=%ff", "/ä", "/a%5C..", "/a%7F",
    ])
    func badTargets(_ raw: String) {
        #expect(Target(Array(raw.utf8)) == nil)
    }

    @Test func queriesKeepTheirOrder() {
        let target = Target(Array("/a?x=1&y=a+b%26&x=2&z&=&q=%0A".utf8))
        #expect(target?.queryItems.map { "\($0.name)=\($0.value)" } == ["x=1", "y=a b&", "x=2", "z=", "=", "q=\n"])
        let request = Request(method: "GET", path: "/a", queryItems: target?.queryItems ?? [])
        #expect(request.query["x"] == "1")
        #expect(Target(Array(("/a?" + String(repeating: "x&", count: 201)).utf8)) == nil)
    }

    @Test(arguments: [
        ("example.org", "example.org"), ("LOCALHOST:8080", "localhost"), ("[::1]:80", "[::1]"),
        ("127.0.0.1", "127.0.0.1"),
        ("", nil), ("a b", nil), ("a@b", nil), ("a:x", nil), ("a:99999", nil), ("[::1", nil), ("a/b", nil),
        (":80", nil),
    ])
    func hostNames(_ host: String, _ name: String?) {
        #expect(Refusal.hostName(host) == name)
    }

    @Test func problemsEscapeTheirText() {
        let body = Response.problem(400, type: "x", detail: "a\"\n\\\u{1}", more: ["n": "1"]).body
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"type":"urn:drover:problem:x","title":"Bad Request","status":400,"detail":"a\"\n\\\u0001","n":1}"#
        )
    }

    @Test func formsAreItems() {
        let form = Request(
            method: "POST", path: "/", headers: ["content-type": "Application/X-WWW-form-urlencoded; charset=utf-8"],
            body: Array("a=1&b=%C3%A4+x".utf8))
        #expect(form.formItems?.map(\.value) == ["1", "ä x"])
        #expect(Request(method: "POST", path: "/", body: Array("a=1".utf8)).formItems == nil)
    }
}
