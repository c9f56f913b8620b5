# gram fit --seconds, --iterations and --resume: a support vector machine that its budget stops, and that goes on later.
. "$SOURCE/tests/cli/helper"

# number KEY: of the JSON object in out
number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
# same A B: two numbers up to 1e-6 of their size
same() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= 1e-12 * a * a) }' || wrong "$1 should be $2"; }

# three classes that overlap, and a curve
LC_ALL=C awk 'BEGIN { print "u,v,w,kind"
    for (i = 0; i < 210; i++) { k = i % 3; e = ((i * i * 7919) % 101) / 101 - 0.5; f = ((i * i * 104729) % 103) / 103 - 0.5
        printf "%.5f,%.5f,%d,%s\n", k + 3 * e, (k == 1) + 3 * f, 1 + i % 4, substr("redtanblu", 3 * k + 1, 3) } }' >blobs.csv
LC_ALL=C awk 'BEGIN { print "x,y"
    for (i = 0; i < 200; i++) printf "%g,%.5f\n", i / 20, 3 * sin(i / 20) + ((i * i * 7919) % 101) / 101 }' >curve.csv

# in_parts N DATA OPTIONS...: fits in calls of N steps, which must end where one call does
in_parts()
{
    steps=$1
    shift
    run fit "$@" --method svm --tolerance 1e-7 --json --quiet
    good
    prints '"converged": 1'
    whole=$(number objective)
    run fit "$@" --method svm --tolerance 1e-7 --iterations "$steps" -o parts.gram --json --quiet
    good
    prints '"converged": 0' '"tolerance": 1e-07' '"fingerprint_features": "' '"fingerprint_targets": "'
    calls=1
    while grep -qF '"converged": 0' out; do
        if [ $calls = 60 ]; then wrong 'should come to an end'; fi
        before=$(number iterations)
        run fit "$1" --resume parts.gram --iterations "$steps" -o parts.gram --json --quiet
        good
        prints '"resume": "parts.gram"'
        if [ "$(number iterations)" -le "$before" ]; then wrong 'should count the steps of all calls'; fi
        calls=$((calls + 1))
    done
    if [ $calls -lt 3 ]; then wrong 'should take several calls'; fi
    same "$(number objective)" "$whole"
    prints '"converged": 1'
    if grep -q fingerprint out; then wrong 'should keep no state when it is finished'; fi
}

in_parts 300 blobs.csv --kernel 'rbf(ell=0.5)' --C 10 --ignore w
in_parts 300 blobs.csv --kernel 'rbf(ell=0.5)' --C 10 --weights w --class-weight 'red=3,tan=0.5'
in_parts 300 blobs.csv --kernel 'rbf(ell=0.5)' --C 10 --ignore w --class-weight balanced --no-scale
in_parts 120 blobs.csv --kernel 'rbf(ell=0.5)' --svm nu --nu 0.4 --ignore w
in_parts 2000 blobs.csv --kernel 'rbf(ell=0.5)' --svm one-class --nu 0.3 --features u,v
in_parts 2000 curve.csv --kernel 'rbf(ell=0.3)' --C 10 --epsilon 0.2
in_parts 5000 curve.csv --kernel 'rbf(ell=0.3)' --C 10 --svm nu --nu 0.4 --task regression

