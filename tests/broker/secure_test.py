#!/usr/bin/env python3
"""TLS, logins and ACLs on a real Kafka: what suffices, and that each thing that lacks is told in one line.

Needs a broker of `tests/broker/kafka start --secure`. Its plain listener is the administrator's door: the
tests make users, ACLs and topics and read the outputs through it; the bridge comes through the secure one.
"""

import json
import os
import subprocess
import sys
import unittest
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import confluent_kafka  # noqa: E402
from confluent_kafka.admin import (AclBinding, AclBindingFilter, AclOperation, AclPermissionType,  # noqa: E402
                                   ResourcePatternType, ResourceType, ScramCredentialInfo, ScramMechanism,
                                   UserScramCredentialUpsertion)

from bridge import program  # noqa: E402
from broker import Input, wait_until  # noqa: E402
from oracle import VARIANTS  # noqa: E402
from relay_case import RelayCase, numbered_inputs  # noqa: E402

RECORDS = 1000
SAY_EVERY_S = 10
# librdkafka before this cannot log in with SCRAM at Kafka 4: docs/check.md.
SCRAM_SINCE = (2, 6, 1)
TYPES = {"Topic": ResourceType.TOPIC, "Group": ResourceType.GROUP,
         "TransactionalId": ResourceType.TRANSACTIONAL_ID, "Cluster": ResourceType.BROKER}
