# gram test: two samples, independence; methods, gate, bad data.
. "$SOURCE/tests/cli/helper"

# numbers without a random number generator: a shuffled grid, the same for everybody
LC_ALL=C awk 'BEGIN { print "a,b"; s = 1; for (i = 0; i < 120; i++) { s = s * 16807 % 2147483647; u = s / 2147483647
    s = s * 16807 % 2147483647; v = s / 2147483647; printf "%.6f,%.6f\n", u, v } }' >one.csv
LC_ALL=C awk 'BEGIN { print "b,a"; s = 7; for (i = 0; i < 100; i++) { s = s * 16807 % 2147483647; u = s / 2147483647
    s = s * 16807 % 2147483647; v = s / 2147483647; printf "%.6f,%.6f\n", v, u } }' >same.csv
LC_ALL=C awk 'BEGIN { print "a,b"; s = 9; for (i = 0; i < 100; i++) { s = s * 16807 % 2147483647; u = s / 2147483647
    s = s * 16807 % 2147483647; v = s / 2147483647; printf "%.6f,%.6f\n", u + 1, v } }' >moved.csv

run test
bad 2 'say which test'
run test --help
good
prints 'two-sample' 'independence'
run help test
good
prints 'two-sample'
run test two-smple
bad 2 "did you mean 'two-sample'?"
run test two-sample --help
good
prints 'aggregated' '--gate' '--dependent' '--no-scale' '--permutations'

# the default is aggregated; columns are matched by name
run test two-sample one.csv same.csv --json
good
prints '"test": "two-sample"' '"method": "aggregated"' '"reject": false' '"level": 0.05' '"n": 120' '"m": 100' '"kernel": "' \
    '"widths": [{"factor": 1, "look": "rbf"' '"look": "ranks"' '{"look": "means"' '{"look": "directions"' '{"look": "rank means"' '{"look": "spreads"' '"columns": [{"name": "' '"permutations": 999' '"scaled": true'
run test two-sample one.csv moved.csv --json
good
prints '"reject": true' '"p_value": 0.001' '"columns": [{"name": "a"'
run test two-sample one.csv moved.csv
good
prints 'rejected at level 0.05' 'assumed' 'standardised together' 'Looks' 'seen best by' 'a  '
run test two-sample one.csv same.csv
good
prints 'not rejected at level 0.05'

# all labellings of tiny samples, whichever comes first
printf 'v\n0\n1\n2.5\n' >near.csv
printf 'v\n10\n11.2\n13\n' >far.csv
for files in 'near.csv far.csv' 'far.csv near.csv'; do
    run test two-sample $files --json
    good
    prints '"p_value": 0.1,' '"permutations": 19'
done

# the gate
run test two-sample one.csv moved.csv --gate
[ "$code" = 10 ] || wrong 'should exit with 10'
prints 'rejected at level 0.05'
run test two-sample one.csv same.csv --gate
good

# every method runs and tells the truth here
for method in aggregated permutation split gamma normal linear block wild; do
    run test two-sample one.csv moved.csv --method $method --json
    good
    prints "\"method\": \"$method\"" '"reject": true'
done
run test two-sample one.csv moved.csv --dependent --lag 5 --json
good
prints '"method": "wild"'
run test two-sample one.csv moved.csv --kernel 'laplace' --json
good
prints '"method": "permutation"' '"kernel": "laplace(ell='
run test two-sample one.csv moved.csv --kernel 'rbf(ell=1)' --biased --permutations 99 --json
good
prints '"p_value": 0.01,'

# the same seed gives the same, whatever the threads
run test two-sample one.csv same.csv --seed 3 --threads 1
good
cp out first
run test two-sample one.csv same.csv --seed 3 --threads 3
good
cmp -s out first || wrong 'threads should not matter'

