"""schema.py SCHEMA GRAM EXAMPLES: runs every verb with --json and checks what it prints against the schema.

A small validator of its own, so that nothing need be installed: it knows the keywords that the schema uses and refuses all others. It is
stricter than the schema in one thing: a key that the schema does not describe is a fault here, since it was forgotten. Where Python's
jsonschema is there, it has to agree.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}
KEYWORDS = {"description", "type", "enum", "properties", "required", "items", "allOf", "anyOf", "additionalProperties", "$ref"}

DATA = """
make sine --n 40 -o sine.csv
make blobs --n 45 -o blobs.csv
make circles --n 40 -o circles.csv
make moons --n 40 -o moons.csv
make friedman --n 40 -o friedman.csv
"""

# what is learnt: the kernel is given where its choice is not the matter, so that all take a few seconds
FITS = """
fit sine.csv -o krr.gram
fit friedman.csv --estimate auto -o many.gram
fit blobs.csv --estimate auto -o svm.gram
fit blobs.csv --method logistic --estimate auto --kernel rbf(ell=1) --lambda 0.01 -o logistic.gram
fit sine.csv --method gp --estimate auto -o gp.gram
fit blobs.csv --method gp --kernel rbf(ell=1) -o classes.gram
fit sine.csv --method gp --likelihood student -o student.gram
fit sine.csv --method bayes -o bayes.gram
fit sine.csv --method gp --kernel linear -o weights.gram
fit sine.csv --method spline -o spline.gram
fit friedman.csv --method spline -o additive.gram
fit sine.csv --method flow -o flow.gram
fit sine.csv --method sgd -o sgd.gram
fit sine.csv --method svm --C 1 --kernel rbf(ell=1) -o svr.gram
fit circles.csv --method svm --svm one-class --ignore class -o one.gram
fit circles.csv --method svm --C 1 --kernel rbf(ell=1) -o two.gram
fit sine.csv --solver nystrom:20 -o landmarks.gram
fit sine.csv --solver fourier:40 -o fourier.gram
fit sine.csv --solver cells -o cells.gram
fit sine.csv --method gp --solver inducing:20 -o inducing.gram
fit sine.csv --method gp --solver vecchia:10 -o vecchia.gram
fit sine.csv --method gp --solver cg --kernel rbf(ell=1) --noise 0.1 -o cg.gram
fit sine.csv --method gp --solver markov --kernel matern(nu=1.5) -o markov.gram
fit sine.csv --loss huber -o huber.gram
fit sine.csv --quantile 0.1,0.9 -o quantiles.gram
fit sine.csv --increasing x --kernel rbf(ell=1) --lambda 0.01 -o increasing.gram
fit sine.csv --norm 3 --kernel rbf(ell=1) -o ball.gram
"""

OTHERS = """
predict krr.gram sine.csv -o p.csv
predict gp.gram sine.csv --std --interval 0.9 -o p.csv
predict svm.gram blobs.csv -o p.csv
predict logistic.gram blobs.csv --prob -o p.csv
predict quantiles.gram sine.csv -o p.csv
info many.gram
info bayes.gram
info logistic.gram
accumulate sine.csv --solver nystrom:20 -o a.sums
accumulate sine.csv --like a.sums -o b.sums
merge a.sums b.sums -o merged.gram
function krr.gram
function krr.gram krr.gram -o sum.gram
function krr.gram --at sine.csv --values v.csv
convert unscaled.model back.gram
kernel rbf
kernel rbf(ell=1) sine.csv --check --spectrum 5 --lambda 0.1 --gram k.npy
kernel sigmoid(a=1,c=-1) friedman.csv --check
kernel rbf(ell=2) --density --grid 0:3:5
optimize --var x=0:1 --budget 6 --study s.json --json -- sh -c 'echo {x}'
optimize ask s.json
optimize tell s.json 3
optimize report s.json
sample rbf(ell=0.3) --grid 0:1:11 --draws 2
sample gp.gram --grid 0:1:11 --draws 2
test two-sample circles.csv moons.csv
test independence sine.csv --x 1 --y 2
test independence friedman.csv --x 1 --y 2 --given 3
test fit sine.csv --features x --density gaussian
thin friedman.csv -m 10
thin friedman.csv -m 10 --density gaussian
solve poisson.csv --kind kind --target u --kernel rbf(ell=0.3) -o pde.gram
integrate sine.csv --kernel rbf(ell=0.3) --measure uniform(0,1)
embed sine.csv --features x --measure uniform(0,1) -o e.csv
features sine.csv --kernel rbf(ell=0.3) --fourier 20 -o z.npy
features sine.csv --kernel laplace1(ell=0.3) --binning 20 -o z.npz
mercer rbf(ell=0.3) sine.csv -k 3 --features x -o f.csv
pca friedman.csv -k 2 -o c.csv --model pca.gram
pca friedman.csv -k auto -o c.csv
cluster circles.csv -k 2 --ignore class -o l.csv
cluster circles.csv -k 2 --ignore class --method spectral -o l.csv
cca friedman.csv --x 1,2 --y 3,4 -k 1 -o c.csv
couple friedman.csv friedman.csv -k 2 -o couple.gram
compare friedman.csv --features x1,x2 --time 20s
cv friedman.csv --features x1,x2 --kernel rbf(ell=1) --lambda 0.01 -o left.csv
explain many.gram friedman.csv --row 3 --features x1
explain logistic.gram blobs.csv
report krr.gram sine.csv -o page.html
net sine.csv --width 32 --depth 1 -o net.gram
"""


def resolve(schema, root):
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def described(schema, root):
    """The properties of an object, those of the parts that it is made of among them."""
    known = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        known.update(described(resolve(part, root), root))
    return known


def required(schema, root):
    return set(schema.get("required", [])).union(*(required(resolve(part, root), root) for part in schema.get("allOf", [])))


def check_object(value, schema, root, path):
    known, others = described(schema, root), schema.get("additionalProperties")
    faults = [f"{path}: '{key}' is missing" for key in sorted(required(schema, root) - set(value))]
    for key, item in value.items():
        if key in known:
            faults += check(item, known[key], root, f"{path}.{key}")
        elif others:
            faults += check(item, others, root, f"{path}.{key}")
        else:
            faults.append(f"{path}: the schema does not know '{key}' ({json.dumps(item)[:60]})")
    return faults


def check(value, schema, root, path):
    """What is wrong with a value, as a list of texts."""
    schema = resolve(schema, root)
    if "anyOf" in schema:
        tries = [check(value, choice, root, path) for choice in schema["anyOf"]]
        return [] if [] in tries else tries[0]
    names = schema.get("type", "object")
    if not any(is_type(value, name) for name in ([names] if isinstance(names, str) else names)):
        return [f"{path}: {json.dumps(value)[:60]} is not of type {names}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {json.dumps(value)} is none of {schema['enum']}"]
    if isinstance(value, dict):
        return check_object(value, schema, root, path)
    if isinstance(value, list):
        return [fault for i, item in enumerate(value) for fault in check(item, schema["items"], root, f"{path}[{i}]")]
    return []


def check_keywords(schema, path="schema"):
    """Keywords that this validator does not know would be passed over."""
    faults = [f"{path}: keyword '{key}'" for key in set(schema) - KEYWORDS]
    for key in ("items", "additionalProperties"):
        if key in schema:
            faults += check_keywords(schema[key], f"{path}.{key}")
    for key in ("allOf", "anyOf"):
        faults += [fault for part in schema.get(key, []) for fault in check_keywords(part, f"{path}.{key}")]
    for key, part in schema.get("properties", {}).items():
        faults += check_keywords(part, f"{path}.{key}")
    return faults


def words(line):
    """Blanks part words, but not within quotes."""
    if "'" not in line:
        return line.split()
    before, quoted, after = line.split("'")
    return before.split() + [quoted] + after.split()


def run(gram, line, extra):
    done = subprocess.run([gram, *words(line), *extra], capture_output=True, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C"))
    if done.returncode != 0:
        sys.exit(f"gram {line} failed:\n{done.stderr}")
    return done.stdout


def verbs_of(gram):
    lines = run(gram, "help", []).split("Verbs:\n")[1].split("\n\n")[0].split("\n")
    return {line.split()[0] for line in lines if line.strip()} - {"help"}


def peer_check(value, schema, verb, line):
    """Python's jsonschema, where it is there."""
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{verb}", "$defs": schema["$defs"]}).validate(value)


