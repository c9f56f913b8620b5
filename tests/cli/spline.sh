# gram fit --method spline: one feature, periodic, additive; derivatives and intervals; against scipy where it is installed; bad input.
. "$SOURCE/tests/cli/helper"

# key NAME: its number in the JSON object of out
key() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
# less A B: is A below B?
less() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || wrong "$1 should be below $2"; }

LC_ALL=C awk 'BEGIN { srand(7); print "x,z,y"; for (i = 0; i < 80; i++) { x = 20 * rand() - 5; z = rand();
    print x "," z "," sin(x) + 3 * (z - 0.5)^2 + 0.3 * (rand() + rand() - 1) } }' >rows.csv

# all three criteria; the report and info say the same
for how in gcv loo ml; do
    run fit rows.csv --features x --method spline --tune $how -o $how.gram --json --quiet
    good
    prints '"method": "spline"' '"spline": "line"' '"order": 2' "\"tune\": \"$how\"" '"scaled": false' '"at_bound": 0'
    less "$(key loo_rmse)" 0.45
    less "$(key train_rmse)" "$(key loo_rmse)"
done
run fit rows.csv --features x --method spline -o m.gram --quiet
good
prints 'not scaled' 'cubic, order 2, knots 80' 'tuned               by gcv' 'leave-one-out' 'effective dimension' 'deviation of the noise'
grep '^lambda' out >lambda.row
run info m.gram
good
grep -qF "$(cat lambda.row)" out || wrong 'info should say the same'

# values, slopes and curvatures, with deviations where the process has them
printf 'x,what\n1,value\n1,d:x\n1,d:x:x\n30,value\n' >kinds.csv
run predict m.gram kinds.csv --kind what
good
[ "$(wc -l <out)" = 5 ] || wrong 'should have four rows'
run predict m.gram kinds.csv --kind what --std
bad 2 'the variance of derivative 2 is infinite for order 2' 'higher --order'
run fit rows.csv --features x --method spline --order 3 -o m3.gram --quiet
good
run predict m3.gram kinds.csv --kind what --std --interval 0.9 --latent
good
[ "$(head -n 1 out)" = mean,std,lower,upper ] || wrong 'should have the columns mean,std,lower,upper'

# scipy's lam is n lambda
if /usr/bin/python3 -c 'from scipy.interpolate import make_smoothing_spline' 2>/dev/null; then
    run fit rows.csv --features x --method spline --lambda 0.02 -o s.gram --quiet
    good
    run predict s.gram rows.csv -o ours.csv --quiet
    good
    /usr/bin/python3 - <<'END' || wrong 'should be equal to make_smoothing_spline'
import csv
import numpy
from scipy.interpolate import make_smoothing_spline
rows = list(csv.DictReader(open("rows.csv")))
x, y = (numpy.array([float(row[name]) for row in rows]) for name in "xy")
order = numpy.argsort(x)
wanted = make_smoothing_spline(x[order], y[order], lam=len(x) * 0.02)(x)
ours = numpy.loadtxt("ours.csv", skiprows=1)
assert abs(ours - wanted).max() < 1e-8, abs(ours - wanted).max()
END
fi

# periodic: a whole period further on the same, to rounding
run fit rows.csv --features x --method spline --period 6.283185307179586 -o p.gram --quiet
good
prints 'periodic, cubic' 'period 6.2832'
printf 'x\n0.5\n6.783185307179586\n-5.783185307179586\n' >around.csv
run predict p.gram around.csv --quiet
good
[ "$(tail -n +2 out | cut -c1-10 | sort -u | wc -l)" = 1 ] || wrong 'a period further it should be the same'

# additive, with its components
run fit rows.csv --method spline --tune ml -o a.gram --json --quiet
good
prints '"spline": "additive"' '"lambdas": [' '"freedoms": [' '"loo_rmse": '
less "$(key loo_rmse)" 0.2
run predict a.gram rows.csv --terms --std --quiet
good
[ "$(head -n 1 out)" = mean,std,term_1,term_1_std,term_2,term_2_std ] || wrong 'should have the terms'

