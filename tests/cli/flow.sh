# gram fit --method flow: gradient flow, stopped.
. "$SOURCE/tests/cli/helper"

number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
within() { LC_ALL=C awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a >= b && a <= c) }' || wrong "$1 should be between $2 and $3"; }
near() { # FILE FILE TOLERANCE: the largest difference of their first columns
    paste -d, "$1" "$2" | LC_ALL=C awk -F, -v t="$3" 'NR > 1 { d = $1 - $2; if (d < 0) d = -d; if (d > m) m = d } END { exit !(NR > 1 && m <= t) }' || wrong "$1 and $2 should be within $3"
}

LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%g,%.6f\n", i / 10, sin(i / 5) + 2 + ((i * i * 7919) % 101) / 202 }' >data.csv
LC_ALL=C awk 'BEGIN { print "x"; for (i = 0; i < 40; i++) printf "%g\n", i / 7 }' >new.csv

# three rows by hand: K = 1 on the diagonal and 0 elsewhere, so f_t(x_i) = (1 - exp(-2t/3)) y_i
printf 'x,y\n0,1\n100,2\n200,4\n' >far.csv
run fit far.csv --method flow --kernel 'rbf(ell=1)' --no-scale --flow-time 1.5 --task regression -o far.gram --json --quiet
good
prints '"flow_time": 1.5' '"tune": "none"' '"eigenvalues": [1, 1, 1]' '"parameters": "function"'
run predict far.gram far.csv -o far.out --quiet
good
within "$(sed -n 2p far.out)" 0.632120558 0.632120559
within "$(sed -n 4p far.out)" 2.528482234 2.528482236

# for ever: ridgeless regression, by both parameterisations
run fit data.csv --method krr --kernel 'matern(nu=0.5, ell=0.5)' --lambda 0 --no-intercept -o ridgeless.gram --quiet
good
run predict ridgeless.gram new.csv -o ridgeless.out --quiet
good
for parameters in function coefficients; do
    run fit data.csv --method flow --kernel 'matern(nu=0.5, ell=0.5)' --flow-time inf --parameters $parameters --no-intercept -o f.gram --json --quiet
    good
    prints '"flow_time": "inf"' "\"parameters\": \"$parameters\""
    run predict f.gram new.csv -o f.out --quiet
    good
    near ridgeless.out f.out 1e-8
done

# at once: what it starts from, 0, the mean or a model
run fit data.csv --method flow --kernel 'rbf(ell=0.3)' --flow-time 0 --initial ridgeless.gram -o f.gram --quiet
good
run predict f.gram new.csv -o f.out --quiet
good
cmp -s ridgeless.out f.out || wrong 'time 0 should be the initial model'
run info f.gram
good
prints 'from the initial model' 'second kernel'
run fit data.csv --method flow --kernel 'rbf(ell=0.3)' --flow-time 0 --intercept -o f.gram --quiet
good
run predict f.gram new.csv
good
[ "$(sort -u out | wc -l)" = 2 ] || wrong 'time 0 should be the mean everywhere'

# when to stop
for how in loo gcv cv:4 holdout:25; do
    run fit data.csv --method flow --flow-time auto --tune $how --json --quiet
    good
    prints '"flow_time": ' '"tuned_rows": 60' '"criterion": '
    within "$(number criterion)" 0 0.15
done
run fit data.csv --method flow --tune loo --quiet
good
prints 'by approximate loo on 60 rows' 'approximate loo'
run fit data.csv --method flow --tune holdout:25 --ordered --json --quiet
good
prints '"tune": "holdout:25"'

# gradient descent follows
run fit data.csv --method flow --kernel 'rbf(ell=0.3)' --flow-time 20 -o exact.gram --quiet
good
run predict exact.gram new.csv -o exact.out --quiet
run fit data.csv --method flow --kernel 'rbf(ell=0.3)' --flow-time 20 --solver descent --step 0.002 -o f.gram --json --quiet
good
prints '"solver": "descent"' '"iterations": 10000' '"step": 0.002'
run predict f.gram new.csv -o f.out --quiet
near exact.out f.out 1e-3

# what is refused
run fit data.csv --method flow --kernel 'rbf(ell=0.3)' --flow-time 20 --step 1e6 --quiet
bad 2 'would diverge'
run fit data.csv --method flow --flow-time -1
bad 2 "--flow-time cannot be '-1'"
run fit data.csv --method flow --flow-time inf --solver descent
bad 2 'never reached'
run fit data.csv --method flow --initial ridgeless.gram --intercept
bad 2 'two places to start from'
run fit data.csv --method flow --initial ridgeless.gram --no-scale
bad 2 'the model decides'
run fit data.csv --method flow --initial data.csv
bad 3 data.csv
run fit data.csv --method gp --kernel '1*rbf(ell=1)' --noise 0.1 -o gp.gram --quiet
run fit data.csv --method flow --initial gp.gram
bad 2 'cannot be started from'
run fit data.csv --method flow --task classification
bad 2 'not for classification'
run fit data.csv --method flow --kernel 'sigmoid(a=3, c=-2)' --flow-time 3 --quiet
bad 4 'negative eigenvalue'
run fit data.csv --method flow --kernel 'rbf(ell=9)' --flow-time inf --quiet
bad 4 'lost to rounding'
for kernel in 'ntk(depth=0)' 'ntk(sw=-1)' 'nngp(sb=-0.1)' 'ntk(act=tanh)'; do
    run fit data.csv --method flow --kernel "$kernel" --flow-time 3 --quiet
    bad 2 "${kernel%%(*}"
done

# a row of zeros has no direction: ntk without bias is 0 there, and nothing becomes NaN
printf 'a,b,y\n0,0,1\n1,2,3\n2,4,6\n0,1,2\n3,1,2.5\n1,1,1\n' >zero.csv
for kernel in 'ntk(depth=3)' 'nngp(depth=2, act=erf)'; do
    run fit zero.csv --method flow --kernel "$kernel" --no-scale --flow-time 10 --task regression -o f.gram --json --quiet
    good
    run predict f.gram zero.csv -o f.out --quiet
    good
    [ "$(sed -n 2p f.out)" = 0 ] || wrong "$kernel should be 0 at 0"
    grep -qi nan f.out f.gram && wrong 'should have no NaN'
done
true