def prepare(gram):
    """Files that no verb makes."""
    rows = "".join(f"{(i + 0.5) / 10},laplacian,1\n" for i in range(10))
    Path("poisson.csv").write_text("x,kind,u\n" + rows + "0,value,0\n1,value,0\n")
    Path("numbered.csv").write_text("a,b,label\n" + "".join(f"{i % 7},{i * i % 5},{1 + i % 2}\n" for i in range(30)))
    run(gram, "fit numbered.csv --method svm --task classification --C 1 --kernel rbf(ell=1) --no-scale -o unscaled.gram", [])
    run(gram, "convert unscaled.gram unscaled.model", [])


def main():
    schema, gram = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]
    faults = [fault for name, part in schema["$defs"].items() for fault in check_keywords(part, name)]
    seen = set()
    for line in (DATA + FITS).split("\n") + [None] + OTHERS.split("\n"):
        if line is None:
            prepare(gram)
        if not line:
            continue
        verb = line.split()[0]
        value = json.loads(run(gram, line, [] if "--json" in line else ["--json"]))
        found = check(value, schema["$defs"].get(verb, {"type": "null"}), schema, "")
        faults += [f"gram {line}: {fault}" for fault in found]
        if not found:
            peer_check(value, schema, verb, line)
        seen.add(verb)
    faults += [f"the schema has no '{verb}', or no command here tries it" for verb in verbs_of(gram) - seen]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
