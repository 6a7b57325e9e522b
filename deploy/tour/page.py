"""The tour's page: what is done, what came of it, and what was checked. It grows on the terminal as the
tour goes, and is written whole when every check has held.

A second run writes the same page: what differs from run to run (times of today, ids of containers,
offsets that a transaction's markers shift) is replaced by a word in pointed brackets.
"""

import re
import time

DAY_MS = 86_400_000
EPOCH_MS = re.compile(r"(?<!\d)\d{13}(?!\d)")
CLOCK = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
CONTAINER = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12}\b")
PLACE = re.compile(r"^(agents\.(?!in:)[a-z.-]+:\d+):\d+$", re.M)
COMMIT = re.compile(r"^(agent-bridge \d+\.\d+\.\d+) \(.*\)$", re.M)
AGE = re.compile(r'("state_age_ms": )\d+')
LONG_TEXT = re.compile(r'("externalEvent": "\w{16})[\w+/=]+"')


def steady(text):
    """The text without what another run would write differently."""
    now = time.time() * 1000

    def today(match):
        return "<ms>" if abs(int(match.group()) - now) < DAY_MS else match.group()

    text = EPOCH_MS.sub(today, text)
    text = CLOCK.sub("<time>", text)
    text = CONTAINER.sub("<id>", text)
    text = COMMIT.sub(r"\1 (<commit>)", text)
    text = PLACE.sub(r"\1:<offset>", text)
    text = AGE.sub(r"\1<ms>", text)
    return LONG_TEXT.sub(r'\1<and so on>"', text)


class CheckFailed(Exception):
    """Something that must hold does not."""


class Page:
    def __init__(self):
        self._text = ""
        self._in_list = False
        self.checks = 0

    def _add(self, text, in_list=False):
        if self._text:
            self._text += "\n" if in_list and self._in_list else "\n\n"
        self._text += text
        self._in_list = in_list
        print(text, end="\n\n", flush=True)

    def title(self, text):
        self._add(f"# {text}")

    def section(self, text):
        self._add(f"## {text}")

    def say(self, text):
        self._add(text)

    def show(self, command, output):
        """A command as somebody would type it, and what it printed."""
        lines = [f"$ {command}", *steady(output).rstrip().splitlines()]
        self._add("```console\n" + "\n".join(line.rstrip() for line in lines) + "\n```")

    def check(self, holds, text, found=""):
        """Ends the tour unless it holds; found is what was seen instead."""
        if not holds:
            raise CheckFailed(f"{text}: {found or 'it does not'}")
        self.checks += 1
        self._add(f"- holds: {text}", in_list=True)

    def text(self):
        return self._text + "\n"