# wrong use
run test two-sample one.csv
bad 2
run test two-sample one.csv same.csv --method gama
bad 2 "did you mean 'gamma'?"
run test two-sample one.csv same.csv --level 1.5
bad 2 '--level 1.5'
run test two-sample one.csv same.csv --dependent --method gamma
bad 2 '--dependent'
run test two-sample one.csv same.csv --kernel 'linear' --method aggregated
bad 2 'length-scale'
run test two-sample - -
bad 2 'both samples from standard input'
run test two-sample one.csv same.csv --plot p.gif
bad 2 'p.gif'

# bad data
printf 'a,b,c\n1,2,3\n4,5,6\n' >wide.csv
run test two-sample one.csv wide.csv
bad 3 'one.csv has 2 columns, wide.csv has 3'
printf 'a,x\n1,2\n4,5\n' >other.csv
run test two-sample one.csv other.csv
bad 3 "other.csv has no column 'b'"
printf 'a,b\n1,2\n' >single.csv
run test two-sample one.csv single.csv
bad 3 'single.csv has a single row'
printf 'a,b\n1,2\n3,4\n' >double.csv
run test two-sample one.csv double.csv
bad 3 'double.csv has 2 rows'
printf 'a,b\n1,2\n3,NaN\n' >missing.csv
run test two-sample one.csv missing.csv
bad 3 'missing.csv:3' "'b'"
run test two-sample one.csv nothing.csv
bad 3 'nothing.csv'

# all rows equal: nothing to tell apart; a constant column does no harm
printf 'a,b\n1,2\n1,2\n1,2\n' >equal.csv
run test two-sample equal.csv equal.csv --json
good
prints '"statistic": 0,' '"p_value": 1,' '"reject": false'
LC_ALL=C awk -F, 'NR == 1 { print $0 ",c"; next } { print $0 ",5" }' one.csv >one_c.csv
LC_ALL=C awk -F, 'NR == 1 { print $0 ",c"; next } { print $0 ",5" }' moved.csv >moved_c.csv
run test two-sample one_c.csv moved_c.csv --json
good
prints '"reject": true' '{"name": "c", "score": 0}'

# ---- text columns and missing values ----
# kinds are r, g, b in the first file and r, g, b, y in the second; every ninth x misses, and there z is far away; two kinds miss
random='function random() { s = s * 16807 % 2147483647; return s / 2147483647 }'
LC_ALL=C awk "$random"' BEGIN { s = 3; print "kind,x,z"; for (i = 1; i <= 60; i++) { k = substr("rrgb", 1 + int(4 * random()), 1)
    v = random(); printf "%s,%s,%.4f\n", i % 25 ? k : "", i % 9 ? sprintf("%.4f", 5 + 3 * v) : "", random() + (i % 9 ? 0 : 50) } }' >kinds.csv
LC_ALL=C awk "$random"' BEGIN { s = 5; print "x,z,kind"; for (i = 1; i <= 50; i++) { k = substr("rgby", 1 + int(4 * random()), 1)
    v = random(); printf "%s,%.4f,%s\n", i % 9 ? sprintf("%.4f", 5 + 3 * v) : "NA", random(), k } }' >other_kinds.csv
run test two-sample kinds.csv other_kinds.csv
bad 3 'kinds.csv:10' "'x'" 'missing value' '--missing'
run test two-sample kinds.csv other_kinds.csv --missing drop
good
prints '3 columns (6 with categories)' '13 rows dropped' 'kind=y'

