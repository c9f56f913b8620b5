# gram thin: rows, indices, scores from columns, files and densities, weights, what is refused.
. "$SOURCE/tests/cli/helper"

# a chain of its own: a linear congruential generator, random-walk Metropolis on a standard normal in the plane, from far
LC_ALL=C awk 'function u() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    BEGIN {
        seed = 12345; x = 8; y = -8; print "x,y,sx,sy"
        for (i = 0; i < 400; i++) {
            a = x + 3 * (u() - 0.5); b = y + 3 * (u() - 0.5)
            if (u() < exp((x * x + y * y - a * a - b * b) / 2)) { x = a; y = b }
            printf "%.9g,%.9g,%.9g,%.9g\n", x, y, -x, -y
        }
    }' >chain.csv
cut -d, -f1,2 chain.csv >points.csv
cut -d, -f3,4 chain.csv >scores.csv

# Stein thinning: rows of the input with its header, in the order of the choice
run thin chain.csv -m 20 --scores sx,sy
good
[ "$(wc -l <out)" = 21 ] || wrong 'should print 20 rows and a header'
[ "$(head -n 1 out)" = 'x,y,sx,sy' ] || wrong 'should have the header of the input'
tail -n +2 out | while read -r row; do grep -qF -e "$row" chain.csv || exit 1; done || wrong 'should print rows of the input'
cp out rows
run thin chain.csv -m 20 --scores sx,sy --json
good
prints '"method": "greedy"' '"kernel": "imq(c=' '"n": 400' '"d": 2' '"m": 20' '"indices": [' '"discrepancy": ' \
    '"discrepancy_plain": ' '"discrepancy_all": ' '"target": "scores in columns sx,sy"' '"seconds": ' '"peak_bytes": '
cp out json

# indices count from 1: the first of them is the first row that was printed
first=$(sed 's/.*"indices": \[\([0-9]*\).*/\1/' json)
[ "$(sed -n "$((first + 1))p" chain.csv)" = "$(sed -n 2p rows)" ] || wrong 'should count rows from 1'
# it is better than evenly spaced rows and than the whole chain, which came from far
LC_ALL=C awk '{
    match($0, /"discrepancy": [0-9.e-]+/); a = substr($0, RSTART + 15, RLENGTH - 15) + 0
    match($0, /"discrepancy_plain": [0-9.e-]+/); b = substr($0, RSTART + 21, RLENGTH - 21) + 0
    match($0, /"discrepancy_all": [0-9.e-]+/); c = substr($0, RSTART + 19, RLENGTH - 19) + 0
    exit !(a < 0.5 * b && a < 0.5 * c) }' json || wrong 'should be better than plain thinning'

# the same choice with scores from a file, in the same words of the kernel; a density in other words
sed 's/.*\("indices": \[[^]]*\]\).*/\1/' json >indices
run thin points.csv -m 20 --scores scores.csv --json
good
prints "$(cat indices)"
run thin points.csv -m 20 --density gaussian --json
good
prints '"from_sample": ' '"warnings": []'
sed 's/.*\("indices": \[[^]]*\]\).*/\1/' out >known
for how in 'gaussian(mean=[0,0],cov=[1,0;0,1])' 'gaussian(sd=1)'; do
    run thin points.csv -m 20 --density "$how" --json
    good
    prints "$(cat known)"
done

# two modes of which scores do not see the weights; scores of other rows, with the wrong sign, and weights on few rows
LC_ALL=C awk 'function u() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    BEGIN {
        seed = 99; print "x,s"
        for (i = 0; i < 300; i++) {
            z = sqrt(-2 * log(u())) * cos(6.283185307179586 * u()); printf "%.9g,%.9g\n", (i % 10 ? 6 : -6) + z, -z
        }
    }' >modes.csv
