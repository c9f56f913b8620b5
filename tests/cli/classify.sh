# gram fit and predict for classes: support vector machines, logistic regression, Gaussian processes; labels keep their names.
. "$SOURCE/tests/cli/helper"

# near A B TOLERANCE: two numbers
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' || wrong "$1 should be $2"; }
# number KEY: of the JSON object in out
number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }

# two rings that no line can tell apart, with names, and three blobs with numbers
LC_ALL=C awk 'BEGIN { print "u,v,ring"
    for (i = 0; i < 160; i++) { r = i % 2 ? 1 : 2.2; a = i * 2.39996; e = ((i * i * 7919) % 101) / 250 - 0.2
        printf "%.5f,%.5f,%s\n", (r + e) * cos(a), (r + e) * sin(a), i % 2 ? "inner ring" : "outer,ring" } }' |
    sed 's/outer,ring/"outer,ring"/' >rings.csv
LC_ALL=C awk 'BEGIN { print "u,v,kind"
    for (i = 0; i < 150; i++) { k = i % 3; e = ((i * i * 7919) % 101) / 101 - 0.5; f = ((i * i * 104729) % 103) / 103 - 0.5
        printf "%.5f,%.5f,%d\n", 2 * k + 2.4 * e, (k == 1 ? 2 : 0) + 2.4 * f, 10 * k - 10 } }' >blobs.csv

for method in svm logistic gp; do
    run fit rings.csv --method $method -o $method.gram --json --quiet
    good
    prints "\"method\": \"$method\"" '"task": "classification"' '"classes": ["inner ring", "outer,ring"]' '"train_accuracy": '
    run predict $method.gram rings.csv --prob --quiet
    good
    [ "$(head -n 1 out)" = 'label,p_inner ring,"p_outer,ring"' ] || wrong 'should name the probabilities after the classes'
    sed 1d out | cut -d, -f1 | LC_ALL=C sort -u >names
    grep -q '^inner ring$' names || wrong 'should keep the names'
    grep -q '^"outer' names || wrong 'should quote the names that need it'
    # probabilities add up, and the label is the likelier
    sed 's/"outer,ring"/outer/' out | LC_ALL=C awk -F, 'NR > 1 { s = $2 + $3; if (s < 0.999999 || s > 1.000001) exit 1
        if (($2 > $3) != ($1 == "inner ring")) exit 1 }' || wrong 'labels and probabilities should agree'
    run predict $method.gram rings.csv --json
    good
    prints '"accuracy": ' '"log_loss": ' '"auc": ' '"confusion": [['
    near "$(number accuracy)" 1 0.02
    run fit blobs.csv --method $method -o three.gram --json --quiet
    good
    prints '"classes": ["-10", "0", "10"]'
    run predict three.gram blobs.csv --json --quiet
    good
    near "$(number accuracy)" 0.97 0.031
    run predict three.gram blobs.csv --quiet
    good
    [ "$(sed 1d out | LC_ALL=C sort -u | tr '\n' ' ')" = '-10 0 10 ' ] || wrong 'should predict the numbers of the classes'
    run info three.gram
    good
    prints 'classification'
done

# by default: what looks like classes is classified by a support vector machine
run fit blobs.csv --json --quiet
good
prints '"method": "svm"' '"svm": "c"' '"n_support": ' '"objective": -' '"gap": ' '"cv_accuracy": 0.' '"tune": "cv:5"'

# given in full, nothing is tuned, and then there are no probabilities unless asked for
run fit rings.csv --method svm --kernel 'rbf(ell=1)' --C 1 -o plain.gram --json --quiet
good
prints '"tune": "none"' '"C": 1'
run predict plain.gram rings.csv --prob
bad 2 'plain.gram has no probabilities' 'fit --prob'
run predict plain.gram rings.csv --json
good
prints '"accuracy": ' '"auc": '
if grep -q log_loss out; then wrong 'should have no log loss'; fi
run fit rings.csv --method svm --kernel 'rbf(ell=1)' --C 1 --prob -o prob.gram --quiet
good
run predict prob.gram rings.csv --prob --quiet
good

# the same result with any number of threads
run fit blobs.csv -o a.gram --threads 1 --quiet
run fit blobs.csv -o b.gram --threads 2 --quiet
"$GRAM" predict a.gram blobs.csv --prob --quiet >a.csv
"$GRAM" predict b.gram blobs.csv --prob --quiet >b.csv
cmp a.csv b.csv || wrong 'threads should not matter'