# wrong use
run fit rows.csv --method spline --order 5 --quiet
bad 2 '--order'
run fit rows.csv --method spline --lambda 0 --quiet
bad 2 '--lambda'
run fit rows.csv --method spline --lambda inf --quiet
bad 2 '--lambda'
run fit rows.csv --method spline --tune none --quiet
bad 2 '--tune none leaves --lambda open'
run fit rows.csv --method spline --tune loo --quiet
bad 2 '--tune loo is for one feature, and there are 2'
run fit rows.csv --method spline --period 2 --quiet
bad 2 '--period is for one feature'
run fit rows.csv --method spline --kernel rbf --quiet
bad 2 '--kernel'
printf 'x,y\n1,2\n1,3\n1,4\n' >same.csv
run fit same.csv --method spline --quiet
bad 3 'same.csv' 'x has 1 distinct value, and a spline of order 2 needs 2'
printf 'x,y\n1,2\nnan,3\n2,4\n' >missing.csv
run fit missing.csv --method spline --quiet
bad 3 'missing.csv'
LC_ALL=C awk -F, 'NR == 1 { print "x,u,y"; next } { print $1 "," 2 * $1 + 1 "," $3 }' rows.csv >twice.csv
run fit twice.csv --method spline --quiet
bad 4 'made of those before it'

# other losses, quantiles and two classes
run fit rows.csv --features x --method spline --loss absolute -o l.gram --json --quiet
good
prints '"loss": "absolute"' '"tune": "cv:5"' '"cv_loss": ' '"gap": '
run fit rows.csv --features x --method spline --quantile 0.1,0.9 -o q.gram --quiet
good
prints 'loss                quantile' '0.1, 0.9'
run predict q.gram rows.csv --quiet
good
[ "$(head -n 1 out)" = quantile_0.1,quantile_0.9 ] || wrong 'should have a column for each level'
run predict q.gram rows.csv --std --quiet
bad 2 '--std is not for a spline of another loss'
LC_ALL=C awk -F, 'NR == 1 { print "x,c"; next } { print $1 "," ($3 > 0.3) }' rows.csv >two.csv
run fit two.csv --method spline --loss logistic -o c.gram --json --quiet
good
prints '"loss": "logistic"' '"task": "regression"' '"cv_loss": '
run predict c.gram two.csv --quiet
good
LC_ALL=C awk 'NR > 1 && !($1 > 0 && $1 < 1) { exit 1 }' out || wrong 'should predict probabilities'
run fit rows.csv --features x --method spline --loss huber --tune gcv --quiet
bad 2 '--tune gcv, loo and ml are of squared loss'
run fit rows.csv --features x --method spline --tune cv:5 --quiet
bad 2 '--tune cv is of other losses'

# thin plates
run fit rows.csv --method spline --spline thin-plate -o t.gram --json --quiet
good
prints '"spline": "thin-plate"' '"loo_rmse": ' '"effective_dimension": '
run predict t.gram rows.csv --std --quiet
good
[ "$(head -n 1 out)" = mean,std ] || wrong 'should have a deviation'
run fit rows.csv --features x --method spline --spline thin-plate --quiet
bad 2 '--spline thin-plate of order 2 is not for 1 feature'
LC_ALL=C awk 'BEGIN { print "x,u,y"; for (i = 0; i < 20; i++) print i "," 2 * i + 1 "," (i * i) % 7 }' >line.csv
run fit line.csv --method spline --spline thin-plate --quiet
bad 3 'they lie on a line'

# other losses of several features
LC_ALL=C awk 'BEGIN { srand(3); print "u,v,y,one"; for (i = 0; i < 120; i++) { u = rand(); v = rand(); e = rand() + rand() - 1
    printf "%.6f,%.6f,%.6f,%d\n", u, v, sin(6 * u) + v * v + e, (sin(6 * u) + v + 2 * e > 0.5) } }' >plane.csv
run fit plane.csv --method spline --target y --ignore one --quantile 0.8 -o q.gram --json --quiet
good
prints '"spline": "additive"' '"loss": "quantile"' '"tune": "cv:5"'
run predict q.gram plane.csv --json --quiet -o p.csv
good
grep -q quantile_0.8 p.csv
run fit plane.csv --method spline --target one --ignore y --loss logistic -o c.gram --quiet
good
run predict c.gram plane.csv -o p.csv --quiet
good
LC_ALL=C awk 'NR > 1 && !($1 > 0 && $1 < 1) { exit 1 }' p.csv
run predict c.gram plane.csv --std
bad 2 '--std is not for a spline of another loss'
run fit plane.csv --method spline --target y --ignore one --quantile 0.2,0.8 -o q.gram
bad 2 'several levels of --quantile are for one feature'
run fit plane.csv --method spline --target y --ignore one --spline thin-plate --loss huber -o q.gram
bad 2 'thin-plate is for squared loss'
run fit plane.csv --method spline --target y --ignore one --period 1 -o q.gram
bad 2 '--period is for one feature, and there are 2'