run thin modes.csv -m 30 --scores s
[ "$code" = 0 ] || wrong 'should warn, and go on'
grep -q 'warning: the choice is further from the sample' err || wrong 'should warn of modes'
run thin modes.csv -m 30 --scores s --quiet
good
[ -s err ] && wrong 'should be quiet'
run thin modes.csv -m 30 --ignore s --density 'mixture(means=[-6,6], weights=[1,9])' --optimal-weights --json
good
prints '"warnings": []' '"effective_size": '
cut -d, -f2 modes.csv | sort -r >mixed.csv # the header stays first
run thin modes.csv -m 30 --features x --scores mixed.csv --json
good
prints 'the scores do not depend on the points'
LC_ALL=C awk -F, 'NR == 1 { print; next } { printf "%s,%s,%.9g,%.9g\n", $1, $2, -$3, -$4 }' chain.csv >minus.csv
run thin minus.csv -m 20 --scores sx,sy --json
good
prints 'gradient of -log p'
{ echo sx,sy; tail -n +3 scores.csv; sed -n 2p scores.csv; } >shifted.csv
run thin points.csv -m 20 --scores shifted.csv --json
good
prints 'are the same point with different scores'
run test fit points.csv --scores shifted.csv
good
prints 'warning' 'are the same point with different scores'
run thin chain.csv -m 20 --scores 3:4 --features x,y --json
good
prints "$(cat indices)"
run thin chain.csv -m 20 --scores sx,sy --precondition id --threads 1 --json
good
prints '"kernel": "imq(c=1, beta=0.5)"'
run thin chain.csv -m 20 --scores sx,sy --precondition smpcov --json
good
prints '"kernel": "warp(['
run thin chain.csv -m 20 --scores sx,sy --kernel 'rbf + matern(nu=2.5)' --json
good
prints '"kernel": "rbf(ell='
run thin chain.csv -m 20 --scores sx,sy --distinct --scale --json
good
[ "$(sed 's/.*"indices": \[\([^]]*\)\].*/\1/' out | tr -d ' ' | tr , '\n' | sort -u | wc -l)" = 20 ] ||
    wrong 'should choose 20 different rows'

# weights add up to 1
run thin chain.csv -m 20 --scores sx,sy --optimal-weights --quiet
good
[ "$(head -n 1 out)" = 'x,y,sx,sy,weight' ] || wrong 'should have a column weight'
LC_ALL=C awk -F, 'NR > 1 { sum += $5; if ($5 < 0) bad = 1 } END { exit bad || sum < 0.999999999 || sum > 1.000000001 }' out ||
    wrong 'weights should add up to 1'

# without scores
for method in greedy herding split plain; do
    run thin points.csv -m 10 --method $method --json
    good
    prints '"kernel": "laplace(ell=' '"target": "the sample itself"' "\"method\": \"$method\"" '"discrepancy_all": 0'
done
# four modes of variance 1, 10 apart: chosen rows lie in theirs as all rows do (3.1 by rbf at the median distance)
LC_ALL=C awk 'function u() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    function z() { return sqrt(-2 * log(u())) * cos(6.283185307179586 * u()) }
    BEGIN { seed = 7; print "x,y"; for (i = 0; i < 1200; i++) printf "%.9g,%.9g\n", 10 * (i % 2) + z(), 10 * (i % 10 < 7) + z() }' >four.csv
run thin four.csv -m 80 --quiet
good
LC_ALL=C awk -F, 'NR > 1 { a = $1 - 10 * ($1 > 5); b = $2 - 10 * ($2 > 5); sum += a * a + b * b }
    END { exit !(sum / 160 > 0.7 && sum / 160 < 1.4) }' out || wrong 'should have the variance of the modes'
run thin points.csv -m 400 --method plain
good
cmp -s out points.csv || wrong 'all rows should be the input'
run thin - -m 5 <points.csv
good
run thin points.csv -m 10 --method split --seed 1 --json
good

# a file
run thin points.csv -m 3 -o chosen.csv
good
[ "$(wc -l <chosen.csv)" = 4 ] || wrong 'should write a file'

