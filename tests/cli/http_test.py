#!/usr/bin/env python3
"""What agent-bridge says over HTTP and through its verb health, and that no client can hold it up.

Runs the program with brokers that it cannot reach, and the probe (serve_probe.c), which is ab_serve() over
a relay that runs well.
    http_test.py PROBE
"""

import http.client
import http.server
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ports import free_port  # noqa: E402

PROBE = sys.argv.pop(1)
PROGRAM = os.environ["AGENT_BRIDGE"]
PROMTOOL = os.environ["PROMTOOL"]
ROOT = Path(__file__).resolve().parent.parent.parent
PATHS = ["/", "/livez", "/readyz", "/metrics", "/status", "/version"]
PATIENCE_S = 60
# Limits of bridge/http: the life of a connection, and connections of one peer.
LIFE_S = 10
PEER_MAX = 32


def settings(port, **changes):
    return {
        "kafka": {"bootstrap.servers": f"127.0.0.1:{free_port()}"},
        "group": "http-test",
        "instance": "one",
        "sources": [{"topic": f"in.{number}",
                     "routes": {"external_event": "out.events", "tool_result": "out.results",
                                "approval": "out.approvals", "export_request": "answer"}}
                    for number in range(2)],
        "state": {"dir": "/nonexistent", "snapshots_from": ["state.0"]},  # never got to: no broker
        "snapshots": {"topic": "out.snapshots"},
        "http": {"listen": f"127.0.0.1:{port}"},
        "shutdown": {"timeout": "10s"},
    } | changes


def ask(port, path="/livez", method="GET", headers=(), body=None, timeout_s=10):
    """(status, headers, body) of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request(method, path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def ask_json(port, path):
    status, _, body = ask(port, path)
    return status, json.loads(body)


class Daemon:
    """A running process with its log as parsed lines; killed at the end of the test."""

    def __init__(self, case, command, environment=()):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        text=True, env=os.environ | dict(environment))
        self.lines = []
        case.addCleanup(self.close)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def wait_for(self, event):
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
            if self.lines[-1]["event"] == event:
                return self.lines[-1]
        raise AssertionError(f"the log ended without '{event}': {self.lines}")

    def stop(self):
        """SIGTERM; returns the exit code and the seconds it took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.lines += [json.loads(line) for line in self.process.stderr]
        return self.process.wait(timeout=PATIENCE_S), time.monotonic() - begun


class HttpCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="agent-bridge-http.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "config.yaml"
        self.port = free_port()

    def write(self, **changes):
        self.file.write_text(json.dumps(settings(self.port, **changes), indent=1))

    def start(self, environment=(), **changes):
        """A bridge that looks for its brokers and serves self.port."""
        self.write(**changes)
        daemon = Daemon(self, [PROGRAM, "run", "-c", str(self.file)], environment)
        daemon.wait_for("http_listening")
        return daemon

    def start_probe(self, **options):
        """A relay that runs well and serves self.port."""
        daemon = Daemon(self, [PROBE, f"http_port={self.port}",
                               *(f"{name}={value}" for name, value in options.items())])
        daemon.wait_for("http_listening")
        return daemon

    def health(self, *arguments):
        done = subprocess.run([PROGRAM, "health", "-c", str(self.file), *arguments], text=True,
                              capture_output=True, timeout=PATIENCE_S)
        return done.returncode, done.stdout, done.stderr


