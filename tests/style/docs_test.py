#!/usr/bin/env python3
"""Holds the documents to what is there: links, make targets, verbs, exit codes, the example's keys."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from tree import Tree

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\]\(([^)#\s]+)?(#[^)\s]+)?\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-")
            for head in re.findall(r"^#+ (.*)$", text, re.M)}


def broken_links(root):
    """page: target of each relative link that leads nowhere."""
    tree = Tree(root)
    for page in tree.select(".md"):
        text = tree.text(page)
        for match in LINK.finditer(FENCE.sub("", text)):
            target, anchor = match.groups()
            if target and re.match(r"[a-z]+:", target):
                continue
            file = (Path(root) / page).parent / target if target else Path(root) / page
            if not file.exists():
                yield f"{page}: {target}"
            elif anchor and file.suffix == ".md" and anchor[1:] not in anchors(file.read_text()):
                yield f"{page}: {target or ''}{anchor}"


def bridge(*arguments):
    return subprocess.run([os.environ["AGENT_BRIDGE"], *arguments], text=True, cwd=ROOT,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=30)


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        self.pages = {page: (ROOT / page).read_text() for page in Tree(ROOT).select(".md")}
        self.readme = self.pages["README.md"]

    def test_links_all_lead_somewhere(self):
        self.assertEqual(list(broken_links(ROOT)), [])

    def test_links_planted_found(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.md").write_text("# Good one\n[a](a.md#good-one) [b](#good-one) [c](no.md) "
                                            "[d](a.md#bad)\n")
            self.assertEqual(list(broken_links(folder)), ["a.md: no.md", "a.md: a.md#bad"])

    def test_make_targets_named_exist(self):
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
        for page, text in self.pages.items():
            blocks = "\n".join(block for _, block in FENCE.findall(text))
            code = "\n".join(re.findall(r"`([^`\n]+)`", FENCE.sub("", text))) + "\n" + blocks
            for target in re.findall(r"^make ([a-z-]+)", code, re.M):
                self.assertIn(target, targets, page)

    def test_example_linted_without_findings(self):
        examples = [block for kind, block in FENCE.findall(self.readme) if kind == "yaml"]
        self.assertEqual(len(examples), 1)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(examples[0])
            file.flush()
            result = bridge("lint", "-c", file.name)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_verbs_named_exist(self):
        verbs = set(re.findall(r"^agent-bridge ([a-z]+)", self.readme, re.M))
        self.assertGreaterEqual(len(verbs), 5)
        for verb in sorted(verbs):
            self.assertEqual(bridge(verb, "--help").returncode, 0, verb)

    def test_tests_named_exist(self):
        """A promise that names its test names one that runs."""
        lists = "".join(path.read_text() for path in (ROOT / "tests").rglob("CMakeLists.txt"))
        known = set(re.findall(r"\b[a-z_]+_test\b", lists))
        known |= {f"mock_{path.stem}" for path in (ROOT / "tests/mock").glob("*_test.c")}
        for page, text in self.pages.items():
            for name in re.findall(r"`([a-z_]+_test)`", text):
                self.assertIn(name, known, page)

    def test_exit_codes_of_each_verb_are_in_their_rows(self):
        """A row that names verbs names every verb that ends with its code and says so itself; 70, 77 and 78 mean
        the same with all of them."""
        rows = dict(re.findall(r"^\| (\d+) \| (.*?) \|", self.pages["docs/operations.md"], re.M))
        for verb in re.findall(r"ab_verb_t ab_verb_(\w+);", (ROOT / "bridge/cli/cli.h").read_text()):
            said = re.search(r"Exit codes: (.*)", bridge(verb, "--help").stdout, re.S)
            if verb == "run" or said is None:
                continue
            for code in re.findall(r"(?:^|, |; |\. )(\d+) [a-zA-Z]", " ".join(said.group(1).split())):
                named = re.findall(r"`([a-z]+)[ `]", rows[code])
                if code in ("1", "65", "66", "69", "75", "76"):
                    self.assertIn(verb, named, f"exit code {code}")

    def test_metrics_named_exist(self):
        known = set(re.findall(r"`(agent_bridge_\w+)`", self.pages["docs/metrics.md"]))
        known |= {f"{name}_{part}" for name in known for part in ("bucket", "sum", "count")}
        texts = {page: text for page, text in self.pages.items() if page.startswith("docs/")}
        texts |= {path.name: path.read_text() for path in (ROOT / "deploy").rglob("*.py")}
        for page, text in texts.items():
            for name in re.findall(r"\bagent_bridge_[a-z_]+[a-z]\b", text):
                self.assertIn(name, known, page)

    def test_exit_codes_all_listed(self):
        listed = set(re.findall(r"^\| (\d+) \|", self.pages["docs/operations.md"], re.M))
        code = (ROOT / "bridge/kafka/relay.h").read_text() + (ROOT / "bridge/cli/cli.h").read_text()
        known = set(re.findall(r"AB_(?:EXIT|CLI)_\w+ = (\d+)", code))
        self.assertEqual(listed, known)


if __name__ == "__main__":
    unittest.main()
