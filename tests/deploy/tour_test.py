#!/usr/bin/env python3
"""The tour's own eyes: its audit finds each planted fault, its page is the same at each run, and docs/tour.md is one
that the present tour wrote."""

import ast
import re
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy" / "tour"))

import audit  # noqa: E402
from audit import ANSWERS, ERRORS, OUTPUTS, QUARANTINE, SOURCE, STATES, Record  # noqa: E402
from page import CheckFailed, Page, steady  # noqa: E402

STATE_LINES = [line for line in (ROOT / "deploy" / "samples" / "states.tsv").read_text().splitlines()
               if not line.startswith("#")]
SAMPLES = audit.read_samples(ROOT / "deploy" / "samples" / "records.tsv")


def dumped(record):
    """What kcat prints of a record under KCAT_FORMAT."""
    sizes = [-1 if part is None else len(part) for part in (record.key, record.value)]
    head = f"{record.partition} {record.offset} {record.timestamp_ms} {sizes[0]} {sizes[1]}\n".encode()
    headers = ",".join(f"__{name}={value}" for name, value in record.headers.items()).encode()
    return head + (record.key or b"") + (record.value or b"") + b"\n" + headers + b"\n"


class AuditTest(unittest.TestCase):
    def setUp(self):
        """All samples twice, and what has to come of them."""
        self.records = {topic: [] for topic in audit.TOPICS}
        for offset, line in enumerate(STATE_LINES):
            _, key, value, _ = line.split("\t")
            self.records[STATES].append(Record(0, offset, 1, bytes.fromhex(key), bytes.fromhex(value), {}))
        places = {state.key: f"{STATES}:0:{state.offset}" for state in self.records[STATES]}
        for offset, ((key, value), (outcome, answer)) in enumerate([*SAMPLES.items()] * 2):
            origin = Record(0, offset, 1000 + offset, key, value, {})
            self.records[SOURCE].append(origin)
            headers = {"agent_bridge.source": f"{SOURCE}:0:{offset}:{1000 + offset}"}
            if outcome in audit.ROUTED:
                self.records[outcome].append(origin._replace(headers=headers))
            elif outcome == ANSWERS:
                if key in places:
                    headers["agent_bridge.state_offset"] = places[key]
                self.records[ANSWERS].append(Record(1, offset, 9, key, answer, headers))
            else:
                letter = Record(0, offset, 9, key, b"letter", {"agent_bridge.reason": outcome} | headers)
                self.records[ERRORS].append(letter)
                self.records[QUARANTINE].append(letter._replace(value=value))

    def found(self):
        check = audit.Audit(SAMPLES, self.records)
        check.run()
        return dict(check.kinds)

    def test_audit_of_a_right_run_finds_nothing(self):
        self.assertEqual(self.found(), {})
        self.assertEqual(audit.Audit(SAMPLES, self.records).run(), "")

    def test_audit_of_nothing_is_void(self):
        self.assertEqual(audit.Audit(SAMPLES, {topic: [] for topic in audit.TOPICS}).kinds, {})
        self.records = {topic: [] for topic in audit.TOPICS}
        self.assertEqual(self.found(), {"void": 1})

    def test_audit_finds_what_is_missing(self):
        for topic in OUTPUTS:
            self.setUp()
            self.records[topic].pop()
            self.assertEqual(self.found(), {"missing": 1}, topic)

    def test_audit_finds_what_is_doubled(self):
        for topic in OUTPUTS:
            self.setUp()
            self.records[topic].append(self.records[topic][-1])
            self.assertEqual(self.found(), {"doubled": 1}, topic)

    def test_audit_finds_a_wrong_answer(self):
        known, unknown = 0, -1  # of agent-00, and of agent-09, of which nothing was published
        for place, change in ((known, {"value": b"other"}), (unknown, {"value": b"other"}), (known, {"key": b"k"}),
                              (known, {"headers": "agents.snapshots:0:1"}), (known, {"headers": None}),
                              (unknown, {"headers": "agents.snapshots:0:1"})):
            self.setUp()
            answer = self.records[ANSWERS][place]
            if "headers" in change:
                headers = {"agent_bridge.source": answer.headers["agent_bridge.source"]}
                if change["headers"]:
                    headers["agent_bridge.state_offset"] = change["headers"]
                change = {"headers": headers}
            self.records[ANSWERS][place] = answer._replace(**change)
            self.assertEqual(self.found(), {"altered": 1}, change)

    def test_audit_finds_what_is_astray(self):
        self.records["agents.events"].append(self.records["agents.results"][0])
        self.assertEqual(self.found(), {"astray": 1, "reordered": 1})

    def test_audit_finds_what_is_altered(self):
        for field, value in (("key", b"other"), ("value", b"other"), ("timestamp_ms", 5)):
            self.setUp()
            self.records["agents.events"][3] = self.records["agents.events"][3]._replace(**{field: value})
            self.assertEqual(self.found().get("altered"), 1, field)

    def test_audit_finds_a_wrong_reason(self):
        letter = self.records[ERRORS][0]
        self.records[ERRORS][0] = letter._replace(headers=letter.headers | {"agent_bridge.reason": "oversized"})
        self.assertEqual(self.found(), {"altered": 1})

    def test_audit_finds_what_is_out_of_order(self):
        events = self.records["agents.events"]
        same = [n for n, record in enumerate(events) if record.key == events[0].key]
        events[same[0]], events[same[1]] = events[same[1]], events[same[0]]
        self.assertEqual(self.found(), {"reordered": 1})

    def test_audit_finds_what_came_from_nowhere(self):
        stray = self.records["agents.events"][0]._replace(headers={"agent_bridge.source": "agents.in:9:9:9"})
        self.records["agents.events"].append(stray)
        self.assertEqual(self.found(), {"unexpected": 1})

    def test_audit_finds_an_input_that_is_no_sample(self):
        self.records[SOURCE].append(Record(1, 0, 1, b"k", b"v", {}))
        self.assertEqual(self.found(), {"unknown": 1})

    def test_dump_read_back_whole(self):
        records = [Record(0, 1, 2, None, None, {"agent_bridge.source": "a:0:1:2", "x": "1"}),
                   Record(1, 5, 7, b"", b"a\nb\n0 1 2 3 4\n", {}), Record(1, 6, 7, b"\n", b"", {"a": ""})]
        self.assertEqual(list(audit.parse_dump(b"".join(map(dumped, records)))), records)

    def test_dump_that_is_cut_refused(self):
        data = dumped(Record(1, 5, 7, b"key", b"value", {}))
        for end in range(1, len(data)):
            with self.assertRaises((ValueError, IndexError)):
                list(audit.parse_dump(data[:end]))


