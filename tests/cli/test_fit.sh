# gram test fit: scores from columns, files and densities; keys, exit codes, what is refused.
. "$SOURCE/tests/cli/helper"

# 300 draws of a standard normal in the plane (Box and Muller), with their scores
LC_ALL=C awk 'function u() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    BEGIN {
        seed = 4321; print "x,y,sx,sy"
        for (i = 0; i < 300; i++) {
            r = sqrt(-2 * log(u())); a = 6.283185307179586 * u(); x = r * cos(a); y = r * sin(a)
            printf "%.9g,%.9g,%.9g,%.9g\n", x, y, -x, -y
        }
    }' >draws.csv
cut -d, -f1,2 draws.csv >points.csv
cut -d, -f3,4 draws.csv >scores.csv

run test fit draws.csv --scores sx,sy --json
good
prints '"test": "fit"' '"method": "wild"' '"statistic": ' '"p_value": ' '"level": 0.05' '"reject": false' \
    '"kernel": "' '"looks": 7' '"n": 300' '"m": null' '"discrepancy": ' '"v_statistic": ' '"u_statistic": ' '"threshold": '
sed 's/.*\("statistic": [^,]*\),.*/\1/' out >statistic
for how in '--scores scores.csv' '--density gaussian' '--density gaussian(mean=0,sd=[1,1])'; do
    run test fit points.csv $how --json
    good
    prints "$(cat statistic)"
done
run test fit draws.csv --scores sx,sy
good
prints 'Test of fit' 'not rejected at level 0.05' 'wild bootstrap, 999 draws'

# the V-statistic and the same p-value
run test fit points.csv --density gaussian --biased --json
good
grep -Eq '"statistic": ([0-9.e-]+), .*"v_statistic": \1,' out || wrong 'should report the V-statistic'

# a shifted density is rejected, and --gate says so by the exit code
run test fit points.csv --density 'gaussian(mean=[0.5,0])' --gate
[ "$code" = 10 ] || wrong 'should exit with 10'
prints 'rejected at level 0.05'
run test fit points.csv --density 'gaussian(mean=[0.5,0])' --json
good
prints '"reject": true' '"p_value": 0.001'
run test fit points.csv --density gaussian --gate
good
run test fit points.csv --density 'student(df=4, sd=0.5)' --gate --json
[ "$code" = 10 ] || wrong 'should exit with 10'
run test fit points.csv --density 'mixture(means=[-2,0;2,0], weights=[1,1], sd=0.5)' --gate --permutations 199 --json
[ "$code" = 10 ] || wrong 'should exit with 10'
run test fit points.csv --density 'banana(b=1, sd=1)' --gate --json
[ "$code" = 10 ] || wrong 'should exit with 10'

# a logistic posterior: wrong draws are found out
printf 'a,b,y\n1,0.5,1\n-1,0.2,0\n0.3,1,1\n0.1,-1,0\n2,0,1\n' >observed.csv
run test fit points.csv --density 'logistic(sd=1)' --density-data observed.csv --json
good
prints '"density": "density logistic(sd=1)"'

# dependent draws, other kernels
run test fit points.csv --density gaussian --method chain --flip 0.2 --json
good
prints '"method": "chain"' '"flip": 0.2'
run test fit points.csv --density gaussian --method chain
good
prints 'autocorrelation time' 'signs change with probability'
run test fit points.csv --density gaussian --precondition med --json
good
prints '"kernel": "imq(c='
grep -q looks out && wrong 'should look by one kernel'
run test fit points.csv --density gaussian --kernel rbf --level 0.1 --permutations 99 --seed 3 --json
good
prints '"kernel": "rbf(ell=' '"level": 0.1' '"permutations": 99'

# wrong use and bad data
run test fit points.csv
bad 2 '--scores S or --density NAME'
run test fit points.csv --density gaussian --scale
bad 2 '--scale'
run test fit points.csv --density gaussian --method wlid
bad 2 "did you mean 'wild'"
run test fit points.csv --density gaussian --flip 0.2
bad 2 '--method chain'
run test fit points.csv --density gaussian --level 2
bad 2 '--level'
run test fit points.csv --scores nothere.csv
bad 3 'nothere.csv'
head -n 2 points.csv >one.csv
run test fit one.csv --density gaussian
bad 3 'one row'
head -n 3 points.csv >two.csv
run test fit two.csv --density gaussian
bad 3 'two rows' 'three rows at least'
# scores of other rows: a shuffle by sorting
{ head -n 1 scores.csv && tail -n +2 scores.csv | LC_ALL=C sort -t, -k2,2; } >shuffled.csv
cut -d, -f1,2 draws.csv >drawn.csv
run test fit drawn.csv --scores shuffled.csv
good
prints 'the scores do not depend on the points'
run test fit points.csv --density gaussian --kernel 'laplace1(ell=1)'
bad 2 'laplace1'
printf 'a,y\n1,2\n' >labels.csv
cut -d, -f1 points.csv >first.csv
run test fit first.csv --density logistic --density-data labels.csv
bad 3 'labels[0] = 2'
run test fit points.csv --density 'logistic(sd=-1)' --density-data observed.csv
bad 2 'sd = -1'
run test fit nothere.csv --density gaussian
bad 3 'nothere.csv'
