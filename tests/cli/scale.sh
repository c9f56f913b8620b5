# Many rows: solvers on landmarks and features beside the exact ones, and what they refuse.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "a,b,y,c"; for (i = 0; i < 300; i++) { a = i * 37 % 101 / 20; b = i * 53 % 97 / 20; y = sin(a) + b * b / 10; print a "," b "," y "," (y > 1 ? "high" : "low") } }' >data.csv

# all rows as landmarks: the exact classifier's probabilities
for solver in '' '--solver nystrom:300'; do
    run fit data.csv --target c --ignore y --method logistic --kernel 'laplace(ell=1)' --lambda 0.001 $solver -o l.gram --quiet
    good
    run predict l.gram data.csv --prob -o "p$(echo $solver | tr -d ' :-').csv" --quiet
    good
done
LC_ALL=C awk -F, 'NR == FNR { first[FNR] = $2; next } FNR > 1 { d = $2 - first[FNR]; if (d * d > 1e-10) exit 1 }' p.csv psolvernystrom300.csv ||
    wrong 'landmarks at all rows should give the exact probabilities'

# random features: near the exact fit
run fit data.csv --target y --ignore c --kernel 'rbf(ell=1)' --lambda 1e-4 --solver fourier:400 -o f.gram --json --quiet
good
prints '"solver": "fourier"' '"rank": 400' '"loo_rmse"'
run predict f.gram data.csv --json --quiet -o p.csv
good
LC_ALL=C awk 'match($0, /"r2": [0-9.]+/) { found = substr($0, RSTART + 6, RLENGTH - 6) + 0 > 0.99 } END { exit !found }' out || wrong 'should fit well'
run predict f.gram data.csv --std -o p.csv
bad 2 '--std is not for random features'
run info f.gram
good
prints '400 random Fourier features'

# machines on features
for solver in explicit fourier:100 nystrom:50; do
    kernel='rbf(ell=1)'
    [ $solver = explicit ] && kernel='poly(m=2,c=1)'
    run fit data.csv --target c --ignore y --method svm --kernel "$kernel" --C 10 --solver $solver -o s.gram --quiet
    good
    prints 'duality gap'
    run predict s.gram data.csv --json --quiet -o p.csv
    good
    LC_ALL=C awk 'match($0, /"accuracy": [0-9.]+/) { found = substr($0, RSTART + 12, RLENGTH - 12) + 0 > 0.9 } END { exit !found }' out ||
        wrong 'should tell the classes apart'
done
run predict s.gram data.csv --prob -o p.csv
bad 2 'has no probabilities'

# deviations
run fit data.csv --target y --ignore c --kernel 'rbf(ell=1)' --lambda 1e-4 --solver nystrom:40 -o n.gram --quiet
good
run predict n.gram data.csv --std --interval 0.9 -o p.csv --quiet
good
[ "$(head -n 1 p.csv)" = mean,std,lower,upper ] || wrong 'should have the columns of intervals'
run fit data.csv --target y --ignore c --kernel 'rbf(ell=1)' --lambda 1e-4 --solver nystrom:40 --no-keep-factor -o n.gram --quiet
good
run predict n.gram data.csv --std -o p.csv
bad 2 '--std needs the factors of landmarks' '--keep-factor'

# wrong use
run fit data.csv --target c --ignore y --method svm --solver fourier:7 -o s.gram --quiet
bad 2 'fourier:7 is odd'
run fit data.csv --target c --ignore y --method logistic --solver nystrom:301 --lambda 1 --kernel 'rbf(ell=1)' -o s.gram --quiet
bad 2 'nystrom:301 is more than the 300 rows'
run fit data.csv --target c --ignore y --method logistic --solver fourier:10 --lambda 1 --kernel 'linear' -o s.gram --quiet
bad 2 'no frequencies can be drawn of linear' 'nystrom:M'