# the same made by hand: a column of 0 and 1 for each kind of both files, numbers standardised over the rows of both
by_hand() # HOW: drop or mean
{
    LC_ALL=C awk -F, -v how="$1" '
        function standardise(value, to,   i, count, sum, squares, mean, deviation) {
            for (i = 1; i <= n; i++) if (value[i] != "") { count++; sum += value[i] }
            mean = sum / count
            for (i = 1; i <= n; i++) if (value[i] != "") squares += (value[i] - mean) ^ 2
            deviation = sqrt(squares / count)
            for (i = 1; i <= n; i++) to[i] = value[i] == "" ? 0 : (value[i] - mean) / deviation
        }
        FNR == 1 { file++; next }
        { k = file == 1 ? $1 : $3; v = file == 1 ? $2 : $1; if (v == "NA") v = ""
          if (how == "drop" && (v == "" || k == "")) next
          n++; of[n] = file; kind[n] = k; x[n] = v; z[n] = file == 1 ? $3 : $2; if (k != "") often[k]++ }
        END { for (k in often) if (most == "" || often[k] > often[most]) most = k
              standardise(x, a); standardise(z, b)
              for (file = 1; file <= 2; file++) { out = "hand" file ".csv"; print "b,g,r,y,x,z" >out; for (i = 1; i <= n; i++) if (of[i] == file) {
                  k = kind[i] == "" ? most : kind[i]
                  printf "%d,%d,%d,%d,%.17g,%.17g\n", k == "b", k == "g", k == "r", k == "y", a[i], b[i] >out } } }' \
        kinds.csv other_kinds.csv
}
# rounding may differ in the last digits
figures() { sed 's/.*"statistic": \([-0-9.]\{12\}\).*"p_value": \([^,]*\).*rbf(ell=\([0-9.]\{12\}\).*"n": \([0-9]*\), "m": \([0-9]*\).*/\1 \2 \3 \4 \5/' out; }
for how in drop mean; do
    by_hand $how
    run test two-sample kinds.csv other_kinds.csv --missing $how --features kind,x,z --json
    good
    mine=$(figures)
    run test two-sample hand1.csv hand2.csv --no-scale --json
    good
    [ "$mine" = "$(figures)" ] || wrong "should be the same as by hand with --missing $how: $mine"
done

# text in one file and numbers in the other: both are text, and the levels are of both
printf 'k\n1\n2\n2\n1\n' >digits.csv
printf 'k\n1\nx\nx\n2\n' >letters.csv
run test two-sample digits.csv letters.csv --json
good
prints '"d": 3,' '"name": "k=x"' '"name": "k=1"'
# many levels: of one file, or only of both
for f in 1 2; do LC_ALL=C awk -v f=$f 'BEGIN { print "id"; for (i = 0; i < 40; i++) print "id" f "_" i }' >ids$f.csv; done
LC_ALL=C awk 'BEGIN { print "id"; for (i = 0; i < 60; i++) print "id" i }' >ids.csv
run test two-sample ids1.csv ids2.csv
bad 3 "column 'id'" 'more than 50 levels' '--ignore'
run test two-sample ids1.csv ids.csv
bad 3 'ids.csv' "column 'id'" '60 levels' '--ignore'
printf 'kind,x\nr,1\nr,NA\ng,\n' >single_kept.csv
run test two-sample kinds.csv single_kept.csv --missing drop --features kind,x
bad 3 'single_kept.csv has a single row without missing values'

run test independence kinds.csv --x kind --y x
bad 3 'kinds.csv:10' "'x'" 'missing value' '--missing'
run test independence kinds.csv --x kind --y x --missing drop --json
good
prints '"n": 52,' '"dropped": 8,' '"x": ["kind"]'
mine=$(sed 's/.*"statistic": \([^,]*\), "p_value": \([^,]*\).*/\1 \2/' out)
LC_ALL=C awk -F, 'NR == 1 { print "b,g,r,x"; next } $1 == "" || $2 == "" { next } { printf "%d,%d,%d,%s\n", $1 == "b", $1 == "g", $1 == "r", $2 }' kinds.csv >hand.csv
# one-hot columns keep their unit; x has one length-scale of its own, so its unit does not matter
run test independence hand.csv --x b:r --y x --no-scale --json
good
theirs=$(sed 's/.*"statistic": \([^,]*\), "p_value": \([^,]*\).*/\1 \2/' out)
[ "$(printf %.12s "$mine")" = "$(printf %.12s "$theirs")" ] && [ "${mine#* }" = "${theirs#* }" ] || wrong "should be the same as by hand: $mine"
run test independence kinds.csv --mutual kind,x --missing mean --json
good
prints '"n": 60,' '"dropped": 0,' '"mutual": ["kind", "x"]'