class PageTest(unittest.TestCase):
    def test_page_leaves_out_what_changes(self):
        now = int(time.time() * 1000)
        self.assertEqual(steady(f"agents.in:0:14:{now} 1767225720001"), "agents.in:0:14:<ms> 1767225720001")
        self.assertEqual(steady("2026-01-31T12:00:00.123Z on 0905425763a0"), "<time> on <id>")
        self.assertEqual(steady("agent-bridge 0.1.0 (972c013-dirty)"), "agent-bridge 0.1.0 (<commit>)")
        self.assertEqual(steady('"state_age_ms": 29061512'), '"state_age_ms": <ms>')
        self.assertEqual(steady("agents.in.errors:1:77\nagents.in:1:77"), "agents.in.errors:1:<offset>\nagents.in:1:77")

    def test_page_keeps_hashes_and_bytes(self):
        for text in ("7ccd1d2bf2b78b287e3d530e01e5f03322947c39", "0a 08 61", "agent-bridge 0.1.0"):
            self.assertEqual(steady(text), text)

    def test_page_holds_checks_as_one_list(self):
        page = Page()
        page.say("Text.")
        page.check(True, "one")
        page.check(True, "two")
        page.show("true", "done\n")
        self.assertEqual(page.text(), "Text.\n\n- holds: one\n- holds: two\n\n```console\n$ true\ndone\n```\n")
        self.assertEqual(page.checks, 2)

    def test_page_ends_at_a_check_that_fails(self):
        with self.assertRaises(CheckFailed) as caught:
            Page().check(False, "water flows down", "up")
        self.assertEqual(str(caught.exception), "water flows down: up")


class WrittenPageTest(unittest.TestCase):
    """What tour.py says in plain words has to stand on the page, or the page is of an older tour: `make tour`."""

    def setUp(self):
        self.page = (ROOT / "docs" / "tour.md").read_text()
        tour = ast.parse((ROOT / "deploy" / "tour" / "tour.py").read_text())
        self.methods = {node.name: node for node in ast.walk(tour) if isinstance(node, ast.FunctionDef)}

    def calls(self, method):
        """(name, arguments) of the calls of a method, in the order of the text."""
        found = [node for node in ast.walk(self.methods[method])
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
            yield node.func.attr, [word.value if isinstance(word, ast.Constant) else None for word in node.args]

    def test_page_has_the_stations_of_the_tour_in_their_order(self):
        stations = [words[0] for station, _ in self.calls("all") if station in self.methods
                    for name, words in self.calls(station) if name == "section"]
        self.assertGreater(len(stations), 5)
        titles = re.findall(r"^## (.*)$", re.sub(r"^```.*?^```$", "", self.page, flags=re.M | re.S), re.M)
        self.assertEqual(titles, stations)

    def test_page_has_the_commands_and_checks_of_the_tour(self):
        said = {"play": "$ docker compose {}\n", "show": "$ {}\n", "check": "- holds: {}\n"}
        place = {"play": 0, "show": 0, "check": 1}
        for method in self.methods:
            for name, words in self.calls(method):
                if name in said and words[place[name]] is not None:
                    with self.subTest(method):
                        self.assertIn(said[name].format(words[place[name]]), self.page)


if __name__ == "__main__":
    unittest.main()
