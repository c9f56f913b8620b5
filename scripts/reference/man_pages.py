"""Man pages: gram(1), one for each verb, gram-kernels(7) from the help, libgram(3) from the headers."""
import re
from pathlib import Path

import headers


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold(text):
    return f"\\fB{escape(text)}\\fR"


def option(row):
    """-o, --out FILE: the option bold, its argument in italics."""
    parts = []
    for word in row.name.split():
        comma = "," if word.endswith(",") else ""
        word = word.removesuffix(",")
        parts.append((bold(word) if word.startswith("-") else f"\\fI{escape(word)}\\fR") + comma)
    return " ".join(parts)


def heading(name, section, version):
    return [f'.TH {name.upper()} {section} "" "gram {version}" "gram"', ".nh", ".ad l"]


def usage(text):
    words = text.split()
    return " ".join(bold(w) if w == "gram" or re.fullmatch(r"[a-z-]+", w) else escape(w) for w in words)


def table(section):
    out = [f'.SH "{section.title.upper()}"' if section.title in ("Options", "Examples") else f'.SS "{escape(section.title)}"']
    for row in section.rows:
        out += [".TP", option(row) if row.options() else bold(row.name), escape(row.text) or "\\&"]
    if section.lines:
        out += [".nf"] + [escape(line) for line in section.lines] + [".fi"]
    return out


def see_also(names):
    return ['.SH "SEE ALSO"', ", ".join(f"{bold(name)}({section})" for name, section in names)]


def page_name(page):
    return "-".join(("gram",) + page.verb)


def verb_page(page, pages, version):
    out = heading(page_name(page), 1, version)
    out += [".SH NAME", f"{escape(page_name(page))} \\- {escape(page.about)}", ".SH SYNOPSIS", usage(page.usage)]
    out += [".SH DESCRIPTION"]
    for paragraph in page.text:
        out += [escape(paragraph), ".PP"]
    out = out[:-1] if out[-1] == ".PP" else out
    for section in page.sections:
        out += table(section)
    near = [(page_name(p), 1) for p in pages if p is not page and p.verb[:1] == page.verb[:1]]
    return out + see_also([("gram", 1)] + near + [("gram-kernels", 7)])


EXIT = (("0", "done"), ("1", "an error inside gram"), ("2", "wrong use: an option, an argument or an expression"),
        ("3", "data that cannot be used: the message names file, row and column"),
        ("4", "the numbers failed: not positive definite beyond repair, no convergence"),
        ("5", "over a limit: memory, disk, a file that cannot be written"),
        ("10", "test --gate: the hypothesis was rejected"), ("130", "interrupted"))


def front_page(front, pages, version):
    out = heading("gram", 1, version)
    out += [".SH NAME", "gram \\- kernel methods", ".SH SYNOPSIS", usage(front.usage), ".SH DESCRIPTION",
            "Learns functions from tables, predicts, tests hypotheses, chooses rows, solves equations and finds optima with any "
            "kernel that can be written down. Every verb has a page of its own; \\fBgram help VERB\\fR prints the same.",
            ".SH VERBS"]
    for page in pages:
        if len(page.verb) == 1:
            out += [".TP", bold(page.verb[0]), escape(page.about)]
    out += ['.SH "EXIT STATUS"']
    for code, text in EXIT:
        out += [".TP", bold(code), escape(text)]
    out += [".SH OUTPUT", "Results go to standard output, messages and progress to standard error. With \\fB\\-\\-json\\fR a verb prints one JSON "
            "object; its keys are described by a JSON Schema, schema/gram.json among the documents."]
    for paragraph in front.text:
        out += [".PP", escape(paragraph)]
    return out + see_also([(page_name(p), 1) for p in pages] + [("gram-kernels", 7), ("libgram", 3)])


def kernel_page(pages, version):
    page = next(p for p in pages if p.verb == ("kernel",))
    kernels = next(s for s in page.sections if s.title.startswith("Kernels"))
    out = heading("gram-kernels", 7, version)
    out += [".SH NAME", "gram\\-kernels \\- the language of kernels", ".SH DESCRIPTION",
            "A kernel is an expression: \\fBrbf(ell=1)\\fR, \\fB0.5*matern(nu=1.5) + linear()\\fR. Numbers that are left out are "
            "free: they are learnt from data, or set by the median heuristic. A number followed by ! is held fixed.",
            ".SH KERNELS"]
    for row in kernels.rows:
        out += [".TP", bold(row.name), escape(row.text) or "\\&"]
    for paragraph in page.text[1:]:
        out += [".PP", escape(paragraph)]
    return out + see_also([("gram", 1), ("gram-kernel", 1), ("libgram", 3)])


def library_page(root, version):
    out = heading("libgram", 3, version)
    out += [".SH NAME", "libgram \\- kernel methods in C", ".SH SYNOPSIS", ".B #include <gram/gram.h>", ".PP",
            "cc file.c $(pkg\\-config \\-\\-cflags \\-\\-libs gram)", ".SH DESCRIPTION",
            "Functions return a \\fBgram_status\\fR, below 0 for a failure, and leave a message in the context that was given "
            "first. Structs of options begin with their size and are filled by their _init function. The headers say what each "
            "function computes."]
    for header in headers.read(root):
        out += [f'.SS "<gram/{header.name}>"', escape(header.first_sentence() or header.name)]
        if header.functions:
            out += [".PP", ", ".join(bold(f.name) for f in header.functions)]
    return out + see_also([("gram", 1), ("gram-kernels", 7)])


def write(front, pages, version, root, folder):
    texts = {"man1/gram.1": front_page(front, pages, version), "man7/gram-kernels.7": kernel_page(pages, version),
             "man3/libgram.3": library_page(root, version)}
    for page in pages:
        texts[f"man1/{page_name(page)}.1"] = verb_page(page, pages, version)
    for name, lines in texts.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
