#!/usr/bin/env python3
"""Every example configuration is one that `lint` finds nothing in."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "deploy" / "examples").glob("*.yaml"))


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ca, password = Path(folder.name, "ca.pem"), Path(folder.name, "password")
        password.write_text("planted-1f2e3d\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", str(Path(folder.name, "ca.key")), "-out", str(self.ca), "-days", "1",
                        "-subj", "/CN=example"], check=True, stderr=subprocess.DEVNULL)
        # What an example takes from where it runs.
        self.environment = os.environ | {"KAFKA_CA": str(self.ca), "KAFKA_PASSWORD_FILE": str(password)}

    def lint(self, file, **environment):
        return subprocess.run([os.environ["AGENT_BRIDGE"], "lint", "-c", str(file)], capture_output=True, text=True,
                              env=self.environment | environment, timeout=60)

    def test_there_are_those_that_the_documents_speak_of(self):
        self.assertEqual(["compose.yaml", "minimal.yaml", "relay.yaml", "snapshots.yaml"],
                         [file.name for file in EXAMPLES])

    def test_each_passes_lint_without_a_finding(self):
        for file in EXAMPLES:
            with self.subTest(file.name):
                said = self.lint(file)
                self.assertEqual((0, f"{file}: no findings\n"), (said.returncode, said.stdout), said.stderr)
                self.assertNotIn("planted", said.stdout + said.stderr)

    def test_what_a_reference_leads_to_is_looked_at(self):
        relay = ROOT / "deploy" / "examples" / "relay.yaml"
        self.assertIn("kafka.sasl.password", self.lint(relay, KAFKA_PASSWORD_FILE="/nonexistent").stdout)
        self.assertIn("kafka.ssl.ca.location: the file cannot be read: No such file",
                      self.lint(relay, KAFKA_CA="/nonexistent/ca.pem").stdout)


if __name__ == "__main__":
    unittest.main()
