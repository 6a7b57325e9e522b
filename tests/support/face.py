"""What a bridge under test says over HTTP."""

import json
import re
import urllib.error
import urllib.request

from broker import wait_until
from ports import free_port

SAMPLE = re.compile(r'^(\w+)(?:\{\w+="([^"]*)"\})? (\S+)$', re.M)


class Face:
    """The HTTP side of one bridge."""

    def __init__(self):
        self.port = free_port()
        self.section = {"listen": f"127.0.0.1:{self.port}"}

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def readiness(self):
        """The code of /readyz; None while nothing listens yet."""
        try:
            status, body = self.get("/readyz")
        except OSError:
            return None
        code = json.loads(body)["code"]
        assert (status == 200) == (code == "ready"), (status, body)
        return code

    def wait_code(self, code):
        wait_until(f"/readyz says {code}", lambda: self.readiness() == code)

    def metrics(self):
        """(name, value of its one label or "") -> number; the one with many labels is left out."""
        return {(name.removeprefix("agent_bridge_"), label): float(number)
                for name, label, number in SAMPLE.findall(self.get("/metrics")[1])}
