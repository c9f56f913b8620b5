# gram fit --method gp, predict --std --interval --latent --terms: against closed forms and kernel ridge regression.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%g,%.6f\n", i / 6, 10 + 3 * sin(i / 6) + ((i * i * 7919) % 101) / 101 - 0.5 }' >train.csv
printf 'x\n0.55\n3.3\n20\n' >new.csv

# near A B TOLERANCE: two numbers
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' || wrong "$1 should be $2"; }
# field LINE COLUMN: of out
field() { sed -n "$1p" out | cut -d, -f"$2"; }

# one observation, mean zero: f(x) is k/(1 + s) y with variance 1 - k^2/(1 + s), k = exp(-1/8), s = 0.25; a new observation has s more
printf 'x,y\n0,2\n' >one.csv
printf 'x\n0.5\n' >half.csv
run fit one.csv --method gp --kernel 'rbf(ell=1)' --noise 0.25 --mean zero --no-scale -o one.gram --quiet
good
run predict one.gram half.csv --std --interval 0.95
good
[ "$(head -n 1 out)" = mean,std,lower,upper ] || wrong 'should have the columns mean,std,lower,upper'
near "$(field 2 1)" 1.411995044135352 1e-12
near "$(field 2 2)" 0.7918076619627246 1e-12
near "$(field 2 3)" -0.1399194560 1e-8
near "$(field 2 4)" 2.9639095443 1e-8
run predict one.gram half.csv --std --latent
good
near "$(field 2 2)" 0.6139701731703878 1e-12

# the constant: without a process the average, with the variance noise/n; scaling takes the average off before and puts it back
average=$(LC_ALL=C awk -F, 'NR > 1 { s += $2 } END { printf "%.15g", s / (NR - 1) }' train.csv)
for mean in constant flat; do
    for scale in --no-scale ""; do
        run fit train.csv --method gp --kernel 0 --noise 0.25 --mean $mean $scale --json --quiet
        good
        near "$(sed 's/.*"constant": \([^,]*\),.*/\1/' out)" "$average" 1e-12
        near "$(sed 's/.*"constant_std": \([^,]*\),.*/\1/' out)" 0.06454972243679028 1e-12
    done
done
run fit train.csv --method gp --kernel 0 --noise 0.25 --quiet
good
prints ', deviation 0.06455'
run fit train.csv --method gp --kernel 'rbf(ell=1)' --noise 0.25 --mean linear --json --quiet
good
grep -q constant_std out && wrong 'the constant of a line depends on where the features have their 0'

# the mean is that of kernel ridge regression with the same noise; lambda says the same
run fit train.csv --method gp --kernel 'rbf(ell=0.5)' --noise 0.3 -o gp.gram --json --quiet
good
prints '"method": "gp"' '"task": "regression"' '"solver": "exact"' '"noise": 0.3' '"target_scale": ' '"log_marginal_likelihood": -' \
    '"loo_rmse": ' '"jitter": 0' '"residual": ' '"mean": "constant"' '"tune": "none"'
run predict gp.gram new.csv
good
cp out gp.csv
run fit train.csv --method krr --kernel 'rbf(ell=0.5)' --noise 0.3 -o krr.gram --quiet
run predict krr.gram new.csv
good
paste -d, gp.csv out | LC_ALL=C awk -F, 'NR > 1 && ($1 - $2 > 1e-9 || $2 - $1 > 1e-9) { exit 1 }' || wrong 'should be the same means'
run fit train.csv --method gp --kernel 'rbf(ell=0.5)' --lambda 0.005 -o gp.gram --json --quiet
prints '"noise": 0.3,'

# far from the data nothing is known: the deviation is that of the prior and the noise
run predict gp.gram new.csv --std
near "$(field 4 2)" 1.1401754250991379 0.05

# by default it is tuned, and its intervals are about right
run fit train.csv --method gp -o tuned.gram
[ "$code" = 0 ] || wrong 'should succeed'
prints 'tuned               by ml on 60 rows' 'log likelihood' 'mean: constant' '95 % intervals cover'
run predict tuned.gram train.csv --json --interval 0.9
good
prints '"nlpd": ' '"coverage": 0.' '"rmse": '
run fit train.csv --method gp --tune loo --json --quiet
good
prints '"tune": "loo"'

# scores and bands where the target is there
run predict tuned.gram train.csv --std
[ "$code" = 0 ] || wrong 'should succeed'
grep -q 'nlpd' err || wrong 'should tell the density'

