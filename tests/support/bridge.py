"""One agent-bridge process under test: its config, its log, its life and its death."""

import ctypes
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

from broker import Waiting, wait_until

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
LOG_LINES_SHOWN = 25
PTRACE_ATTACH, PTRACE_DETACH, WAIT_ALL = 16, 17, 0x40000000
LIBC.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
LIBC.ptrace.restype = ctypes.c_long


def config(broker, group, sources, **sections):
    """A config as Python objects; JSON is a subset of YAML, so that is how it is written.

    sources are {"topic":…, "routes":…} objects. Waiting times are short, so that a test sees in seconds
    what takes minutes elsewhere.
    """
    values = {
        "kafka": {"bootstrap.servers": broker.bootstrap},
        "consumer": {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500},
        "group": group,
        "sources": sources,
        "errors": {"breaker": "off"},  # most tests send more broken records than a source would live through
        "http": {"listen": "off"},  # several bridges run at once here
        "log": {"format": "json", "level": "info"},
    }
    for name, section in sections.items():
        if isinstance(section, dict) and isinstance(values.get(name), dict):
            section = {**values[name], **section}
        values[name] = section
    return {name: value for name, value in values.items() if value is not None}


def program():
    path = os.environ.get("AGENT_BRIDGE")
    if not path or not os.access(path, os.X_OK):
        raise SystemExit(f"AGENT_BRIDGE={path!r} is no program; ctest sets it to the one it built")
    return path


def hostname_shim():
    path = os.environ.get("AW_HOSTNAME_SHIM")
    if not path or not os.path.exists(path):
        raise SystemExit(f"AW_HOSTNAME_SHIM={path!r} is not there; it is built from tests/broker/hostname.c")
    return path


def _die_with_parent():
    """In the child: a test that is killed leaves no bridge behind."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _trace(request, thread):
    if LIBC.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request} of thread {thread}")


class Bridge:
    """A process of agent-bridge run, with its config and log in folder. What starts it has to kill it."""

    def __init__(self, settings, folder, name="bridge", host=None):
        self.name = name
        self.config_file = folder / f"{name}.yaml"
        self.config_file.write_text(json.dumps(settings, indent=2))
        self.log_file = folder / f"{name}.log"
        self.host = host
        self.process = None

    # ---- life ----------------------------------------------------------------------------------------

    def start(self):
        """Starts it, also again after a stop or a kill; the log goes on in the same file."""
        environment = dict(os.environ)
        if self.host:
            # By its name alone: a blank in the path would end LD_PRELOAD's item.
            folder, name = os.path.split(os.environ["AW_HOSTNAME_SHIM"])
            environment |= {"LD_PRELOAD": name, "LD_LIBRARY_PATH": folder,
                            "AW_TEST_HOSTNAME": self.host}
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([program(), "run", "-c", str(self.config_file)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment, preexec_fn=_die_with_parent)
        return self

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def check_alive(self):
        if not self.running:
            raise AssertionError(self._say(f"ended by itself with {self.process.returncode}"))

    def signal(self, number):
        self.process.send_signal(number)

    def kill9(self):
        """SIGKILL and wait; nothing when it does not run."""
        if self.running:
            self.process.kill()
        if self.process is not None:
            self.process.wait(30)

    def wait_exit(self, wanted, timeout_s=30):
        """Waits until it ends; wanted is the exit code."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(self._say(f"did not end within {timeout_s} s")) from None
        if code != wanted:
            raise AssertionError(self._say(f"ended with {code}, {wanted} was expected"))

    def stop(self, wanted=0, timeout_s=30):
        """SIGTERM, and the exit code that has to come of it."""
        self.signal(signal.SIGTERM)
        self.wait_exit(wanted, timeout_s)

    @contextmanager
    def frozen(self):
        """SIGSTOP, and SIGCONT at the end of the block."""
        self.signal(signal.SIGSTOP)
        try:
            yield self
        finally:
            self.signal(signal.SIGCONT)

    @contextmanager
    def lanes_frozen(self):
        """Stops the program's own threads and leaves librdkafka's alone, whose heartbeats go on: what a lane
        that hangs looks like from outside."""
        held = [int(task.name) for task in Path(f"/proc/{self.process.pid}/task").iterdir()
                if not (task / "comm").read_text().startswith("rdk:")]
        try:
            for thread in held:
                _trace(PTRACE_ATTACH, thread)
                os.waitpid(thread, WAIT_ALL)
            yield self
        finally:
            for thread in held:
                _trace(PTRACE_DETACH, thread)

    # ---- log -----------------------------------------------------------------------------------------

    def log_size(self):
        """Where the log ends now; events() and wait_event() take it as a start."""
        return self.log_file.stat().st_size if self.log_file.exists() else 0

    def log_text(self, since=0):
        with open(self.log_file, "rb") as log:
            log.seek(since)
            return log.read().decode("utf-8", "replace")

    def events(self, name=None, since=0):
        """The log's events as objects, of that name or all; a line that is no event fails the test."""
        found = []
        for line in self.log_text(since).splitlines(keepends=True):
            if not line.endswith("\n"):
                break  # being written right now
            try:
                event = json.loads(line)
            except ValueError:
                raise AssertionError(self._say(f"a log line is no JSON: {line!r}")) from None
            if name is None or event.get("event") == name:
                found.append(event)
        return found

    def wait_event(self, name, matches=lambda event: True, timeout_s=30, since=0):
        """The first event of that name that matches."""
        def look():
            found = [event for event in self.events(name, since) if matches(event)]
            if not found:
                self.check_alive()
            return found
        try:
            return wait_until(f"event {name} in the log", look, timeout_s)[0]
        except Waiting as error:
            raise Waiting(self._say(str(error))) from None

    def ledger(self):
        """The last ledger line."""
        found = self.events("ledger")
        if not found:
            raise AssertionError(self._say("no ledger line"))
        return found[-1]

    def _say(self, text):
        lines = self.log_text().splitlines()[-LOG_LINES_SHOWN:] if self.log_file.exists() else []
        return f"{self.name}: {text}; its log ({self.log_file}) ends with:\n" + "\n".join(lines)
