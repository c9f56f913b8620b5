# gram info: what a model is.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "a,b,kind,y"
    for (i = 0; i < 80; i++) printf "%g,%g,%s,%.6f\n", i / 8, i * 37 % 11, i % 2 ? "odd" : "even", sin(i / 8) + i % 2 }' >train.csv
run fit train.csv --kernel 'rbf(ell=2)' --noise 0.5 -o m.gram --quiet
good
run info m.gram
good
prints 'm.gram' 'written by gram ' 'krr, regression of y on 3 features, 1 of them text with 2 levels' '80 in 4 columns' \
    'rbf(ell=2)' 'noise = n lambda = 0.5' 'leave-one-out' '2 levels: even, odd' 'In other tools' \
    'RBF(length_scale=2)' 'KernelRidge(alpha=0.5)'
grep -Eq '^a +4\.9375 +2\.88' out || wrong 'should tell mean and deviation'
run info m.gram --json
good
[ "$(wc -l <out)" = 1 ] || wrong 'should be one line'
prints '"method": "krr"' '"task": "regression"' '"kernel": "rbf(ell=2)"' '"n": 80' '"d": 4' '"lambda": 0.00625' \
    '"noise": 0.5' '"loo_rmse": ' '"centres": 80' '"outputs": 1' '"targets": ["y"]' '"features": ["a", "b", "kind"]' \
    '"columns": [{"name": "a", "kind": "number", "mean": 4.9375' '"levels": ["even", "odd"]' '"bytes": ' '"version": "' \
    '"equivalents": {"scikit-learn": "RBF(length_scale=2)"'
run info m.gram --json -o report.json
good
grep -q '"method": "krr"' report.json || wrong 'should write the report'
run info nowhere.gram
bad 3 'nowhere.gram' 'gram fit'
run info train.csv
bad 3 'train.csv' 'gram fit'
run info
bad 2 'too few arguments'
