"""Ports of this machine for tests."""

import random
import socket


def free_port():
    """A port of loopback on which nothing listens, below Linux's range for outgoing connections, so that none of
    those takes it before it is used, or between two uses."""
    while True:
        with socket.socket() as probe:
            port = random.randrange(18000, 32000)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def closed_port(case):
    """(socket, "host:port"): nobody listens there, and nobody will: it stays bound until the test case ends."""
    holder = socket.socket()
    case.addCleanup(holder.close)
    holder.bind(("127.0.0.1", 0))
    return holder, f"127.0.0.1:{holder.getsockname()[1]}"
