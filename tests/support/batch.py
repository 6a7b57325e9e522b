"""A running `agent-bridge inspect --batch`, one that answers and ends, and processes that share such work."""

import json
import os
import subprocess
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool


class BatchDied(RuntimeError):
    """The process ended before it answered."""


class Batch:
    """Requests go in as a block while answers come out: neither side waits for the other."""

    def __init__(self, program: str):
        self._process = subprocess.Popen([program, "inspect", "--batch"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE)
        self._sender = None

    def send(self, inputs):
        """inputs: (type name, bytes) pairs. Each is then answered by one receive()."""
        block = "".join(f'{{"type":"{type_name}","hex":"{data.hex()}"}}\n'
                        for type_name, data in inputs).encode()
        if self._sender is not None:
            self._sender.join()
        self._sender = threading.Thread(target=self._write, args=(block,), daemon=True)
        self._sender.start()

    def _write(self, block):
        try:
            self._process.stdin.write(block)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # receive() tells

    def receive(self) -> str:
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._process.stdout.close()
            raise BatchDied(f"agent-bridge ended with {self._process.wait()}")
        return line[:-1].decode("utf-8", "backslashreplace")  # ill-formed is a difference

    def close(self):
        """Ends the input; whatever is still answered would be an answer too many."""
        if self._sender is not None:
            self._sender.join()
        self._process.stdin.close()
        rest = self._process.stdout.read()
        code = self._process.wait()
        if rest or code != 0:
            raise BatchDied(f"agent-bridge ended with {code} and {len(rest)} bytes too many")


def inspect(*arguments, text=b""):
    """agent-bridge inspect, fed with text, when it has ended."""
    return subprocess.run([os.environ["AGENT_BRIDGE"], "inspect", *arguments], input=text, timeout=60,
                          capture_output=True)


def batch(requests):
    """The answer to each request, both as objects."""
    done = inspect("--batch", text="".join(json.dumps(request) + "\n" for request in requests).encode())
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def shared_out(work, jobs, *arguments):
    """What work(job, jobs, *arguments) returns for each job, every one in a process of its own."""
    with ProcessPoolExecutor(jobs) as pool:
        shares = [pool.submit(work, job, jobs, *arguments) for job in range(jobs)]
        try:
            return [share.result() for share in shares]
        except BrokenProcessPool:
            raise SystemExit("FAILED a process died before its share was done (was it killed? did memory run "
                             "out?); the run proves nothing") from None
