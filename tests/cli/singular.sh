# next to no noise, where K is singular to working precision: the limit of small noise, or a failure that says so
. "$SOURCE/tests/cli/helper"

near() { # FILE ROW COLUMN WANTED TOLERANCE
    LC_ALL=C awk -F, -v row="$2" -v column="$3" -v wanted="$4" -v most="$5" 'NR == row + 1 { d = $column - wanted
        found = d <= most && d >= -most } END { exit !found }' "$1" || wrong "row $2, column $3 should be $4"
}

# two targets at one place: their mean, and nothing lost elsewhere
printf 'x,y\n0,1\n0,2\n1,3\n' >dd.csv
for noise in 0 1e-17 1e-15 1e-13 1e-10; do
    for mean in zero constant flat; do
        for keep in --keep-factor --no-keep-factor; do
            run fit dd.csv --method gp --kernel 'rbf(ell=1)' --noise $noise --mean $mean --no-scale $keep -o dd.gram --json --quiet
            good
            run predict dd.gram dd.csv --std --quiet
            good
            near out 1 1 1.5 1e-8
            near out 3 1 3 1e-8
            near out 3 2 0 1e-4
            cp out out$keep
        done
        cmp -s out--keep-factor out--no-keep-factor || wrong 'a kept factor should give the same predictions'
    done
    run fit dd.csv --kernel 'rbf(ell=1)' --noise $noise --no-scale -o dd.gram --quiet
    good
    run predict dd.gram dd.csv --quiet
    good
    near out 1 1 1.5 1e-8
    near out 3 1 3 1e-8
done
run fit dd.csv --method gp --kernel 'rbf(ell=1)' --noise 0 --no-scale --json --quiet
good
prints '"rank": 2' '"log_marginal_likelihood": null' '"jitter": 0'
run fit dd.csv --method gp --kernel 'rbf(ell=1)' --noise 0 --no-scale
prints 'rank 2' 'log likelihood      none'

# weights: the mean by weight; least squares of a kernel with few features
printf 'x,y,w\n0,1,3\n0,2,1\n1,3,1\n' >weighted.csv
run fit weighted.csv --method gp --kernel 'rbf(ell=1)' --noise 0 --mean zero --weights w --no-scale -o w.gram --quiet
good
run predict w.gram dd.csv --quiet
good
near out 1 1 1.25 1e-9
printf 'x,y\n0,0\n1,1\n2,1\n3,2\n4,7\n' >five.csv
run fit five.csv --method gp --kernel 'linear(c=1)' --noise 0 --mean zero --no-scale -o l.gram --quiet
good
run predict l.gram five.csv --quiet
good
near out 1 1 -0.8 1e-9
near out 5 1 5.2 1e-9

# targets that no smooth function has: told, for both methods; and what a jitter alone can do is done
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%.6f,%.6f\n", i / 6, sin(i / 6) + (i * 37 % 64) / 256 }' >rough.csv
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) { x = i / 6; printf "%.6f,%.12f\n", x, 3 / (9 + x * x) } }' >smooth.csv
for noise in 0 1e-16 1e-14; do
    run fit rough.csv --method gp --kernel 'rbf(ell=2.2)' --noise $noise --no-scale -o m.gram --quiet
    bad 4 'lost to rounding' 'Raise --noise'
    run fit rough.csv --kernel 'rbf(ell=2.2)' --noise $noise --no-scale -o m.gram --quiet
    bad 4 'lost to rounding' 'Raise --lambda'
    run fit smooth.csv --method gp --kernel 'rbf(ell=2.2)' --noise $noise --no-scale -o m.gram --quiet
    good
    run predict m.gram smooth.csv --std --quiet
    good
    near out 31 1 0.088235294118 1e-7
done

# nothing is left to draw at the rows; in between there is
run fit smooth.csv --method gp --kernel 'rbf(ell=2.2)' --noise 0 --no-scale -o m.gram --quiet
good
run sample m.gram --at smooth.csv --draws 2 --quiet
good
near out 31 2 0.088235294118 1e-5

# tuning without noise ends where K still has digits
run fit smooth.csv --method gp --noise 0 -o m.gram --json --quiet
good
run predict m.gram smooth.csv --quiet
good
near out 31 1 0.088235294118 1e-6

# low-rank solvers: what lies below their own rounding is refused by name, what does not is right, and the report certifies it
for noise in 1e-16 1e-12; do
    run fit smooth.csv --method gp --kernel 'rbf(ell=1)' --noise $noise --solver inducing:30 --no-scale -o m.gram --quiet
    bad 4 "noise = $noise is below the jitter that the inducing points need, 1e-10" 'Raise'
done
run fit smooth.csv --method gp --kernel 'rbf(ell=1)' --noise 1e-8 --solver inducing:30 --no-scale -o m.gram --quiet
good
for lambda in 1e-18 1e-16; do
    run fit dd.csv --kernel 'rbf(ell=1)' --lambda $lambda --solver nystrom:3 --no-scale -o m.gram --quiet
    good # rows that repeat are one landmark
    prints 'rank 2'
done
run fit dd.csv --kernel 'rbf(ell=1)' --lambda 1e-12 --solver nystrom:3 --no-scale -o m.gram --json --quiet
good
LC_ALL=C awk 'match($0, /"residual": [0-9.e+-]+/) { found = substr($0, RSTART + 12, RLENGTH - 12) + 0 < 1e-12 } END { exit !found }' out ||
    wrong 'should report the residual of the normal equations'
