"""The source tree as the style checks see it. Standard library only."""

import os
import re
from pathlib import Path

SKIPPED_FOLDERS = {"build", ".git", ".venv", "__pycache__", ".cache"}
GENERATED = "codec/message/gen/"
# Comments, string and character constants of C, in one pass, so that none hides in another.
C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


class Tree:
    """All files below root, as paths relative to it with forward slashes."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = sorted(self._walk())
        self.looked_at = set()

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            for name in names:
                yield (Path(folder) / name).relative_to(self.root).as_posix()

    def text(self, path):
        """The file as text; None when it is binary."""
        self.looked_at.add(path)
        data = (self.root / path).read_bytes()
        if b"\0" in data:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def bytes(self, path):
        self.looked_at.add(path)
        return (self.root / path).read_bytes()

    def select(self, *suffixes, under=("",), generated=False):
        """Files with one of the suffixes under one of the folders, generated ones left out."""
        return [path for path in self.files
                if path.endswith(suffixes) and path.startswith(tuple(under))
                and (generated or not path.startswith(GENERATED))]


def blank_comments(text, strings=True):
    """C text with its comments, and its strings where asked, replaced by blanks; lines stay lines."""

    def blank(match):
        token = match.group()
        if token[0] in "\"'" and not strings:
            return token
        return re.sub(r"[^\n]", " ", token)

    return C_TOKEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1
