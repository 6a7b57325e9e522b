#!/usr/bin/env python3
"""A TCP proxy that stands between clients and brokers, and can be told to misbehave.

    proxy.py FROM:TO...         ports on loopback, one pair a broker, counted from 1

Commands come on standard input, one a line, each answered with "ok" once it is in force:

    cut N       every connection to broker N is reset, and so is each new one
    hold N      nothing passes any more in either direction, and nobody is told: a network that lost its way
    open N      as before; what was held goes on

It ends with its input, so that it never outlives the test that started it. As a module: Proxy.
"""

import asyncio
import subprocess
import sys

CHUNK = 65536


class Door:
    """The way to one broker."""

    def __init__(self, port, target):
        self._port, self._target = port, target
        self._open = asyncio.Event()
        self._open.set()
        self._cut = False
        self._transports = set()

    async def listen(self):
        await asyncio.start_server(self._serve, "127.0.0.1", self._port)

    def command(self, verb):
        if verb not in ("cut", "hold", "open"):
            raise ValueError(f"no command {verb!r}")
        self._cut = verb == "cut"
        if verb == "hold":
            self._open.clear()
        else:
            self._open.set()
        if self._cut:
            for transport in list(self._transports):
                transport.abort()

    async def _serve(self, reader, writer):
        ends = [writer]
        self._transports.add(writer.transport)
        try:
            await self._open.wait()
            if self._cut:
                return
            inner_reader, inner = await asyncio.open_connection("127.0.0.1", self._target)
            ends.append(inner)
            self._transports.add(inner.transport)
            pumps = [asyncio.ensure_future(self._pump(*pair)) for pair in ((reader, inner), (inner_reader, writer))]
            # One side that ends ends the other: Kafka's clients never close half a connection.
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
        except OSError:
            pass  # the broker is away: for the client its port is as good as closed
        finally:
            for end in ends:
                self._transports.discard(end.transport)
                end.transport.abort()

    async def _pump(self, reader, writer):
        try:
            while data := await reader.read(CHUNK):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass


async def serve(pairs):
    doors = [Door(port, target) for port, target in pairs]
    for door in doors:
        await door.listen()
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    print("ok", flush=True)
    while line := await commands.readline():
        verb, number = line.decode().split()
        doors[int(number) - 1].command(verb)
        print("ok", flush=True)


class Proxy:
    """The proxy as a process of its own. Use as a context manager; doors as in the cluster's state.json."""

    def __init__(self, doors):
        self._words = [f"{door['from']}:{door['to']}" for door in doors]

    def __enter__(self):
        self._process = subprocess.Popen([sys.executable, __file__, *self._words], text=True, bufsize=1,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._await()
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def command(self, verb, *numbers):
        """cut, hold or open; returns when it is in force."""
        for number in numbers:
            self._process.stdin.write(f"{verb} {number}\n")
            self._await()

    def _await(self):
        if self._process.stdout.readline() != "ok\n":
            raise AssertionError(f"the proxy ended with {self._process.wait(10)}")


if __name__ == "__main__":
    asyncio.run(serve([tuple(int(port) for port in word.split(":")) for word in sys.argv[1:]]))