# a sum: the terms and the constant add up to the mean
run fit train.csv --method gp --kernel '9*rbf(ell=1) + 0.1*periodic(p=0.5, ell=1)' --noise 0.1 --no-scale --mean zero -o sum.gram --quiet
good
run predict sum.gram new.csv --terms --quiet
good
[ "$(head -n 1 out)" = mean,term_1,term_1_std,term_2,term_2_std ] || wrong 'should name the terms'
LC_ALL=C awk -F, 'NR > 1 { d = $1 - $2 - $4; if (d > 1e-9 || d < -1e-9) exit 1 }' out || wrong 'terms should add up'
run predict sum.gram new.csv --terms --json
good
prints '"terms": ["9*rbf(ell=1)", "0.1*periodic(p=0.5, ell=1)"]'

# other means; a linear one goes on beyond the data
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) printf "%g,%g\n", i / 4, 5 + 2 * i / 4 }' >line.csv
printf 'x\n100\n' >far.csv
run fit line.csv --method gp --mean linear --kernel 'rbf(ell=1)' --noise 0.1 -o line.gram --quiet
good
run predict line.gram far.csv
good
near "$(field 2 1)" 205 1e-6
run predict line.gram far.csv --std
good
near "$(field 2 1)" 205 1e-6
run fit line.csv --method gp --mean flat --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet
prints '"mean": "flat"'

# Bayesian linear regression: weights with their deviations; with a wide prior, least squares: slope 2
run fit line.csv --method gp --kernel '1e8*linear(c=1)' --noise 0.01 --no-scale --json --quiet
good
near "$(sed 's/.*"weights": \[{"feature": "x", "mean": \([^,]*\),.*/\1/' out)" 2 1e-6
near "$(sed 's/.*"weights": \[{[^}]*"std": \([^}]*\)}.*/\1/' out)" 0.0054795 1e-5

# known variances of rows, and weights
LC_ALL=C awk 'BEGIN { print "x,v,y"; for (i = 0; i < 30; i++) printf "%g,%g,%.5f\n", i / 3, 0.1 * (1 + i % 3), sin(i / 3) }' >rows.csv
run fit rows.csv --method gp --row-noise v --kernel 'rbf(ell=1)' --noise 0 -o rows.gram --quiet
good
run predict rows.gram rows.csv --std --quiet
good
LC_ALL=C awk -F, 'NR == 5 { a = $2 } NR == 6 { b = $2 } END { exit !(b > a + 0.05) }' out || wrong 'a noisier row should be less certain'
run fit rows.csv --method krr --row-noise v
bad 2 '--row-noise'

# on the line in O(n): the same as the dense way
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) printf "%g,%.6f\n", i / 20, sin(i / 20) + ((i * i * 7919) % 101) / 505 }' >long.csv
for solver in exact markov; do
    run fit long.csv --method gp --kernel '2*matern(nu=1.5, ell=1)' --noise 0.01 --solver $solver -o $solver.gram --json --quiet
    good
    prints "\"solver\": \"$solver\""
    sed 's/.*"log_marginal_likelihood": \([^,]*\),.*/\1/' out >$solver.lml
    run predict $solver.gram new.csv --std
    good
    cp out $solver.csv
done
near "$(cat exact.lml)" "$(cat markov.lml)" 1e-6
cp exact.gram short.gram
paste -d, exact.csv markov.csv | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-16) exit 1 }' ||
    wrong 'exact and markov should predict the same'
run fit long.csv --method gp --solver markov --quiet
bad 2 'solver markov' 'rbf'

# above 1,000 rows on the line `auto` takes it: the same predictions as the dense way
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 1001; i++) printf "%g,%.6f\n", i / 100, sin(i / 20) + ((i * i * 7919) % 101) / 505 }' >longer.csv
for solver in auto exact; do
    run fit longer.csv --method gp --kernel '2*matern(nu=2.5, ell=0.3)' --noise 0.01 --solver $solver -o $solver.gram --json --quiet
    good
    if [ $solver = auto ]; then prints '"solver": "markov"'; fi
    run predict $solver.gram new.csv --std
    good
    cp out $solver.csv
done
paste -d, exact.csv auto.csv | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-14) exit 1 }' ||
    wrong 'the switch should not be seen'
run predict short.gram new.csv --std
good
cp out exact.csv

# conjugate gradients and, with an inducing point for every row, the bound say the same, from the model file too
run fit long.csv --method gp --kernel '2*matern(nu=1.5, ell=1)' --noise 0.01 --solver cg -o cg.gram --json --quiet
good
prints '"solver": "cg"' '"residual": ' '"likelihood_error": '
run predict cg.gram new.csv --std
good
paste -d, exact.csv out | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-10) exit 1 }' ||
    wrong 'exact and cg should predict the same'
