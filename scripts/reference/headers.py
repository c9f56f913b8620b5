"""The public headers as data: what a header is about, and its functions with the comments above them."""
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Function:
    name: str
    declaration: str
    comment: str


@dataclass
class Header:
    name: str
    about: str
    functions: list = field(default_factory=list)
    types: list = field(default_factory=list)  # (name, text) of structs and enums

    def first_sentence(self):
        found = re.match(r"(.+?[.:])(?: [A-Z(]|$)", self.about.split("\n\n")[0].replace("\n", " "))
        return found.group(1).removesuffix(":") if found else self.about.split("\n")[0]


def plain(comment):
    """A comment without its stars."""
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in comment.strip()[2:-2].split("\n")]
    return "\n".join(lines).strip()


def read_one(path):
    text = path.read_text()
    opening = re.match(r"/\*.*?\*/", text, re.S)
    header = Header(path.name, plain(opening.group(0)) if opening else "")
    for found in re.finditer(r"((?:/\*(?:(?!\*/).)*\*/\s*\n)?)(GRAM_API [^;{]*?\b(gram_\w+)\([^;]*;)", text, re.S):
        comment, declaration, name = found.groups()
        declaration = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", declaration.removeprefix("GRAM_API "), flags=re.S))
        header.functions.append(Function(name, declaration.strip(), plain(comment) if comment.strip() else ""))
    for found in re.finditer(r"^(typedef (?:struct|enum) (gram_\w+) \{.*?^\} \2;)", text, re.S | re.M):
        header.types.append((found.group(2), found.group(1)))
    return header


def read(root):
    paths = sorted((Path(root) / "include/gram").glob("*.h"))
    return [read_one(path) for path in paths if path.name not in ("gram.h", "export.h")]
