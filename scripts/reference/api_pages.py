"""The reference of the C interface, api.md: every public header, its types and its functions, from the headers alone."""
import headers


def about(header):
    """The opening comment: paragraphs, and lines that are set off as they are."""
    return "\n".join(line if line.strip() else "" for line in header.about.split("\n"))


def section(header):
    out = [f"## gram/{header.name}", "", "```text", about(header), "```", ""]
    for name, text in header.types:
        out += [f"<details><summary><code>{name}</code></summary>", "", "```c", text, "```", "</details>", ""]
    for function in header.functions:
        out += [f"- `{function.declaration}`"]
        if function.comment:
            out += ["  <br>" + " ".join(function.comment.split()).replace("<", "&lt;").replace("|", "&#124;")]
    return out + [""]


def text(root):
    out = ["# The C interface", "",
           "Written from the headers when gram is built. `#include <gram/gram.h>` brings all of them. Functions return a "
           "`gram_status`, below 0 for a failure, with a message in the context.", ""]
    every = headers.read(root)
    out += [f"- [{header.name}](#gram{header.name.replace('.', '')}): {header.first_sentence()}" for header in every] + [""]
    for header in every:
        out += section(header)
    return "\n".join(out).rstrip() + "\n"