# an f32 factor, refined: the same as in f64, from the model file too
run fit long.csv --method gp --kernel '2*matern(nu=1.5, ell=1)' --noise 0.01 --precision mixed -o mixed.gram --json --quiet
good
prints '"solver": "exact"' '"precision": "mixed"' '"residual": ' '"iterations": ' '"likelihood_error": '
near "$(sed 's/.*"log_marginal_likelihood": \([^,]*\),.*/\1/' out)" "$(cat exact.lml)" 2e-3
run predict mixed.gram new.csv --std
good
paste -d, exact.csv out | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-12) exit 1 }' ||
    wrong 'exact in f64 and mixed should predict the same'
run predict mixed.gram new.csv --terms
bad 2 '--terms is for exact solvers in f64'
run fit long.csv --method gp --kernel 'rbf(ell=10)' --noise 1e-13 --precision mixed --quiet
bad 4 'too ill-conditioned for an f32 factor'

# where the f64 factor does not fit in the memory and an f32 one does, that is taken, unless f64 is asked for
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 2000; i++) printf "%g,%.6f\n", i / 200, sin(i / 200) + ((i * i * 7919) % 101) / 505 }' >big.csv
run fit big.csv --method gp --kernel 'rbf(ell=1)' --noise 0.01 --memory 19M -o big.gram
[ "$code" = 0 ] || wrong 'should succeed'
prints 'exact, mixed'
grep -q 'the f64 factor does not fit; an f32 factor refined to a relative residual of 1e-8' err || wrong 'should say why'
run predict big.gram new.csv --std --memory 19M
good
run fit big.csv --method gp --kernel 'rbf(ell=1)' --noise 0.01 --memory 19M --precision f64 --json --quiet
good
prints '"solver": "cg"'
run fit big.csv --method gp --kernel 'rbf(ell=0.3)' --noise 1e-9 --memory 19M --json --tolerance 1e-5 --quiet
good
prints '"solver": "cg"' '"precision": "f64"'

run fit long.csv --method gp --kernel '2*matern(nu=1.5, ell=1)' --noise 0.01 --solver inducing:300 -o inducing.gram --json --quiet
good
prints '"solver": "inducing"' '"bound": ' '"trace_error": '
near "$(sed 's/.*"bound": \([^,]*\),.*/\1/' out)" "$(cat exact.lml)" 1e-3
run predict inducing.gram new.csv --std
good
paste -d, exact.csv out | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-10) exit 1 }' ||
    wrong 'exact and inducing should predict the same'
run predict inducing.gram new.csv
good
paste -d, exact.csv out | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; if (a * a > 1e-10) exit 1 }' || wrong 'means alone should be the same'
for mean in zero linear flat; do
    for solver in exact cg inducing:300 vecchia:100; do
        run fit long.csv --method gp --kernel '2*matern(nu=1.5, ell=1)' --noise 0.01 --mean $mean --solver $solver -o m.gram --quiet
        good
        run predict m.gram new.csv --std
        good
        if [ $solver = exact ]; then cp out want; fi
        paste -d, want out | LC_ALL=C awk -F, 'NR > 1 { a = $1 - $3; b = $2 - $4; if (a * a + b * b > 1e-10) exit 1 }' ||
            wrong "should predict as the exact solver with the mean $mean"
    done
done
run fit long.csv --method gp --kernel 'rbf(ell=1)' --noise 0 --solver cg --quiet
bad 2 'needs noise'
run fit long.csv --solver inducing:10
bad 2 '--solver inducing:10 is of gp, not of krr'

# interpolation, duplicate rows, a constant target, a constant feature, two rows, one row, huge and tiny targets: models, never NaN
run fit one.csv --method gp -o m.gram --quiet
good
printf 'x,c,y\n0,1,1\n0,1,1\n1,1,3\n' >odd.csv
run fit odd.csv --method gp --noise 0 --kernel 'rbf(ell=1)' -o m.gram --json --quiet
good
prints '"jitter": '
for data in 'x,y\n0,1\n1,2' 'x,y\n0,5\n1,5\n2,5\n3,5' 'x,c,y\n0,1,1\n1,1,2\n2,1,1\n3,1,2' 'x,y\n0,1\n0,1\n0,1\n1,2\n1,2' \
    'x,y\n0,1e149\n1,2e149\n2,1e149\n3,3e149' 'x,y\n0,1e-149\n1,2e-149\n2,1e-149\n3,3e-149' 'a,b,c,d,y\n1,2,3,4,1\n4,3,2,1,2'; do
    printf "$data\n" >data.csv
    run fit data.csv --method gp -o m.gram --quiet
    good
    run predict m.gram data.csv --std --quiet
    good
    if grep -Eiq 'nan|inf' out; then wrong "should be numbers for $data"; fi
