# gram fit --checkpoint: what is kept of long solves, by one process. tests/cluster goes on from it with other numbers of ranks.
. "$SOURCE/tests/cli/helper"

SLOW='--quiet --kernel matern(nu=0.5,ell=0.3) --lambda 1e-7 --solver cg'

run make friedman --n 300 --noise 0.5 -o rows.csv
good
run fit rows.csv $SLOW -o plain.gram
good
run fit rows.csv $SLOW --checkpoint state --every 0.0001 -o kept.gram
good
if [ -e state ]; then wrong "should remove the state"; fi
for model in plain kept; do
    run predict $model.gram rows.csv -o $model.csv
    good
done
if ! cmp plain.csv kept.csv; then wrong "should give the same model"; fi

run fit rows.csv --every 5 -o m.gram
bad 2 "--every is for --checkpoint FILE"
run fit rows.csv $SLOW --checkpoint no/folder/state -o m.gram
bad 5 "no/folder/state"
printf 'not a checkpoint at all' >state
run fit rows.csv $SLOW --checkpoint state -o m.gram
bad 3 "state: not a checkpoint that can be gone on from" "Remove the file"
if [ -e m.gram ]; then wrong "should write no model"; fi
rm state

run fit rows.csv --kernel 'rbf(ell=1)' --lambda 1e-3 --solver exact --checkpoint state -o m.gram
if [ "$code" != 0 ] || ! grep -q "only conjugate gradients" err; then wrong "should say that nothing is kept"; fi