# standard input
"$GRAM" test two-sample - moved.csv <one.csv >out 2>err || wrong 'should read standard input'
prints 'standard input (120 rows)'

# ---- independence ----
LC_ALL=C awk 'BEGIN { print "u,v,w"; s = 11; for (i = 0; i < 100; i++) { s = s * 16807 % 2147483647; u = s / 2147483647 - 0.5
    s = s * 16807 % 2147483647; v = s / 2147483647; s = s * 16807 % 2147483647; w = s / 2147483647
    printf "%.6f,%.6f,%.6f\n", u, u * u + 0.1 * v, w } }' >pairs.csv
run test independence pairs.csv --x u --y v --json
good
prints '"test": "independence"' '"method": "aggregated"' '"looks": 64' '"reject": true' '"p_value": 0.001' '"n": 100' '"m": null' '"x": ["u"]' \
    '"kernel_x": "'
run test independence pairs.csv --x u --y v --kernel rbf --json
good
prints '"method": "permutation"' '"reject": true' '"kernel_x": "rbf(ell='
run test independence pairs.csv --x u,v --y w
good
prints 'not rejected' 'if independent'
run test independence pairs.csv --x u --y v --method gamma --kernel-x laplace --gate --json
[ "$code" = 10 ] || wrong 'should exit with 10'
prints '"method": "gamma"' '"kernel_x": "laplace(ell='
run test independence pairs.csv --mutual u,v,w --permutations 199 --json
good
prints '"mutual": ["u", "v", "w"]' '"reject": true' '"p_value": 0.005'

# given other columns: v is u^2 and noise, so given u it is independent of what else u makes
LC_ALL=C awk -F, 'BEGIN { s = 5 } NR == 1 { print $0 ",t,c"; next }
    { s = s * 48271 % 2147483647; printf "%s,%.6f,7\n", $0, $1 * $1 + 0.2 * s / 2147483647 }' pairs.csv >third.csv
run test independence third.csv --x t --y v --json
good
prints '"reject": true'
run test independence third.csv --x t --y v --given u --json
good
prints '"method": "conditional"' '"given": ["u"]' '"reject": false' '"unexplained_x": ' '"kernel_given": '
run test independence third.csv --x t --y v --given w
good
prints 'random signs' 'rejected' 'unexplained' 'given'
run test independence third.csv --x c --y v --given u
good
prints 'p-value             1'
LC_ALL=C awk -F, 'NR == 1 { print $0 ",copy"; next } { print $0 "," 3 * $1 }' pairs.csv >copies.csv
run test independence copies.csv --x copy --y v --given u
bad 3 'x is determined by what is given' '--given'
LC_ALL=C awk -F, 'NR == 1 { print $0 ",square"; next } { print $0 "," $1 * $1 * 3 }' pairs.csv >squares.csv
run test independence squares.csv --x square --y v --given u
bad 3 'determined by what is given' '--given'
run test independence pairs.csv --x u --y v --given u
bad 2 "column 'u' is in two groups"
run test independence pairs.csv --x u --y v --given w --method gamma
bad 2 'gamma is not for --given'
run test independence pairs.csv --mutual u,v --given w
bad 2 '--mutual cannot be combined'
head -n 6 pairs.csv >five.csv
run test independence five.csv --x u --y v --given w
bad 3 'five.csv has 5 rows' 'ten rows'