# an unfinished model predicts, and says what it is
first='--kernel rbf(ell=0.5) --C 10 --ignore w'
run fit blobs.csv $first --iterations 50 -o half.gram --quiet
good
prints 'unfinished' 'stopped by its budget, violation ' 'duality gap ' 'gram fit DATA --resume half.gram'
run fit blobs.csv $first --iterations 50 --quiet
good
prints 'unfinished' '-o M.gram would have kept it'
run predict half.gram blobs.csv --json --quiet
good
prints '"accuracy": 0.'
run info half.gram
good
prints 'unfinished' 'tolerance 0.001' '--resume half.gram'
run info half.gram --json
good
prints '"converged": 0' '"iterations": 150'
run fit blobs.csv --resume half.gram --method svm --tolerance 1e-4 -o whole.gram --quiet
good
if grep -q unfinished out; then wrong 'should be finished'; fi
run info whole.gram
good
if grep -q unfinished out; then wrong 'should be finished'; fi
run info whole.gram --json
prints '"converged": 1' '"C": 10' '"kernel": "rbf(ell=0.5)"'
LC_ALL=C awk -v v="$(number violation)" 'BEGIN { exit !(v <= 1.0001e-4) }' || wrong 'should reach the tolerance that was given'
if [ "$(wc -c <whole.gram)" -ge "$(wc -c <half.gram)" ]; then wrong 'a finished model should be smaller'; fi

# the clock stops it too
run fit curve.csv --method svm --kernel 'rbf(ell=0.1)' --C 1e5 --tolerance 1e-6 --seconds 0.001 -o clock.gram --json --quiet
good
prints '"converged": 0'
run fit curve.csv --resume clock.gram --tolerance 1 -o clock.gram --json --quiet
good
prints '"converged": 1' '"C": 100000'

# what was tuned stays as it was, with the probabilities
run fit blobs.csv --ignore w --tolerance 1e-5 --iterations 20 -o tuned.gram --json --quiet
good
prints '"converged": 0' '"tune": "cv:5"'
before="$(number kernel) $(number C) $(number cv_accuracy) $(number cv_standard_error) $(number tuned_fits)"
run predict tuned.gram blobs.csv --prob --quiet
good
run fit blobs.csv --resume tuned.gram -o tuned.gram --json --quiet
good
prints '"converged": 1' '"tune": "cv:5"' '"train_log_loss": '
after="$(number kernel) $(number C) $(number cv_accuracy) $(number cv_standard_error) $(number tuned_fits)"
if [ "$after" != "$before" ]; then wrong "should keep $before"; fi
mv out all
run fit blobs.csv --ignore w --tolerance 1e-5 -o once.gram --json --quiet
good
same "$(number train_log_loss)" "$(sed 's/.*"train_log_loss": \([^,]*\),.*/\1/' all)"

# probabilities by --prob are made when the machine is finished
run fit blobs.csv $first --prob --iterations 50 -o prob.gram --quiet
good
run predict prob.gram blobs.csv --prob
bad 2 'prob.gram has no probabilities' '--resume'
run fit blobs.csv --resume prob.gram --iterations 1000000 -o prob.gram --json --quiet
good
prints '"converged": 1' '"train_log_loss": '
run predict prob.gram blobs.csv --prob --quiet
good

# rounding is no budget: of tolerances about as large as it, one at least ends by it
for tolerance in 2e-15 1.5e-15 1e-15 7e-16 5e-16 3e-16; do
    rm -f never.gram
    run fit blobs.csv $first --tolerance $tolerance --iterations 50000 -o never.gram --quiet
    if [ $code = 4 ]; then break; fi
    good
done
bad 4 'no convergence'
if [ -e never.gram ]; then wrong 'should write no model'; fi

# budgets of other methods, and out of range
run fit curve.csv --method krr --seconds 3
bad 2 '--seconds is an option of svm, not of krr'
run fit curve.csv --iterations 3 --quiet
bad 2 '--iterations is an option of svm, not of krr'
run fit blobs.csv --method logistic --iterations 3
bad 2 '--iterations is an option of svm, not of logistic'
run fit curve.csv --method gp --seconds 3
bad 2 '--seconds is an option of svm, not of gp'
run fit blobs.csv --method svm --seconds 0
bad 2 "--seconds cannot be '0'"
run fit blobs.csv --method svm --iterations 0
bad 2 "--iterations cannot be '0'"

