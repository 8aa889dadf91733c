"""What a server of ours answered: errors are problem documents, always."""
import json


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()
        self.json = json.loads(self.body) if "json" in (self.headers["Content-Type"] or "") else None
        if self.status >= 400:
            assert self.headers["Content-Type"] == "application/problem+json", self.body
            assert self.json["status"] == self.status and self.json["detail"]

    @property
    def problem(self):
        return self.status, self.json["type"].removeprefix("urn:drover:problem:")
