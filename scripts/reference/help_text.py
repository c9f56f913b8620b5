"""What `gram --help` and the help of every verb say, as data: man pages and completions are written from it.

The command's tables of options make the help; this reads it back, so that there is one source and no second list.
"""
import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Row:
    """A line of a table: an option, a verb, a kernel, and what it says."""
    name: str
    text: str

    def options(self):
        """The ways to write an option: ["-o", "--out"]; [] if it is none."""
        return re.findall(r"(?:^|, )(--?[A-Za-z][\w-]*)", self.name)

    def argument(self):
        """What follows the option, "" for a flag."""
        words = self.name.split()
        return words[-1] if self.options() and not words[-1].startswith("-") else ""


@dataclass
class Section:
    title: str
    rows: list = field(default_factory=list)
    lines: list = field(default_factory=list)  # where they are no table: examples


@dataclass
class Page:
    """One verb, or one verb of a verb: ("test", "fit")."""
    verb: tuple
    usage: str
    about: str = ""
    text: list = field(default_factory=list)  # paragraphs
    sections: list = field(default_factory=list)

    def options(self):
        return [row for section in self.sections for row in section.rows if row.options()]

    def verbs(self):
        return [row for section in self.sections for row in section.rows
                if re.fullmatch(r"[a-z][a-z-]*", row.name) and
                (section.title in ("Verbs", "Tests") or section.title.startswith("By hand"))]


def split_row(line):
    """A row's name and text. Names hold single spaces; a long one, as of a kernel, is followed by one space only."""
    line = line.strip()
    if re.match(r"[\w-]+\(", line):
        depth = 0
        for i, c in enumerate(line):
            depth += (c == "(") - (c == ")")
            if c == ")" and depth == 0:
                return line[:i + 1], line[i + 1:].strip()
    parts = re.split(r" {2,}", line, maxsplit=1)
    if len(parts) == 1 and line.startswith("-"):  # an option as long as its column
        found = re.match(r"((?:-\w, )?--[\w-]+(?: [A-Z][\w=:,.]*)?) (.+)", line)
        parts = list(found.groups()) if found else parts
    return parts[0], parts[1] if len(parts) > 1 else ""


def add_line(section, line):
    deep = len(line) - len(line.lstrip())
    if section.title == "Examples":
        section.lines.append(line.strip())
    elif deep > 4 and section.rows:
        section.rows[-1].text = (section.rows[-1].text + " " + line.strip()).strip()
    else:
        section.rows.append(Row(*split_row(line)))


def parse(verb, text):
    """The page that a help text is."""
    lines = text.splitlines()
    page = Page(verb, lines[0].removeprefix("Usage: ") if lines[0].startswith("Usage: ") else "")
    section, paragraph = None, []
    for line in lines[1:] + [""]:
        if line.startswith("Usage: "):
            page.usage = line.removeprefix("Usage: ")
        elif re.match(r"\S.*:$", line) and not paragraph:
            section = Section(line[:-1])
            page.sections.append(section)
        elif line.startswith("  ") and section:
            add_line(section, line)
        elif line:
            section = None
            paragraph.append(line.strip())
        elif paragraph:
            page.text.append(" ".join(paragraph))
            paragraph = []
    return page


def ask(command, *words):
    return subprocess.run([command, *words, "--help"], check=True, capture_output=True, text=True).stdout


def read(command):
    """The front page, and the pages of all verbs and of their verbs."""
    front = parse((), ask(command))
    pages = []
    for verb in front.verbs():
        page = parse((verb.name,), ask(command, verb.name))
        page.about = verb.text
        pages.append(page)
        for inner in page.verbs():
            below = parse((verb.name, inner.name), ask(command, verb.name, inner.name))
            below.about = inner.text
            pages.append(below)
    return front, pages