run test independence pairs.csv --x u
bad 2 '--y is missing'
run test independence pairs.csv --x u --y u,w
bad 2 "column 'u' is in two groups"
run test independence pairs.csv --x u --y z
bad 3 'z'
run test independence pairs.csv --x u --y v --method wild
bad 2 "no method 'wild'"
run test independence pairs.csv --mutual u,v,w --method gamma
bad 2 'gamma is for two groups'
run test independence single.csv --x a --y b
bad 3 'single.csv has 1 row'
run test independence equal.csv --x a --y b
bad 3 'equal.csv has 3 rows'
printf 'a,b\n1,2\n1,3\n1,5\n1,8\n' >constant.csv
run test independence constant.csv --x a --y b --json
good
prints '"statistic": 0,' '"p_value": 1,'

# options without effect, hopeless numbers of permutations, too few rows
run test two-sample one.csv same.csv --block 5
bad 2 '--block is for --method block'
run test two-sample one.csv same.csv --lag 5
bad 2 '--lag is for --dependent'
run test two-sample one.csv same.csv --permutations 5
good
prints 'not rejected at level 0.05, nor could it be: 5 draws give p >= 0.166667'
run test two-sample one.csv same.csv --permutations 19
good
prints 'at level 0.05'
if grep -q 'nor could' out; then wrong '19 permutations can reject at 0.05'; fi
printf 'a,b\n1,2\n3,4\n5,1\n' >three.csv
run test two-sample three.csv one.csv --method split
bad 3 'three.csv has 3 rows, --method split needs four'

# a number that the kernel cannot take is named where it is
printf 'a,b\n1,2\n3,4\n5,1\n-1,2\n2,2\n' >negative.csv
printf 'a,b\n1,2\n3,4\n5,1\n1,2\n' >positive.csv
run test two-sample positive.csv negative.csv --kernel min --no-scale
bad 3 "negative.csv: row 4, column 'a': min: -1"
run test independence negative.csv --x b --y a --kernel-y min --no-scale
bad 3 "negative.csv: row 4, column 'a': min: -1"
printf 'a,b\n1e200,2\n-3e200,4\n5e199,1\n2e200,3\n' >huge.csv
run test two-sample huge.csv huge.csv --json
good
run test two-sample huge.csv three.csv --no-scale
bad 4 'too large'
printf 'a,b\n1,2\n3,inf\n' >infinite.csv
run test two-sample one.csv infinite.csv --missing drop
bad 3 'infinite.csv:3' "column 'b'" "'inf'"

# the example: a gate that finds the drift, and lets the same table pass
code=0
GRAM="$GRAM" sh "$SOURCE/examples/drift.sh" >out 2>err || code=$?
last=examples/drift.sh
[ "$code" = 10 ] || wrong 'should end with 10'
prints 'rejected at level 0.01' 'flow'
code=0
GRAM="$GRAM" sh "$SOURCE/examples/drift.sh" one.csv same.csv >out 2>err || code=$?
good

# nothing to tell apart
printf 'a,b\n1,3\n1,2\n1,5\n1,1\n' >constant.csv
run test independence constant.csv --x a --y b
good
prints 'all rows of x or of y are equal' 'p-value             1'
run test two-sample constant.csv constant.csv --features a
good
prints 'p-value             1'
grep -q 'seen best' out && wrong 'should not name a look that saw nothing'
run test two-sample constant.csv constant.csv
good
prints 'p-value             1'

# pictures, where gnuplot is
command -v gnuplot >/dev/null || exit 0
run test two-sample one.csv moved.csv --plot two.svg
good
[ -s two.svg ] || wrong 'should draw'
run test two-sample one.csv moved.csv --features a --plot one.png
good
[ -s one.png ] || wrong 'should draw'
run test two-sample one_c.csv moved_c.csv --plot three.svg
good
[ -s three.svg ] || wrong 'should draw'
run test independence pairs.csv --x u --y v,w --plot pair.svg
good
grep -q '>v<' pair.svg || wrong 'should draw the stronger pair'
