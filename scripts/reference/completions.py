"""Completions of the command for bash, zsh and fish: verbs, options, the words that an option may be, and files."""
import re
from pathlib import Path

# Words that stand for a file in the help's tables; other arguments have nothing to complete.
FILES = re.compile(r"FILE|DATA|TABLE|[A-Z]\.(gram|npy)|PART|SUMS")


def words_of(row):
    """The words that an option's text offers: "krr: loo (default), cv:K or none" -> cv: loo none. [] where it names none."""
    if not re.fullmatch(r"NAME|HOW|TASK|LOSS|FORMAT|[MPT]", row.argument()):
        return []
    text = row.text
    while "(" in text and re.sub(r"\([^()]*\)", "", text) != text:
        text = re.sub(r"\([^()]*\)", "", text)
    chunks = []
    for part in text.split(";"):
        part = part.split(": ")[-1]  # what comes before names the methods that it is for
        chunks += re.split(r",| or ", re.sub(r"^\s*(or|of \w+)\b", "", part))
    words = [chunk.strip().removeprefix("or ").strip() for chunk in chunks]
    words = [re.sub(r":[A-Z]+$", ":", word) for word in words]
    good = {word for word in words if re.fullmatch(r"[a-z][a-z0-9+-]*:?", word)}
    return sorted(good) if len(good) >= 2 else []


def verb_words(page):
    return " ".join(page.verb)


def bash(front, pages):
    tops = " ".join(p.verb[0] for p in pages if len(p.verb) == 1)
    out = ["# bash completion of gram; written from its help", "_gram()", "{", "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}",
           "    local verb=${COMP_WORDS[1]} options= words= inner=",
           f'    if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{tops} help --help --version" -- "$word")); return; fi',
           f'    if [ "$verb" = help ]; then COMPREPLY=($(compgen -W "{tops}" -- "$word")); return; fi',
           '    case "$verb ${COMP_WORDS[2]}" in']
    inner = [p for p in pages if len(p.verb) == 2]
    for page in inner:
        out.append(f'    "{verb_words(page)}") verb="{verb_words(page)}" ;;')
    out += ["    esac", '    case "$verb" in']
    for page in pages:
        names = " ".join(name for row in page.options() for name in row.options() if name.startswith("--"))
        below = " ".join(p.verb[1] for p in inner if len(page.verb) == 1 and p.verb[0] == page.verb[0])
        out.append(f'    "{verb_words(page)}") options="{names}" inner="{below}" ;;')
    out += ["    esac", '    case "$verb $before" in']
    for page in pages:
        for row in page.options():
            words = words_of(row)
            if words:
                keys = "|".join(f'"{verb_words(page)} {name}"' for name in row.options())
                out.append(f'    {keys}) words="{" ".join(words)}" ;;')
    out += ["    esac",
            '    if [ "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word"))',
            '    elif [ "${word#-}" != "$word" ]; then COMPREPLY=($(compgen -W "$options" -- "$word"))',
            '    elif [ "$COMP_CWORD" -eq 2 ] && [ "$inner" ]; then COMPREPLY=($(compgen -W "$inner" -- "$word"))',
            '    else COMPREPLY=($(compgen -f -- "$word"))', "    fi", "}", "complete -o filenames -F _gram gram"]
    return out


def quoted(text):
    return text.replace("\\", "\\\\").replace("'", "’").replace("[", "(").replace("]", ")").replace(":", "\\:").replace("`", "")


def first_words(text, most=60):
    phrase = re.split(r"[;(]", text)[0].strip()
    text = phrase if " " in phrase else re.sub(r" *\([^()]*\)", "", text)  # "auto (default: ...), krr (...)": one word tells nothing
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " ..."


def zsh_option(row):
    names, argument, words = row.options(), row.argument(), words_of(row)
    about = quoted(first_words(row.text))
    tail = ""
    if argument:
        action = f"({' '.join(words)})" if words else "_files" if FILES.search(argument) else " "
        tail = f":{quoted(argument)}:{action}"
    return [f"'{name}[{about}]{tail}'" for name in names]


def zsh(front, pages):
    out = ["#compdef gram", "# zsh completion of gram; written from its help", "_gram() {", "  local -a verbs", "  verbs=("]
    out += [f"    '{p.verb[0]}:{quoted(p.about)}'" for p in pages if len(p.verb) == 1]
    out += ["    'help:describe a verb and its options'", "  )",
            "  if (( CURRENT == 2 )); then _describe 'verb' verbs; return; fi", '  local verb="$words[2]"',
            '  case "$words[2] $words[3]" in']
    for page in pages:
        if len(page.verb) == 2:
            out.append(f'    "{verb_words(page)}") verb="{verb_words(page)}" ;;')
    out += ["  esac", '  case "$verb" in', "    help) _describe 'verb' verbs ;;"]
    for page in pages:
        below = " ".join(p.verb[1] for p in pages if len(p.verb) == 2 and len(page.verb) == 1 and p.verb[0] == page.verb[0])
        out.append(f'    "{verb_words(page)}")')
        if below:
            out.append(f"      if (( CURRENT == 3 )); then compadd {below}; fi")
        specs = [spec for row in page.options() for spec in zsh_option(row)]
        out.append("      _arguments -S \\\n        " + " \\\n        ".join(specs + ["'*:file:_files'"]) + " ;;")
    return out + ["  esac", "}", '_gram "$@"']


def fish_text(text):
    return first_words(text).replace("\\", "\\\\").replace("'", "\\'")


def fish(front, pages):
    out = ["# fish completion of gram; written from its help", "complete -c gram -n __fish_use_subcommand -f -a help -d 'describe a verb'"]
    for page in pages:
        verb = page.verb[0]
        if len(page.verb) == 1:
            out.append(f"complete -c gram -n __fish_use_subcommand -f -a {verb} -d '{fish_text(page.about)}'")
            seen = f"__fish_seen_subcommand_from {verb}"
        else:
            out.append(f"complete -c gram -n '__fish_seen_subcommand_from {verb}' -f -a {page.verb[1]} -d '{fish_text(page.about)}'")
            seen = f"__fish_seen_subcommand_from {verb}; and __fish_seen_subcommand_from {page.verb[1]}"
        for row in page.options():
            names = " ".join(("-l " + n[2:]) if n.startswith("--") else ("-s " + n[1:]) for n in row.options())
            words = words_of(row)
            more = "" if not row.argument() else f" -x -a '{' '.join(words)}'" if words else " -r"
            out.append(f"complete -c gram -n '{seen}' {names}{more} -d '{fish_text(row.text)}'")
    return out


def write(front, pages, folder):
    for name, lines in (("bash/gram", bash(front, pages)), ("zsh/_gram", zsh(front, pages)), ("fish/gram.fish", fish(front, pages))):
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
