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
bad 2 '--std is not for finitely many features'
run info f.gram
good
prints '400 random Fourier features'

# machines on features
for solver in explicit fourier:100 nystrom:50 binning:100; do
    kernel='rbf(ell=1)'
    [ $solver = binning:100 ] && kernel='laplace1(ell=2)'
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

# bins: numbers and classes, near the exact fits
run fit data.csv --target y --ignore c --kernel 'laplace1(ell=4)' --lambda 1e-4 --solver binning:400 -o f.gram --json --quiet
good
prints '"solver": "binning"' '"iterations"'
run predict f.gram data.csv --quiet -o p.csv
good
run fit data.csv --target y --ignore c --kernel 'laplace1(ell=4)' --lambda 1e-4 --solver exact -o e.gram --quiet
run predict e.gram data.csv --quiet -o q.csv
LC_ALL=C awk -F, 'NR == FNR { a[FNR] = $1; next } FNR > 1 { s += ($1 - a[FNR]) ^ 2 } END { exit !(sqrt(s / 300) < 0.06) }' p.csv q.csv ||
    wrong 'bins should be near the exact fit'
run fit data.csv --target c --ignore y --method logistic --kernel 'laplace1(ell=2)' --lambda 1e-3 --solver binning:200 -o l.gram --json --quiet
good
prints '"train_accuracy": 0.9'
run fit data.csv --target y --ignore c --solver binning:0
bad 2 "--solver cannot be 'binning:0'"
run fit data.csv --target y --ignore c --solver binning:10 --lambda 1 --kernel 'rbf(ell=1)' --quiet
bad 2 'no bins can be drawn of rbf' 'nystrom:M'
run fit data.csv --target y --ignore c --solver fourier:10 --frequencies orthogonal --lambda 1 --kernel 'rbf(ell=1)' --quiet
good
run fit data.csv --target c --ignore y --method svm --solver nystrom:10 --frequencies qmc --C 1 --quiet
bad 2 '--frequencies is for --solver fourier'

# kernels of finite rank and many rows go by their features, with the numbers of the exact fit
LC_ALL=C awk 'BEGIN { print "a,b,y"; for (i = 0; i < 5200; i++) { a = i * 37 % 101 / 20; b = i * 53 % 97 / 20; print a "," b "," a - 2 * b + a * b } }' >many.csv
run fit many.csv --kernel 'poly(m=2,c=1)' --lambda 1e-3 -o f.gram --json --quiet
good
prints '"map": "explicit"' '"rank": 6' '"loo_rmse"'
run fit many.csv --kernel 'poly(m=2,c=1)' --lambda 1e-3 --solver exact -o e.gram --quiet
good
run predict f.gram many.csv --quiet -o p.csv
run predict e.gram many.csv --quiet -o q.csv
LC_ALL=C awk -F, 'NR == FNR { a[FNR] = $1; next } FNR > 1 && ($1 - a[FNR]) ^ 2 > 1e-12 { exit 1 }' p.csv q.csv || wrong 'should be the exact fit'

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

# a limit of time: far away it changes nothing, too near it is named
run fit data.csv --target y --ignore c -o t.gram --quiet --time 1h --json
good
case $(cat out) in *left_out*) wrong 'nothing should be left out' ;; esac
run predict t.gram data.csv --quiet -o p.csv
run fit data.csv --target y --ignore c -o t.gram --quiet
run predict t.gram data.csv --quiet -o q.csv
cmp p.csv q.csv || wrong 'a distant limit should change nothing'
run fit data.csv --target y --ignore c --time 5x
bad 2 "--time cannot be '5x'" '90s'

# Fourier features with many rows: iterations in f32 and mixed precision beside normal equations
LC_ALL=C awk 'BEGIN { print "a,b,y"; for (i = 0; i < 6000; i++) { a = i * 37 % 1009 / 200; b = i * 53 % 977 / 200; print a "," b "," sin(a) + b * b / 10 + (i * 7919 % 101) / 500 } }' >rows.csv
for precision in f64 mixed f32; do
    run fit rows.csv --target y --kernel 'rbf(ell=1)' --lambda 1e-4 --solver fourier:100 --precision $precision -o f.gram --json --quiet
    good
    prints "\"precision\": \"$precision\"" '"effective_dimension"' '"loo_rmse"'
    [ $precision = f64 ] || prints '"sample": 1200' '"iterations"'
    run predict f.gram rows.csv --quiet -o p_$precision.csv
    good
done
differ() { LC_ALL=C awk -F, -v most=$3 'NR == FNR { a[FNR] = $1; next } FNR > 1 && ($1 - a[FNR]) ^ 2 > most ^ 2 { exit 1 }' p_$1.csv p_$2.csv; }
differ f64 mixed 1e-6 || wrong 'mixed precision should give the values of f64'
differ f64 f32 1e-2 || wrong 'f32 should be near the values of f64'
run fit rows.csv --target y --kernel 'rbf(ell=1)' --lambda 1e-4 --solver fourier:100 --precision f16 --quiet
bad 2 "--precision cannot be 'f16'"
# too few rows for each feature: normal equations whatever was asked for
run fit data.csv --target y --ignore c --kernel 'rbf(ell=1)' --lambda 1e-4 --solver fourier:100 --precision f32 -o f.gram --json --quiet
good
prints '"precision": "f64"'

# landmarks: what is certified on the rows, from all of them
run fit data.csv --target y --ignore c --kernel 'rbf(ell=1)' --lambda 1e-4 --solver nystrom:60 -o n.gram --quiet
good
prints 'exact fit on these rows within'