class EndpointTest(HttpCase):
    def test_brokers_unreachable_live_and_not_ready_with_the_reason(self):
        daemon = self.start()
        self.assertEqual(ask_json(self.port, "/livez"), (200, {"live": True, "lanes": []}))
        status, body = ask_json(self.port, "/readyz")
        self.assertEqual(status, 503)
        self.assertEqual((body["ready"], body["code"], body["reason"]),
                         (False, "connecting", "no broker has answered yet"))
        daemon.wait_for("brokers_unreachable")
        self.assertEqual(ask_json(self.port, "/readyz")[0], 503)
        status, body = ask_json(self.port, "/status")
        self.assertEqual(status, 200)
        self.assertEqual((body["group"], body["instance"], body["config"], body["phase"]),
                         ("http-test", "one", str(self.file), "connecting"))
        self.assertEqual([source["topic"] for source in body["sources"]], ["in.0", "in.1"])
        self.assertEqual(daemon.stop()[0], 0)

    def test_version_says_what_the_verb_says(self):
        self.start()
        said = subprocess.run([PROGRAM, "version", "--json"], capture_output=True, text=True,
                              timeout=PATIENCE_S).stdout
        self.assertEqual(ask(self.port, "/version")[2], said)

    def test_relay_that_runs_is_ready_until_it_is_stopped_and_says_so_to_the_end(self):
        daemon = self.start_probe(stop_ms=2000)
        self.assertEqual(ask_json(self.port, "/readyz")[0], 200)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_for("stopping")
        answered = 0
        while True:
            try:
                status, body = ask_json(self.port, "/readyz")
                live = ask(self.port, "/livez")[0]
            except OSError:
                break
            self.assertEqual((status, body["code"], live), (503, "stopping", 200))
            answered += 1
            time.sleep(0.1)
        self.assertGreater(answered, 10)
        self.assertEqual(daemon.process.wait(timeout=PATIENCE_S), 0)

    def test_lane_that_stands_still_is_not_live(self):
        self.start_probe(lane_stands=1)
        status, body = ask_json(self.port, "/livez")
        self.assertEqual((status, body["live"], body["lanes"]),
                         (503, False, [{"lane": 0, "tick_ms": 31000}]))
        self.write()
        code, out, _ = self.health("--live")
        self.assertEqual((code, out), (1, "not live: the loop of a lane stands still\n"))

    def test_every_answer_is_for_now_only_and_of_its_own_type(self):
        self.start()
        types = {"/": "text/html; charset=utf-8",
                 "/metrics": "text/plain; version=0.0.4; charset=utf-8"}
        for path in PATHS + ["/nothing"]:
            _, headers, _ = ask(self.port, path)
            expected = types.get(path, "application/json")
            self.assertEqual(headers["Content-Type"],
                             "text/plain; charset=utf-8" if path == "/nothing" else expected)
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Connection"], "close")
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])

    def test_head_is_get_without_the_body(self):
        self.start()
        for path in PATHS + ["/nothing"]:
            status, headers, body = ask(self.port, path, "HEAD")
            got, got_headers, got_body = ask(self.port, path)
            self.assertEqual((status, body, headers["Content-Type"]),
                             (got, "", got_headers["Content-Type"]))
            self.assertGreater(int(headers["Content-Length"]), 0)
            if path in ("/version", "/livez", "/readyz", "/nothing"):
                self.assertEqual(int(headers["Content-Length"]), len(got_body))

    def test_other_methods_and_bodies_refused(self):
        daemon = self.start()
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
            for path in PATHS:
                status, headers, _ = ask(self.port, path, method)
                self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), (method, path))
        self.assertEqual(ask(self.port, "/livez", "POST", body=b"x" * 100000)[0], 405)
        self.assertEqual(ask(self.port, "/livez", "GET", body=b"x")[0], 413)
        self.assertEqual(ask(self.port, "/livez", "GET", body=iter([b"x"]),
                             headers={"Transfer-Encoding": "chunked"})[0], 413)
        self.assertEqual(ask(self.port, "/livez", "GET", headers={"Content-Length": "0"})[0], 200)
        self.assertIsNone(daemon.process.poll())

    def test_unknown_path_tells_which_there_are(self):
        self.start()
        status, _, body = ask(self.port, "/healthz")
        self.assertEqual(status, 404)
        for path in PATHS:
            self.assertRegex(body, rf"(?m)^  {path} ")

    def test_page_needs_nothing_else(self):
        self.start()
        _, _, page = ask(self.port, "/")
        self.assertIn("Not ready: no broker has answered yet", page)
        self.assertIn("in.0", page)
        self.assertEqual(re.findall(r"<(?:script|link|img|iframe)|url\(|@import|src=|://", page), [])
        self.assertEqual(sorted(re.findall(r'href="([^"]+)"', page)), sorted(PATHS[1:]))

    def test_off_serves_nothing(self):
        self.write(http={"listen": "off"})
        daemon = Daemon(self, [PROGRAM, "run", "-c", str(self.file)])
        daemon.wait_for("brokers_unreachable")
        self.assertEqual(daemon.stop()[0], 0)
        self.assertNotIn("http_listening", [line["event"] for line in daemon.lines])