done

# what does not go together
run fit train.csv --method gp --tune cv:5
bad 2 'not of gp' 'auto, ml, loo or none'
run fit train.csv --method gp --mean linear --no-intercept
bad 2 '--no-intercept'
run fit train.csv --method flow --mean linear
bad 2 '--mean is an option of krr, gp and logistic, not of flow'
run fit train.csv --method krr --mean flat
bad 2 '--mean flat is of gp, not of krr'
run fit train.csv --method gp --precision f32
bad 2 '--precision f32 is of krr, not of gp' 'f64 or mixed'
run fit train.csv --method gp --precision mixed --solver cg
bad 2 'precision mixed is of solver exact, not cg'
run fit train.csv --method gp --kernel 'rbf(ell=1)' --noise 0 --precision mixed
bad 2 'needs noise'
run fit rows.csv --method gp --target v,y
bad 2 'one target'
run predict gp.gram new.csv --interval 95
bad 2 '--interval 95'
run predict krr.gram new.csv --std
bad 2 '--std is not for a model of the method krr'
run predict krr.gram new.csv --latent
bad 2 '--latent is not for a model of the method krr'

# the factor is kept up to 1,000 rows, and beyond when asked for: predictions have the same bits with it and without
grep -q 'factor.npy' gp.gram || wrong 'should keep a small factor'
LC_ALL=C awk 'BEGIN { print "x,z,y"; for (i = 0; i < 1001; i++) printf "%g,%g,%.6f\n", i / 60, (i * 31) % 97 / 9, sin(i / 60) + ((i * 7919) % 101) / 101 }' >many.csv
head -n 20 many.csv >few.csv
for mean in constant flat linear zero; do
    run fit many.csv --method gp --kernel '2*rbf(ell=1)' --noise 0.1 --mean $mean -o many.gram --quiet
    good
    run fit many.csv --method gp --kernel '2*rbf(ell=1)' --noise 0.1 --mean $mean -o kept.gram --keep-factor --quiet
    good
    if grep -q 'factor.npy' many.gram; then wrong 'should not keep a large factor'; fi
    grep -q 'factor.npy' kept.gram || wrong 'should keep the factor'
    run predict many.gram few.csv --std --quiet
    good
    cp out many.out
    run predict kept.gram few.csv --std --quiet
    good
    cmp -s out many.out || wrong "should predict the same bits with the factor ($mean)"
done
run fit long.csv --method gp --solver markov --kernel 'matern(nu=1.5, ell=1)' --noise 0.1 --keep-factor
bad 2 '--keep-factor is of the exact solver in f64'
run fit train.csv --method logistic --keep-factor
bad 2 '--keep-factor is an option of krr and gp, not of logistic'

# a model that lost what its variance needs
run info gp.gram
[ "$code" = 0 ] || wrong 'should tell'
prints 'noise' 'log likelihood'

# few rows: a weak prior holds the noise off 0, and the report says so; the likelihood is without it
printf 'x,y\n' >few.csv
for row in -1.222,14.458 1.072,-0.249 -2.126,12.648 -0.644,2.777 0.130,10.258 0.574,8.532 1.200,6.888 -0.749,4.279 \
    0.460,3.762 -0.314,5.325 -0.045,-0.048 -0.188,20.851 -1.309,14.866 0.363,6.493 1.324,10.265 0.156,6.011 \
    -0.285,10.878 -1.988,-5.673 0.192,-2.400 -1.687,16.048 -0.990,1.795; do
    echo "$row" >>few.csv
done
run fit few.csv --method gp --task regression --quiet
good
prints 'held off 0 by a weak prior' 'the prior of the noise not in it' 'A weak prior holds the noise off 0'
run fit few.csv --method gp --task regression --quiet --json
good
prints '"noise_prior": 1' '"log_marginal_likelihood": -68.1'
run fit few.csv --method gp --task regression --quiet --json --no-noise-prior
good
prints '"noise_prior": 0' '"log_marginal_likelihood": -67.98'

if command -v gnuplot >/dev/null 2>&1; then
    run fit train.csv --method gp --kernel 'rbf(ell=0.5)' --noise 0.3 --plot fit.svg --quiet
    good
    grep -q '95 % of new observations' fit.svg || wrong 'should draw a band'
    run predict sum.gram new.csv --terms --plot terms.svg --quiet
    good
    grep -q 'periodic' terms.svg || wrong 'should draw the terms'
fi