# nu, one class, regression
run fit rings.csv --method svm --svm nu --nu 0.2 --kernel 'rbf(ell=1)' --json --quiet
good
prints '"svm": "nu"' '"nu": 0.2'
run fit blobs.csv --svm one-class --nu 0.1 --features u,v -o one.gram --json --quiet
good
prints '"task": "one-class"'
run predict one.gram blobs.csv --quiet
good
[ "$(head -n 1 out)" = label,score ] || wrong 'should have label and score'
# at most a share nu of the rows is outside
LC_ALL=C awk -F, 'NR > 1 { out += $1 == -1; n++ } END { exit !(out > 0.02 * n && out <= 0.12 * n) }' out || wrong 'about a tenth should be outside'
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 100; i++) printf "%g,%.5f\n", i / 10, 3 * sin(i / 10) + ((i * i * 7919) % 101) / 505 }' >curve.csv
run fit curve.csv --method svm --epsilon 0.05 -o curve.gram --json --quiet
good
prints '"task": "regression"' '"svm": "epsilon"' '"epsilon": 0.05' '"cv_rmse": 0.'
run predict curve.gram curve.csv --json
good
near "$(number rmse)" 0.06 0.05
run fit curve.csv --method svm --svm nu --nu 0.5 --kernel 'rbf(ell=0.3)' --C 10 --task regression --json --quiet
good
prints '"svm": "nu"'

# weights of classes move the balance
awk 'BEGIN { print "x,c"; for (i = 0; i < 100; i++) print i % 10 "," (i % 10 < 5 ? (i % 7 == 0) : (i % 7 != 0)) }' >noisy.csv
run fit noisy.csv --method logistic --kernel 'const(c=1)' --lambda 0.01 --class-weight '1=20' -o w.gram --quiet
good
run predict w.gram noisy.csv --quiet
[ "$(sed 1d out | LC_ALL=C sort -u)" = 1 ] || wrong 'a heavy class should win everywhere'
run fit noisy.csv --class-weight balanced --quiet
good
run fit noisy.csv --class-weight 'maybe=2' --quiet
bad 2 "no class 'maybe'"
run fit noisy.csv --class-weight '1=-2' --quiet
bad 2 "--class-weight '1=-2'"

# classes that were not seen in training are wrong, and counted
sed 's/inner ring/new ring/' rings.csv >unseen.csv
run predict svm.gram unseen.csv --json
good
prints '"unknown_classes": 80'

# bad input
printf 'x,c\n1,a\n2,a\n3,a\n' >same.csv
run fit same.csv
bad 3 'one class' "'a'"
printf 'x,c\n1,a\n1,b\n1,a\n1,b\n1,a\n1,b\n1,a\n1,b\n' >equal.csv
for method in svm logistic gp; do
    run fit equal.csv --method $method -o equal.gram --quiet
    good
    run predict equal.gram equal.csv --quiet
    good
done
run fit rings.csv --method svm --C 0
bad 2 '--C'
run fit rings.csv --method svm --C -1
bad 2 '--C'
run fit rings.csv --method svm --svm nu --nu 2
bad 2 "--nu cannot be '2'" '(0, 1]'
printf 'x,c\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n7,a\n8,a\n9,b\n10,b\n' >few.csv
run fit few.csv --method svm --svm nu --nu 0.9 --kernel 'rbf(ell=1)' --quiet
bad 2 'nu'
run fit rings.csv --method logistic --tune ml
bad 2 '--tune ml is of krr, gp' 'not of logistic'
run fit rings.csv --method svm --tune loo
bad 2 'not of svm'
run fit rings.csv --method svm --noise 0.1
bad 2 '--noise is an option of' ', not of svm'
run fit curve.csv --method logistic --quiet
bad 2 '--method logistic is not for regression'
run predict svm.gram rings.csv --std
bad 2 '--std is not for a classifier'
printf 'u,v,ring\n1,inf,x\n1,2,y\n' >inf.csv
run fit inf.csv --quiet
bad 3 'inf.csv'

# norm, ramp loss and bounds; what is assumed of k(x, x) is said
LC_ALL=C awk 'BEGIN { srand(3); print "u,v,side"; for (i = 0; i < 600; i++) { u = 2 * rand() - 1; v = 2 * rand() - 1
    print u "," v "," (u + 0.3 * v > 0 ? "right" : "left") } }' >sides.csv
run fit sides.csv --method logistic --kernel 'rbf(ell=1)' --lambda 0.05 --no-scale --no-intercept --quiet -o risk.gram
good
grep -q Rademacher out && wrong "bounds are for --verbose"
run fit sides.csv --method logistic --kernel 'rbf(ell=1)' --lambda 0.05 --no-scale --no-intercept --verbose -o risk.gram
[ "$code" = 0 ] || wrong "should succeed"
prints 'ramp loss 0.' 'norm ' 'Rademacher complexity at most' 'share of errors on new data) with probability 0.95' \
    'stability           expected log loss on new data at most 0.13333 above the least one of any |f| <= 1.1547'