# the model decides
for option in '--kernel rbf' '--C 1' '--nu 0.5' '--epsilon 0.1' '--svm c' '--tune none' '--class-weight balanced' '--task regression' \
    '--method krr' '--target kind' '--no-scale' '--prob' '--lambda 1'; do
    run fit blobs.csv --resume half.gram $option
    bad 2 "fit: ${option%% *} does not go with --resume" 'the model decides'
done

# nothing to go on with, or not with these data
run fit blobs.csv --resume whole.gram
bad 2 'whole.gram' 'finished'
run fit curve.csv --kernel 'rbf(ell=1)' --noise 0.1 -o krr.gram --quiet
good
run fit curve.csv --resume krr.gram
bad 2 'krr.gram' 'a fit of krr cannot go on'
run fit blobs.csv --resume none.gram
bad 3 'none.gram'
head -n 200 blobs.csv >fewer.csv
run fit fewer.csv --resume half.gram
bad 3 'fewer.csv: 199 rows, not the 210 that half.gram was fitted on'
sed '7s/^[^,]*/0.125/' blobs.csv >moved.csv
run fit moved.csv --resume half.gram
bad 3 'moved.csv: the features are not those that half.gram was fitted on'
sed '7s/[a-z]*$/red/;8s/[a-z]*$/red/' blobs.csv >named.csv
run fit named.csv --resume half.gram
bad 3 'named.csv: the target or the weights are not those that half.gram was fitted on'
sed '1s/v/z/' blobs.csv >column.csv
run fit column.csv --resume half.gram
bad 3 'column.csv' "'v'"

# damage
if command -v python3 >/dev/null 2>&1; then
    # break_model CODE: half.gram with its files in `f`, `about` (model.json) and `duals` (a list) changed, as broken.gram
    break_model()
    {
        python3 - "$1" <<'END'
import json, struct, sys, zipfile
f = {i.filename: zipfile.ZipFile("half.gram").read(i) for i in zipfile.ZipFile("half.gram").infolist()}
about, npy = json.loads(f["model.json"]), f["duals.npy"]
start = 10 + struct.unpack("<H", npy[8:10])[0]
duals = list(struct.unpack("<%dd" % ((len(npy) - start) // 8), npy[start:]))
facts = about["facts"]
exec(sys.argv[1])
if "duals.npy" in f:
    rows = len(duals) // 3
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 3), }" % rows
    head = head.ljust(117) + "\n"
    f["duals.npy"] = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%dd" % (3 * rows), *duals)
    about["arrays"]["duals"]["rows"] = rows
f["model.json"] = json.dumps(about).encode()
with zipfile.ZipFile("broken.gram", "w", zipfile.ZIP_STORED) as z:
    for name in f: z.writestr(zipfile.ZipInfo(name), f[name])
END
        run fit blobs.csv --resume broken.gram --json --quiet
    }
    break_model 'duals[5] = 0.5'
    good
    prints '"converged": 1'
    break_model 'duals[5] = float("nan")'
    bad 3 'broken.gram' 'not finite'
    break_model 'duals[5] = float("inf")'
    bad 3 'broken.gram' 'not finite'
    break_model 'duals = duals[:-3]'
    bad 3 'broken.gram' '209 x 3, not 210 x 3'
    break_model 'del f["duals.npy"], about["arrays"]["duals"]'
    bad 3 'broken.gram' 'no duals'
    break_model 'del facts["fingerprint_features"]'
    bad 3 'broken.gram' 'fingerprints'
    break_model 'facts["fingerprint_targets"] = 7'
    bad 3 'broken.gram' 'fingerprints'
    break_model 'facts["svm"] = "round"'
    bad 3 'broken.gram' 'not a kind of machine'
    break_model 'facts["C"] = -1.0'
    bad 3 'broken.gram' 'out of its range'
    break_model 'del facts["tolerance"]'
    bad 3 'broken.gram' 'out of its range'
    break_model 'about["task"] = "regression"; facts["svm"] = "epsilon"; facts["epsilon"] = 0.1'
    bad 3 'blobs.csv'
fi