OPERATIONS = {"Read": AclOperation.READ, "Write": AclOperation.WRITE, "Describe": AclOperation.DESCRIBE,
              "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS}


def librdkafka_version():
    said = subprocess.run([program(), "version", "--json"], check=True, stdout=subprocess.PIPE)
    text = json.loads(said.stdout)["libraries"]["librdkafka"]["running"]
    return tuple(int(part) for part in text.split("-")[0].split(".")[:3])


@contextmanager
def environment(**values):
    """The environment of what is started inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Right:
    """One ACL, as `check` and the log name it."""

    def __init__(self, operation, resource_type, resource, pattern="literal"):
        self.operation, self.resource_type = operation, resource_type
        self.resource, self.pattern = resource, pattern

    def __str__(self):
        return f"{self.operation} on {self.resource_type} {self.resource} ({self.pattern})"

    def named_by(self, words):
        """Whether a log event or a row's `acl` names this right."""
        return all(words.get(name) == getattr(self, name)
                   for name in ("operation", "resource_type", "resource", "pattern"))

    def binding(self, user, kind=AclBinding, permission=AclPermissionType.ALLOW):
        pattern = ResourcePatternType.PREFIXED if self.pattern == "prefixed" else ResourcePatternType.LITERAL
        return kind(TYPES[self.resource_type], self.resource, pattern, f"User:{user}", "*",
                    OPERATIONS[self.operation], permission)


class Secure(RelayCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "secure" not in cls.broker.state:
            raise SystemExit(f"the Kafka in {cls.broker.folder} has no secure listener: start it with --secure")
        cls.secure = cls.broker.state["secure"]

    def setUp(self):
        super().setUp()
        self.user, self.password = self.secure["user"], self.secure["password"]
        everything = AclBindingFilter(ResourceType.ANY, None, ResourcePatternType.ANY, None, None,
                                      AclOperation.ANY, AclPermissionType.ANY)
        self.addCleanup(lambda: self.broker.admin.delete_acls([everything])[everything].result(30))

    # ---- users and rights ----------------------------------------------------------------------------

    def rights(self, layout):
        """What the relay needs, and no more."""
        routed = [topic for topic in layout.routes.values() if topic in layout.counts]
        outputs = [*routed, layout.errors, layout.quarantine]
        return [Right("Read", "Topic", layout.source), *(Right("Write", "Topic", topic) for topic in outputs),
                Right("Read", "Group", layout.group),
                Right("Write", "TransactionalId", f"{layout.group}.", "prefixed")]

    def comforts(self, layout):
        """What lets it know sizes and `check` everything."""
        return [Right("DescribeConfigs", "Topic", f"{self.prefix}.", "prefixed")]

    def allow(self, *rights):
        bindings = [right.binding(self.user) for right in rights]
        for future in self.broker.admin.create_acls(bindings).values():
            future.result(30)
        self.wait_acls(lambda found: all(binding in found for binding in bindings))

    def take_away(self, *rights):
        filters = [right.binding(self.user, AclBindingFilter) for right in rights]
        for future in self.broker.admin.delete_acls(filters).values():
            self.assertEqual(1, len(future.result(30)))
        gone = [right.binding(self.user) for right in rights]
        self.wait_acls(lambda found: not any(binding in found for binding in gone))

    @contextmanager
    def without(self, right):
        self.take_away(right)
        try:
            yield
        finally:
            self.allow(right)

    def wait_acls(self, condition):
        everything = AclBindingFilter(ResourceType.ANY, None, ResourcePatternType.ANY, None, None,
                                      AclOperation.ANY, AclPermissionType.ANY)
        wait_until("the ACLs are as they were asked for",
                   lambda: condition(self.broker.admin.describe_acls(everything).result(30)))

    # ---- configs and verbs ---------------------------------------------------------------------------

    def kafka(self, **more):
        """The kafka section; the password lies in a file."""
        file = self.folder / f"password-of-{self.user}"
        if not file.exists():  # it may be read by a process right now
            file.write_text(f"{self.password}\n")
        return {"bootstrap.servers": self.secure["bootstrap"], "broker.address.family": "v4",
                "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": self.user,
                "sasl.password": f"file:{file}", "ssl.ca.location": self.secure["ca"], **more}

    def secure_bridge(self, layout, name="bridge", kafka=None, **sections):
        return self.bridge(layout, name, kafka=self.kafka(**(kafka or {})), **sections)

    def verb(self, bridge, *words, wanted=None):
        """Runs a verb with the bridge's config; returns its exit code and all it said."""
        said = subprocess.run([program(), *words, "-c", str(bridge.config_file)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        if wanted is not None:
            self.assertEqual(wanted, said.returncode, said.stdout)
        return said.returncode, said.stdout

    def check(self, bridge, wanted):
        """The report of `check`, which has to end with that code."""
        report = json.loads(self.verb(bridge, "check", "--json", wanted=wanted)[1])
        self.assertEqual(wanted, report["exit_code"])
        return report

    @staticmethod
    def findings(report):
        return [row for row in report["rows"] if row["state"] in ("warning", "error")]

    def troubles(self, bridge, since=0):
        """What the log complains of, but for records and the last word of a process that ends."""
        return [event for event in bridge.events(since=since) if event["level"] in ("warning", "error")
                and event["event"] not in ("stopped", "dead_letter", "dead_letters_held_back")]

    def one_trouble(self, bridge, since=0):
        troubles = self.troubles(bridge, since)
        self.assertEqual(1, len(troubles), f"one line was expected: {troubles}")
        return troubles[0]

    # ---- what suffices -------------------------------------------------------------------------------

    def relays(self, layout, bridge):
        """The bridge relays RECORDS good and a few bad ones, exactly."""
        inputs = list(numbered_inputs(layout.source, 4, RECORDS))
        inputs += [Input(layout.source, n, b"bad", b"\xff" * (n + 1)) for n in range(4)]
        self.broker.produce(inputs)
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assertEqual([], self.troubles(bridge))
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_the_least_rights_suffice_and_nothing_is_found(self):
        layout = self.layout()
        self.allow(*self.rights(layout), *self.comforts(layout))
        bridge = self.secure_bridge(layout)
        before = {topic: self.broker.ends(topic, "read_uncommitted") for topic in layout.counts}
        report = self.check(bridge, 0)
        self.assertEqual([], self.findings(report))
        # Only the brokers' own properties stay hidden, and the row says which ACL would show them.
        hidden = [row for row in report["rows"] if row["state"] == "unknown"]
        self.assertEqual([("acl", "DescribeConfigs", "Cluster")],
                         [(row["check"], row["acl"]["operation"], row["acl"]["resource_type"]) for row in hidden])
        granted = len(self.rights(layout))
        self.assertIn(f"{granted} rights are granted", json.dumps(report["rows"]))
        # Asking has changed nothing, in no topic and not for the group.
        self.assertEqual(before, {topic: self.broker.ends(topic, "read_uncommitted") for topic in layout.counts})
        self.assertEqual({None}, set(self.broker.committed(layout.group, layout.source).values()))
        self.relays(layout, bridge)

    def test_a_check_beside_a_running_bridge_disturbs_nobody(self):
        layout = self.layout()
        self.allow(*self.rights(layout), *self.comforts(layout))
        bridge = self.secure_bridge(layout, lanes=2).start()
        bridge.wait_event("start_pinned")
        inputs = list(numbered_inputs(layout.source, 4, RECORDS))
        half = len(inputs) // 2
        self.broker.produce(inputs[:half])
        self.wait_done(layout, bridge)
        self.wait_members(layout, 2)
        rebalances = len(bridge.events("partitions_assigned"))
        for _ in range(2):
            self.check(bridge, 0)
        self.broker.produce(inputs[half:])
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assertEqual([], self.troubles(bridge))
        self.assertEqual(rebalances, len(bridge.events("partitions_assigned")))
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def make_scram_user(self):
        self.user, self.password = "scram-relay", "a long and planted phrase"
        credential = UserScramCredentialUpsertion(
            self.user, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), self.password.encode())
        for future in self.broker.admin.alter_user_scram_credentials([credential]).values():
            future.result(30)

    def test_scram_relays_where_the_library_can_and_is_explained_where_not(self):
        layout = self.layout()
        self.make_scram_user()
        self.allow(*self.rights(layout), *self.comforts(layout))
        bridge = self.secure_bridge(layout, kafka={"sasl.mechanism": "SCRAM-SHA-512"})
        if librdkafka_version() >= SCRAM_SINCE:
            self.check(bridge, 0)
            self.relays(layout, bridge)
            return
        row = self.findings(self.check(bridge, 77))[0]
        self.assertEqual("login", row["check"])
        self.assertIn("2.6.1 or later", row["text"])
        bridge.start().wait_exit(77)
        event = self.one_trouble(bridge)
        self.assertEqual("login_refused", event["event"])
        self.assertIn("2.6.1 or later", event["message"])
        # The tests' own client brings a librdkafka that can.
        folder = Path(confluent_kafka.__file__).resolve().parent.parent / "confluent_kafka.libs"
        library = next(folder.glob("librdkafka-*.so*"))
        other = self.secure_bridge(layout, "other", kafka={"sasl.mechanism": "SCRAM-SHA-512"})
        with environment(LD_PRELOAD=str(library)):
            report = self.check(other, 0)
            self.assertGreaterEqual(tuple(int(n) for n in report["librdkafka"].split(".")[:3]), SCRAM_SINCE)
            self.relays(layout, other)

    def test_check_sees_what_topics_and_brokers_are_like(self):
        # Through the administrator's door, where nothing is hidden.
        layout = self.layout(2, outputs={"max.message.bytes": 100_000, "message.timestamp.before.max.ms": 86_400_000,
                                         "message.timestamp.after.max.ms": 60_000, "retention.ms": 3_600_000},
                             source_config={"retention.ms": 604_800_000})
        self.broker.configure(layout.errors, **{"max.message.bytes": 16_383, "cleanup.policy": "compact"})
        self.broker.configure(layout.quarantine, **{"max.message.bytes": 16_384, "retention.ms": 1000})
        missing = f"{self.prefix}.missing"
        bridge = self.bridge(layout, lanes=3, source={"partition": "source", "routes": {
            **layout.routes, "external_event": missing}}, delivery={"transaction_timeout": "15m"})
        report = self.check(bridge, 1)
        found = {(row["state"], row["check"], row["subject"].removeprefix(self.prefix)) for row in report["rows"]
                 if row["state"] != "ok"}
        outputs = (".tool_result", ".approval", ".export_request")
        wanted = {("error", "topic", ".missing"), ("warning", "lanes", "3"),
                  ("error", "message_bytes", ".in.errors"), ("error", "cleanup", ".in.errors"),
                  ("warning", "message_bytes", ".in.quarantine"), ("warning", "retention", ".in.quarantine"),
                  *(("warning", check, topic) for check in ("message_bytes", "timestamps", "retention")
                    for topic in outputs)}
        self.assertEqual(wanted, found)
        ids = {row["subject"]: row["text"] for row in report["rows"] if row["check"] == "brokers"}
        self.assertEqual({report["cluster_id"]}, set(ids))
        self.assertIn("1 broker, controller 1; Kafka 4.0 or later", ids[report["cluster_id"]])
        # The same to people: one line each, and the sum.
        text = self.verb(bridge, "check", wanted=1)[1]
        self.assertEqual(len(report["rows"]), len(text.split("\n\n")[0].splitlines()))
        self.assertTrue(text.endswith(f"{len(found) + 3} findings ({report['errors']} errors, "
                                      f"{report['warnings']} warnings)\n"), text)

    # ---- wrong secrets -------------------------------------------------------------------------------

    def test_each_wrong_secret_gives_its_one_line(self):
        layout = self.layout()
        self.allow(*self.rights(layout), *self.comforts(layout))
        address = self.secure["bootstrap"].replace("localhost", "127.0.0.1")
        wrong = self.folder / "wrong"
        wrong.write_text("wrong")
        cases = {
            "password": ({"sasl.password": f"file:{wrong}"}, "login_refused", "login", "sasl.password"),
            "user": ({"sasl.username": "nobody"}, "login_refused", "login", "sasl.username"),
            "mechanism": ({"sasl.mechanism": "SCRAM-SHA-256"}, "login_refused", "login", "SCRAM-SHA-512,PLAIN"),
            "ca": ({"ssl.ca.location": self.secure["other_ca"]}, "tls_failed", "tls", "ssl.ca.location"),
            "host": ({"bootstrap.servers": address}, "tls_failed", "tls", "another host name"),
        }
        # All at once, since each takes its time to be sure.
        bridges = {name: self.secure_bridge(layout, name, kafka=case[0]).start()
                   for name, case in cases.items()}
        for name, (_, event, check, hint) in cases.items():
            with self.subTest(name):
                bridges[name].wait_exit(77, timeout_s=60)
                told = self.one_trouble(bridges[name])
                self.assertEqual(event, told["event"])
                self.assertIn(hint, told["message"])
                findings = self.findings(self.check(bridges[name], 77))
                self.assertEqual([check], [row["check"] for row in findings])
                self.assertIn(hint, findings[0]["text"])

    def test_a_port_that_hangs_up_is_said_and_waited_for(self):
        layout = self.layout()
        wrong = {"the plain port": {"bootstrap.servers": self.broker.bootstrap},
                 "no TLS on the secure one": {"security.protocol": "SASL_PLAINTEXT"},
                 "TLS without a login": {"security.protocol": "SSL"}}
        bridges = {name: self.secure_bridge(layout, f"bridge-{number}", kafka=kafka).start()
                   for number, (name, kafka) in enumerate(wrong.items())}
        for name, bridge in bridges.items():
            with self.subTest(name):
                event = bridge.wait_event("brokers_unreachable")
                self.assertIn("check security.protocol and the port", event["message"])
                findings = json.loads(self.verb(bridge, "check", "--json", "--timeout", "3s", wanted=69)[1])["rows"][1:]
                self.assertEqual(["connection"], [row["check"] for row in findings])
                self.assertIn("check security.protocol and the port", findings[0]["text"])
                bridge.check_alive()
                bridge.stop()

    # ---- nothing planted comes out -------------------------------------------------------------------

    def outputs_of(self, bridge, code):
        """Everything that a bridge with that exit code, and the verbs with its config, print anywhere."""
        bridge.start()
        said = Path(f"/proc/{bridge.process.pid}/cmdline").read_bytes().decode()
        for words in (("check",), ("check", "--json"), ("lint",), ("lint", "--json")):
            said += self.verb(bridge, *words)[1]
        if code == 0:
            bridge.wait_event("lane_started")
            bridge.stop()
        else:
            bridge.wait_exit(code, timeout_s=60)
        return said + bridge.log_text()

    def test_no_planted_secret_comes_out_anywhere(self):
        layout = self.layout()
        self.allow(*self.rights(layout))
        planted = {"PLANTED_USER": "planted-user-1b2c", "PLANTED_PASSWORD": "planted-password-3d4e",
                   "PLANTED_KEY": "planted-key-password-5f60", "PLANTED_REAL": self.password}
        key, file = self.folder / "client.key", self.folder / "planted"
        file.write_text("planted-file-7a8b\n")
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256",
                        "-pass", "pass:another", "-out", str(key)], check=True, stderr=subprocess.DEVNULL)
        cases = {
            "right": ({"sasl.password": "env:PLANTED_REAL"}, 0),
            "from the environment": ({"sasl.username": "env:PLANTED_USER", "sasl.password": "env:PLANTED_PASSWORD"}, 77),
            "from a file": ({"sasl.password": f"file:{file}"}, 77),
            "of a key": ({"ssl.key.location": str(key), "ssl.key.password": "env:PLANTED_KEY"}, 78),
            "where none belongs": ({"sasl.mechanism": f"file:{file}"}, 78),
        }
        with environment(**planted):
            for number, (name, (kafka, code)) in enumerate(cases.items()):
                with self.subTest(name):
                    bridge = self.secure_bridge(layout, f"bridge-{number}", kafka=kafka,
                                                log={"format": "json", "level": "debug"})
                    said = self.outputs_of(bridge, code)
                    self.assertGreater(len(said), 200)
                    for secret in [*planted.values(), "planted-file-7a8b"]:
                        self.assertNotIn(secret, said)

    # ---- missing rights ------------------------------------------------------------------------------

    def one_of_each(self, layout):
        """A record for each output: the first transaction meets them all."""
        inputs = list(numbered_inputs(layout.source, 1, len(VARIANTS), keys=1))
        return self.broker.produce(inputs + [Input(layout.source, 0, b"bad", b"\xff")])

    def check_names(self, bridge, right):
        findings = self.findings(self.check(bridge, 1))
        self.assertEqual(1, len(findings), findings)
        self.assertEqual(("error", "acl"), (findings[0]["state"], findings[0]["check"]))
        acl = findings[0]["acl"]
        self.assertTrue(right.named_by(acl), f"{right}: {acl}")
        self.assertEqual(f"User:{self.user}", acl["principal"])

    def run_names(self, bridge, right):
        since = bridge.log_size()
        bridge.start().wait_exit(77)
        event = self.one_trouble(bridge, since)
        self.assertEqual("not_allowed", event["event"])
        self.assertTrue(right.named_by(event), f"{right}: {event}")
        self.assertEqual(f"User:{self.user}", event["principal"])

    def test_each_missing_right_gives_its_one_line(self):
        layout = self.layout(1)
        rights = self.rights(layout)
        self.allow(*rights, *self.comforts(layout))
        self.one_of_each(layout)
        bridge = self.secure_bridge(layout)
        for right in rights:
            with self.subTest(str(right)):
                with self.without(right):
                    self.check_names(bridge, right)
                    self.run_names(bridge, right)
        self.check(bridge, 0)

    def test_answering_takes_two_rights_more_and_each_gives_its_one_line(self):
        layout = self.layout(1, export_request="answer")
        state, answers = f"{self.prefix}.state", f"{self.prefix}.answers"
        self.make(layout, state, 1, **{"cleanup.policy": "compact"})
        self.make(layout, answers, 1)
        more = [Right("Read", "Topic", state), Right("Write", "Topic", answers)]
        self.allow(*self.rights(layout), *more, *self.comforts(layout))
        bridge = self.secure_bridge(layout, state={"dir": str(self.folder / "state"), "snapshots_from": [state]},
                                    snapshots={"topic": answers})
        self.check(bridge, 0)
        for right in more:
            with self.subTest(str(right)), self.without(right):
                self.check_names(bridge, right)
                self.run_names(bridge, right)

    def test_a_topic_that_may_be_seen_but_not_used_gives_its_one_line(self):
        layout = self.layout(1)
        rights = self.rights(layout)
        self.allow(*rights, *self.comforts(layout))
        self.one_of_each(layout)
        bridge = self.secure_bridge(layout)
        for right in (Right("Read", "Topic", layout.source), Right("Write", "Topic", layout.routes["approval"]),
                      Right("Write", "Topic", layout.quarantine), Right("Read", "Group", layout.group),
                      Right("Write", "TransactionalId", f"{layout.group}.", "prefixed")):
            with self.subTest(str(right)):
                seen = Right("Describe", right.resource_type, right.resource, right.pattern)
                self.allow(seen)
                with self.without(right):
                    self.check_names(bridge, right)
                    self.run_names(bridge, right)
                self.take_away(seen)

    def test_sizes_that_may_not_be_read_are_assumed_and_said(self):
        layout = self.layout(1)
        self.allow(*self.rights(layout))
        bridge = self.secure_bridge(layout)
        findings = self.findings(self.check(bridge, 1))
        self.assertEqual({("warning", "acl")}, {(row["state"], row["check"]) for row in findings})
        wanted = {topic for topic in layout.counts}
        self.assertEqual(wanted, {row["acl"]["resource"] for row in findings})
        self.assertEqual({"DescribeConfigs"}, {row["acl"]["operation"] for row in findings})
        inputs = self.one_of_each(layout)
        bridge.start()
        self.wait_done(layout, bridge)
        bridge.stop()
        told = [event for event in self.troubles(bridge) if event["event"] == "limit_unknown"]
        self.assertEqual(sorted(layout.outputs), sorted(event["topic"] for event in told))
        self.assert_clean(self.audit(inputs, layout), layout.outputs)

    def test_a_right_that_is_taken_away_is_said_every_ten_seconds_and_waited_out(self):
        layout = self.layout(1)
        self.allow(*self.rights(layout), *self.comforts(layout))
        right = Right("Write", "Topic", layout.routes["approval"])
        inputs = self.one_of_each(layout)
        bridge = self.secure_bridge(layout, lanes=2).start()
        self.wait_done(layout, bridge)
        self.take_away(right)
        since = bridge.log_size()
        inputs += self.broker.produce(list(numbered_inputs(layout.source, 1, 400, first=100)))
        bridge.wait_event("not_allowed", since=since)
        wait_until("it is said again", lambda: len(bridge.events("not_allowed", since)) >= 2, 3 * SAY_EVERY_S)
        bridge.check_alive()
        self.assertTrue(all(right.named_by(event) for event in bridge.events("not_allowed", since)))
        self.assertEqual({"not_allowed"}, {event["event"] for event in self.troubles(bridge, since)})
        self.allow(right)
        self.wait_done(layout, bridge)
        bridge.stop()
        self.assert_clean(self.audit(inputs, layout), layout.outputs)


if __name__ == "__main__":
    unittest.main()