# wrong use and bad data
run thin points.csv
bad 2 '-m M is missing'
run thin points.csv -m 401
bad 2 '-m 401 is more than the 400 rows'
run thin points.csv -m 0
bad 2 '--count'
run thin points.csv -m 5 --scores nothere
bad 3 'nothere'
run thin chain.csv -m 5 --scores sx
bad 3 '1 score columns for 3 columns'
run thin chain.csv -m 5 --scores x:sy
bad 3 'score columns for 0 columns'
head -n 50 scores.csv >short.csv
run thin points.csv -m 5 --scores short.csv
bad 3 'short.csv' '49 rows of 2 scores for 400 rows of 2 columns'
sed '7s/,.*/,nan/' scores.csv >holes.csv
run thin points.csv -m 5 --scores holes.csv
bad 3 'holes.csv:7'
run thin points.csv -m 5 --scores scores.csv --density gaussian
bad 2 'two ways'
run thin points.csv -m 5 --density gausian
bad 2 "did you mean 'gaussian'"
run thin points.csv -m 5 --density 'gaussian(mean=[1,2,3])'
bad 3 'mean is 1 x 3'
run thin points.csv -m 5 --scores scores.csv --method herding
bad 2 'herding'
run thin points.csv -m 5 --scores scores.csv --kernel 'laplace(ell=1)'
bad 2 'laplace has no second derivative'
run thin points.csv -m 5 --precondition med
bad 2 '--precondition'
run thin points.csv -m 5 --scores scores.csv --kernel imq --precondition med
bad 2 '--precondition'
run thin points.csv -m 5 --method gredy
bad 2 'gredy'
run thin points.csv -m 5 --density logistic
bad 2 '--density-data'

# numbers that squares would overflow, and a constant column whose mean is rounded
printf 'a,b\n1e200,1\n-3e200,1\n5e199,1\n2e200,1\n' >huge.csv
LC_ALL=C awk -F, 'NR > 1 { $1 = $1 / 1e200; print $1; next } { print "a" }' huge.csv >small.csv
run thin small.csv -m 2 --scale --json
good
chosen=$(sed 's/.*"indices": \(\[[^]]*\]\).*/\1/' out)
run thin huge.csv -m 2 --scale --ignore b --json
good
prints "\"indices\": $chosen"
run thin huge.csv -m 2
bad 4 'overflows' '--scale'
run thin huge.csv -m 2 --density gaussian
bad 4 'huge.csv'
figures() { sed 's/.*\("kernel": "[^"]*"\).*\("indices": \[[^]]*\], "discrepancy": [^,]*\).*/\1 \2/' out; }
printf 'a,c\n1,0.1\n5,0.1\n2,0.1\n' >constant.csv
printf 'a\n1\n5\n2\n' >alone.csv
run thin alone.csv -m 2 --scale --json
good
alone=$(figures)
run thin constant.csv -m 2 --scale --json
good
[ "$alone" = "$(figures)" ] || wrong "a constant column should not matter: $alone"

# scores from standard input
printf 'x\n0.5\n-1\n2\n' >points.csv
printf 's\n-0.5\n1\n-2\n' >scores.csv
"$GRAM" thin points.csv -m 2 --scores scores.csv >first 2>err || wrong 'should read the scores'
"$GRAM" thin points.csv -m 2 --scores - <scores.csv >out 2>err || wrong 'should read the scores from standard input'
cmp -s out first || wrong 'should read the scores from standard input'
run thin - -m 2 --scores -
bad 2 'standard input'
printf 's\n1\n' >short.csv
run thin points.csv -m 2 --scores short.csv
bad 3 'short.csv: 1 row of 1 score for 3 rows of 1 column'

# draws as CmdStan writes them: comments before, between and after, columns of its own
printf '# model = m\nlp__,accept_stat__,theta.1,theta.2,g.1,g.2\n# Adaptation terminated\n' >stan.csv
printf -- '-1.2,0.9,0.5,-0.3,-0.5,0.3\n-0.7,1,0.1,0.4,-0.1,-0.4\n-3,0.8,-1.2,1.5,1.2,-1.5\n# Elapsed Time\n' >>stan.csv
run thin stan.csv -m 2 --features theta.1:theta.2 --scores g.1:g.2
good
prints 'theta.1,theta.2,g.1,g.2' '0.1,0.4,-0.1,-0.4'
[ "$(wc -l <out)" = 3 ] || wrong 'should print a header and two rows'