class RefusedAddressTest(HttpCase):
    def refused(self, listen):
        self.write(http={"listen": listen})
        daemon = Daemon(self, [PROGRAM, "run", "-c", str(self.file)])
        told = daemon.wait_for("http_refused")
        self.assertEqual(daemon.process.wait(timeout=PATIENCE_S), 78)
        self.assertEqual(told["level"], "error")
        self.assertIn(listen, told["message"])
        self.assertIn("http.listen", told["message"])
        return told["message"]

    def test_address_in_use_is_told_as_that(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", self.port))
            other.listen()
            self.assertIn("in use", self.refused(f"127.0.0.1:{self.port}"))

    def test_address_of_another_machine_is_told_as_that(self):
        self.assertIn("no such address", self.refused("203.0.113.7:9465"))

    def test_restart_gets_the_port_of_a_killed_process_at_once(self):
        for _ in range(2):
            daemon = self.start()
            self.assertEqual(ask(self.port)[0], 200)
            daemon.process.kill()
            daemon.process.wait()


# ---- metrics ----------------------------------------------------------------------------------------------

SAMPLE = re.compile(r'^([a-z_]+?)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? ([0-9.e+-]+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def read_metrics(text):
    """name -> (type, labels of each sample); strict: every line has to be what the format says."""
    found, name = {}, None
    seen = set()
    for line in text.splitlines():
        head = re.match(r"^# (HELP|TYPE) ([a-z_]+) (.+)$", line)
        if head and head[1] == "HELP":
            name = head[2]
            assert name not in found, f"{name} twice"
        elif head:
            assert head[2] == name and head[3] in ("counter", "gauge", "histogram"), line
            found[name] = (head[3], [])
        else:
            sample = SAMPLE.match(line)
            assert sample, f"no sample: {line}"
            family = sample[1]
            if found[name][0] == "histogram":
                family = re.sub("_(bucket|sum|count)$", "", family)
            assert family == name, line
            series = (sample[1], sample[2])
            assert series not in seen, f"twice: {line}"
            seen.add(series)
            if not sample[1].endswith(("_sum", "_count")) or found[name][0] != "histogram":
                found[name][1].append(dict(LABEL.findall(sample[2] or "")))
    return found


def read_frozen():
    """name -> (type, {label: values, or None where they are not closed}) of golden/metrics/v1."""
    frozen = {}
    for file in sorted((ROOT / "golden/metrics/v1").glob("*.txt")):
        for line in file.read_text().splitlines():
            kind, name, *labels = line.split()
            known = frozen.setdefault(name, (kind, {}))
            assert known[0] == kind, f"{file}: {name} has two types"
            for label in labels:
                key, closed, values = label.partition("=")
                if closed:
                    known[1].setdefault(key, set()).update(values.split("|"))
                else:
                    known[1][key] = None
    return frozen


class MetricsTest(HttpCase):
    def test_names_types_and_labels_are_the_frozen_ones(self):
        self.start()
        found, frozen = read_metrics(ask(self.port, "/metrics")[2]), read_frozen()
        self.assertEqual(set(found), set(frozen))
        for name, (kind, labels) in frozen.items():
            self.assertEqual(found[name][0], kind, name)
            self.assertNotEqual(found[name][1], [], name)
            for sample in found[name][1]:
                self.assertEqual(set(sample), set(labels), name)
            for label, values in labels.items():
                if values is not None:
                    self.assertEqual({sample[label] for sample in found[name][1]}, values, name)

    def test_topics_of_the_configuration_label_the_sources(self):
        self.start()
        found = read_metrics(ask(self.port, "/metrics")[2])
        self.assertEqual([sample["topic"] for sample in found["agent_bridge_lag_records"][1]],
                         ["in.0", "in.1"])

    def test_promtool_has_nothing_to_say(self):
        self.start()
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=ask(self.port, "/metrics")[2],
                              text=True, capture_output=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_promtool_finds_what_is_planted(self):
        text = "# HELP a_total x\n# TYPE a_total gauge\na_total 1\n"
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, text=True,
                              capture_output=True, timeout=PATIENCE_S)
        self.assertNotEqual(done.returncode, 0)


class SecretsTest(HttpCase):
    def test_planted_secrets_appear_nowhere(self):
        """Whatever stands under kafka, consumer and producer, and what references lead to."""
        secret = self.folder / "password"
        secret.write_text("planted-in-a-file\n")
        daemon = self.start(
            environment={"PLANTED": "planted-in-the-environment"},
            kafka={"bootstrap.servers": f"127.0.0.1:{free_port()}",
                   "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN",
                   "sasl.username": "env:PLANTED", "sasl.password": f"file:{secret}",
                   "client.rack": "planted-in-the-config"},
            consumer={"ssl.key.password": "planted-for-the-consumer"},
            producer={"ssl.key.password": "planted-for-the-producer"})
        daemon.wait_for("brokers_unreachable")
        texts = [str(ask(self.port, path, method)[1:]) for path in PATHS + ["/nothing", "/status?x=1"]
                 for method in ("GET", "HEAD", "POST")]
        for arguments in ((), ("--live",)):
            texts.append(str(self.health(*arguments)))
        daemon.stop()
        texts.append(json.dumps(daemon.lines))
        texts.append(Path(f"/proc/{os.getpid()}/cmdline").read_text())
        for text in texts:
            self.assertNotIn("planted", text)
        self.assertGreater(len(texts), 20)


# ---- hostile clients --------------------------------------------------------------------------------------

class HostileTest(HttpCase):
    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=3 * LIFE_S)
        self.addCleanup(client.close)
        return client

    def check_answers(self, within_s=5):
        begun = time.monotonic()
        self.assertEqual(ask(self.port, timeout_s=within_s)[0], 200)
        self.assertLess(time.monotonic() - begun, within_s)

    def send(self, data):
        """Sends all of data, as far as it is taken, and returns what comes back up to the end."""
        client = self.connect()
        got = b""
        try:
            client.sendall(data)
        except OSError:
            pass
        try:
            while chunk := client.recv(65536):
                got += chunk
        except ConnectionError:
            pass
        return got

    def test_slowloris_is_ended_after_its_life_and_holds_up_nobody(self):
        daemon = self.start()
        clients = [self.connect() for _ in range(PEER_MAX - 4)]
        begun, ended = time.monotonic(), {}
        text = b"GET /livez HTTP/1.1\r\nHost: x\r\n" + b"X-a: b\r\n" * 1000
        for turn in range(4 * (LIFE_S + 5)):
            for client in clients:
                try:
                    if client not in ended:
                        client.sendall(text[turn:turn + 1])
                        client.setblocking(False)
                        if client.recv(1) == b"":
                            ended[client] = time.monotonic() - begun
                except BlockingIOError:
                    pass
                except OSError:
                    ended[client] = time.monotonic() - begun
            self.check_answers()
            if len(ended) == len(clients):
                break
            time.sleep(0.25)
        self.assertEqual(len(ended), len(clients))
        self.assertGreater(min(ended.values()), LIFE_S - 1)
        self.assertLess(max(ended.values()), LIFE_S + 8)
        self.assertEqual(daemon.stop()[0], 0)

    def test_thousands_of_idle_connections_hold_up_nobody(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        count = min(10000, hard - 200)
        self.assertGreaterEqual(count, 500)
        daemon = self.start()
        clients = []
        self.addCleanup(lambda: [client.close() for client in clients])
        for number in range(count):
            # Of one address and of many, in turns.
            source = f"127.0.{number // 200 % 100}.{1 + number % 200}" if number % 2 else "127.0.0.1"
            client = socket.socket()
            clients.append(client)
            client.settimeout(10)
            client.bind((source, 0))
            client.connect(("127.0.0.1", self.port))
            if number % 500 == 499:
                self.check_answers()
        self.check_answers()
        metrics = ask(self.port, "/metrics")[2]
        open_fds = int(re.search(r"(?m)^process_open_fds (\d+)$", metrics)[1])
        self.assertLess(open_fds, 200)
        daemon.wait_for("brokers_unreachable")  # it goes on with its work
        code, seconds = daemon.stop()
        self.assertEqual(code, 0)
        self.assertLess(seconds, 10)

    def test_oversized_requests_refused_without_a_trace(self):
        daemon = self.start()
        before = ask_json(self.port, "/status")[1]
        huge = b"x" * 2_000_000
        for data in (b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Huge: " + huge + b"\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\n" + b"X-Many: x\r\n" * 100_000 + b"\r\n",
                     b"GET /" + huge + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                     huge + b"\r\n\r\n"):
            answer = self.send(data)
            if answer:
                self.assertRegex(answer, rb"^HTTP/1\.[01] (400|413|414|431|494) ")
            self.check_answers()
        metrics = ask(self.port, "/metrics")[2]
        self.assertLess(int(re.search(r"(?m)^process_resident_memory_bytes (\d+)$", metrics)[1]),
                        200 * 1024 * 1024)
        after = ask_json(self.port, "/status")[1]
        self.assertEqual(before["ledger"], after["ledger"])
        self.assertEqual(daemon.stop()[0], 0)

    def test_headers_of_a_usual_browser_are_no_trouble(self):
        self.start()
        cookies = "; ".join(f"cookie{number}=" + "v" * 80 for number in range(80))
        self.assertEqual(ask(self.port, "/", headers={"Cookie": cookies})[0], 200)

    def test_garbage_is_refused(self):
        daemon = self.start()
        for data in (b"\r\n\r\n", b"\0" * 1000 + b"\r\n\r\n", b"\x16\x03\x01\x02\x00" + os.urandom(512),
                     b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"):
            self.assertNotRegex(self.send(data), rb"^HTTP/1\.[01] 200 ", data)
            self.check_answers()
        self.assertEqual(daemon.stop()[0], 0)

    def test_connection_carries_one_request(self):
        self.start()
        answer = self.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        self.assertEqual(answer.count(b"HTTP/1.1 "), 1)

    def test_clients_that_read_nothing_hold_up_nobody(self):
        daemon = self.start()
        for _ in range(100):
            client = self.connect()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        self.check_answers()
        self.assertEqual(daemon.stop()[0], 0)


# ---- the verb ---------------------------------------------------------------------------------------------

class HealthTest(HttpCase):
    def test_nothing_answers_ends_with_69_and_the_address(self):
        self.write()
        code, out, err = self.health()
        self.assertEqual((code, out), (69, ""))
        self.assertIn(f"127.0.0.1:{self.port}", err)
        self.assertIn("Connection refused", err)

    def test_not_ready_ends_with_1_and_the_reason(self):
        self.start()
        self.assertEqual(self.health(), (1, "not ready: no broker has answered yet\n", ""))
        self.assertEqual(self.health("--live"), (0, "live\n", ""))

    def test_ready_ends_with_0(self):
        self.start_probe()
        self.write()
        self.assertEqual(self.health(), (0, "ready\n", ""))

    def test_wildcard_address_is_asked_on_the_loopback_one(self):
        self.start(http={"listen": f"0.0.0.0:{self.port}"})
        self.assertEqual(self.health("--live"), (0, "live\n", ""))

    def test_config_is_found_like_everywhere(self):
        self.start_probe()
        self.write()
        done = subprocess.run([PROGRAM, "health"], text=True, capture_output=True,
                              env=os.environ | {"AGENT_BRIDGE_CONFIG": str(self.file)},
                              timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (0, "ready\n"))

    def test_wrong_or_missing_config_ends_with_78(self):
        code, _, err = self.health()
        self.assertEqual(code, 78)
        self.assertIn(str(self.file), err)
        self.write(lanes=0)
        code, _, err = self.health()
        self.assertEqual(code, 78)
        self.assertIn("lanes", err)
        self.write(http={"listen": "off"})
        code, _, err = self.health()
        self.assertEqual(code, 78)
        self.assertIn("http.listen is off", err)

    def test_wrong_usage_ends_with_64(self):
        for arguments in (["more"], ["--dead"], ["--live=1"], ["-x"]):
            done = subprocess.run([PROGRAM, "health", *arguments], capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 64, arguments)

    def test_another_program_on_the_port_is_no_agent_bridge(self):
        answers = [(200, "hello"), (404, "no"), (200, '{"ready": false}'), (503, '{"ready": true}'),
                   (500, '{"ready": false}'), (200, '{"ready": "yes"}'), (200, "[]"), (200, "")]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answers[0]
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.write()
        while answers:
            code, out, err = self.health()
            self.assertEqual((code, out), (69, ""), answers[0])
            self.assertIn("is no agent-bridge", err)
            answers.pop(0)

    def test_reason_is_made_fit_for_a_terminal(self):
        body = json.dumps({"ready": False, "reason": "a\x1b[31mb\nc" + "d" * 5000}).encode()
        with socket.socket() as server:
            server.bind(("127.0.0.1", self.port))
            server.listen()

            def serve():
                client, _ = server.accept()
                client.recv(1000)
                client.sendall(b"HTTP/1.0 503 x\r\n\r\n" + body)
                client.close()

            threading.Thread(target=serve, daemon=True).start()
            self.write()
            code, out, _ = self.health()
        self.assertEqual(code, 1)
        self.assertEqual(len(out.splitlines()), 1)
        self.assertNotIn("\x1b", out)
        self.assertLess(len(out), 400)

    def test_silence_ends_within_seconds(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", self.port))
            server.listen()
            self.write()
            begun = time.monotonic()
            code, _, err = self.health()
        self.assertEqual(code, 69)
        self.assertIn("timed out", err)
        self.assertLess(time.monotonic() - begun, 8)


if __name__ == "__main__":
    unittest.main(verbosity=2)