grep -q 'largest' out && wrong 'k(x, x) is 1 everywhere: nothing is assumed'
grep '^risk' out >risk.row
run info risk.gram --verbose
[ "$code" = 0 ] || wrong "should succeed"
grep -qF "$(cat risk.row)" out || wrong 'info should say the same'
run info risk.gram --json
good
prints '"ramp_loss": 0.' '"risk_bound": 0.' '"risk_delta": 0.05' '"risk_radius": 1' '"risk_radius_sure": 1' '"stability_bound": 0.1333'
LC_ALL=C awk '{ gsub(/[",{}:]/, " "); for (i = 1; i < NF; i++) a[$i] = $(i + 1) }
    END { b = a["risk_ball"]; j = log(sqrt(log(2) / 0.05) / b) / log(2)
          bound = a["ramp_loss"] + 2 * b / sqrt(600) + sqrt(log((j + 1) * (j + 2) / 0.05) / 1200)
          d = bound - a["risk_bound"]; exit !(d < 1e-9 && d > -1e-9 && b >= a["norm"]) }' out || wrong 'the bound by hand'
run fit sides.csv --method svm --kernel 'linear(c=1)' --C 0.001 --no-scale --verbose
[ "$code" = 0 ] || wrong "should succeed"
prints 'ramp loss 0.' 'share of errors on new data) with probability 0.95,' 'if no k(x, x) is above the largest one here'
run fit sides.csv --method svm --kernel 'rbf(ell=1)' --C 0.001 --verbose
[ "$code" = 0 ] || wrong "should succeed"
prints 'ramp loss 0.' 'norm '
grep -q '^risk' out && wrong 'columns were standardised by these rows: no bound'

# LIBSVM's files as they are
LC_ALL=C awk -F, 'NR > 1 { print $3, "1:" $1, "2:" $2 }' blobs.csv >blobs.svm
run fit blobs.svm --json --quiet
good
prints '"classes": ["-10", "0", "10"]'

if command -v gnuplot >/dev/null 2>&1; then
    run fit rings.csv --plot regions.svg -o p.gram --quiet
    good
    grep -q 'support vectors' regions.svg || wrong 'should show the support vectors'
    run predict logistic.gram rings.csv --plot regions.svg -o p.csv --quiet
    good
    LC_ALL=C awk -F, 'NR == 1 { print "w," $0 } NR > 1 { print NR % 5 "," $0 }' rings.csv >wide.csv
    run fit wide.csv --method logistic --plot curves.svg --quiet
    good
    grep -q 'probability' curves.svg || wrong 'should show how probabilities hold'
fi

# svm: lambda is C in other words, and there may be no intercept
LC_ALL=C awk 'BEGIN { srand(5); print "a,b,c"; for (i = 0; i < 50; i++) { a = rand(); b = rand(); printf "%.4f,%.4f,%s\n", a, b, (a + b > 1.2 ? "u" : "v") } }' >flat.csv
run fit flat.csv --method svm --kernel 'rbf(ell=1)' --C 2 --json --quiet
good
prints '"C": 2,'
sed 's/"command": "[^"]*", //; s/"seconds.*//' out >wanted
run fit flat.csv --method svm --kernel 'rbf(ell=1)' --lambda 0.005 --json --quiet
good
sed 's/"command": "[^"]*", //; s/"seconds.*//' out >found
cmp -s wanted found || wrong 'should be C = 1/(2 n lambda)'
run fit flat.csv --method svm --C 2 --lambda 0.005
bad 2 '--C' '--lambda'
run fit flat.csv --method svm --svm nu --lambda 0.005
bad 2 '--lambda is not for --svm nu'
run fit flat.csv --method svm --kernel 'linear(c=0)' --C 2 --no-scale --no-intercept --json --quiet -o through.gram
good
prints '"intercept": 0'
run info through.gram
good
prints 'no intercept'
printf 'a,b\n0,0\n0.1,0.1\n0.9,0.9\n' >ray.csv # a plane through the origin: all points of a ray are on one side
run predict through.gram ray.csv
good
[ "$(sed -n '3,4p' out | sort -u | wc -l)" = 1 ] || wrong 'should divide at the origin'
run fit flat.csv --method svm --svm nu --no-intercept
bad 2 '--no-intercept is not for --svm nu'
run fit flat.csv --method svm --no-intercept --json --quiet
good
prints '"cv_accuracy"' '"intercept": 0'

# options are looked at before the data are: what is for classes only says how to have it
printf 'x,c\n0,b\n1,a\n2,b\n3,a\n' >two.csv
run fit two.csv --method gp --kernel 'rbf(ell=1)' --approximation laplace -o a.gram --quiet
bad 2 '--approximation is not for gp with the likelihood gaussian' 'give --task classification'
run fit two.csv --method gp --kernel 'rbf(ell=1)' --approximation laplace --task classification -o a.gram --quiet
good
