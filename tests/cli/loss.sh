# gram fit --loss, --quantile and --likelihood: robust regression, quantiles, counts.
. "$SOURCE/tests/cli/helper"

number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
within() { LC_ALL=C awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { exit !(a >= b && a <= c) }' || wrong "$1 should be between $2 and $3"; }

# a line with one wild outlier: absolute, Huber and Student-t stay with the line
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%g,%.5f\n", i / 6, (i == 30 ? 500 : i / 6 + ((i * i * 7919) % 101) / 202) }' >outlier.csv
printf 'x\n5\n' >five.csv
for loss in absolute huber insensitive; do
    run fit outlier.csv --loss $loss -o $loss.gram --json --quiet
    good
    prints "\"loss\": \"$loss\"" '"gap": ' '"tune": "cv:5"' '"objective": '
    within "$(number gap)" 0 1e-6
    run predict $loss.gram five.csv
    good
    within "$(sed -n 2p out)" 4.5 7
done
run fit outlier.csv --method gp --likelihood student -o student.gram --json --quiet
good
prints '"likelihood": "student"' '"scale": '
run predict student.gram five.csv --std
good
[ "$(head -n 1 out)" = mean,std ] || wrong 'should have mean and std'
within "$(sed -n 2p out | cut -d, -f1)" 4.5 7

# a constant kernel: the quantiles of the target
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 1; i <= 99; i++) print i % 7 "," i }' >even.csv
run fit even.csv --quantile 0.1,0.5,0.9 --kernel 'const(c=1)' --lambda 1e-6 -o q.gram --quiet
good
run predict q.gram five.csv
good
[ "$(head -n 1 out)" = quantile_0.1,quantile_0.5,quantile_0.9 ] || wrong 'should name the levels'
within "$(sed -n 2p out | cut -d, -f1)" 9.9 10.1
within "$(sed -n 2p out | cut -d, -f2)" 49.9 50.1
within "$(sed -n 2p out | cut -d, -f3)" 89.9 90.1
run predict q.gram even.csv --json
good
prints '"quantiles": [{"level": 0.1, "loss": ' '"below": '
run fit outlier.csv --quantile 0.2,0.8 --non-crossing --json --quiet
good
prints '"crossing": '
within "$(number crossing)" 0 1e-4

# counts: the rate is that of the data
LC_ALL=C awk 'BEGIN { print "x,n"; for (i = 0; i < 80; i++) print i / 8 "," (i * i * 7919) % 5 }' >counts.csv
run fit counts.csv --method gp --likelihood poisson -o counts.gram --json --quiet
good
prints '"likelihood": "poisson"' '"log_marginal_likelihood": -'
run predict counts.gram five.csv --std
good
within "$(sed -n 2p out | cut -d, -f1)" 1.2 2.8
within "$(sed -n 2p out | cut -d, -f2)" 1 2

# what is refused
run fit outlier.csv --method gp --likelihood poisson --quiet
bad 3 'is not a count'
run fit outlier.csv --quantile 0.9,0.1
bad 2 "--quantile '0.9,0.1'"
run fit outlier.csv --quantile 1.5
bad 2 '--quantile'
run fit outlier.csv --loss huber --quantile 0.5
bad 2 '--quantile is of --loss quantile'
run fit outlier.csv --method gp --loss huber
bad 2 '--loss is an option of krr, sgd and spline, not of gp'
run fit outlier.csv --likelihood poisson
bad 2 '--likelihood is an option of gp, not of'
run fit outlier.csv --loss absolute --tune loo
bad 2 '--tune loo is not for krr with another loss than squared'
run predict counts.gram five.csv --interval 0.9
bad 2 '--interval'
run predict q.gram five.csv --std
bad 2 '--std'

if command -v gnuplot >/dev/null 2>&1; then
    run fit outlier.csv --quantile 0.1,0.5,0.9 --plot q.svg --quiet
    good
    grep -q 'quantiles 0.1 to 0.9' q.svg || wrong 'should draw the outer quantiles as a band'
fi
