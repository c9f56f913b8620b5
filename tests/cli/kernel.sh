# gram kernel: facts, parameters, the Gram matrix of small data against numbers known beforehand.
. "$SOURCE/tests/cli/helper"

run kernel '2 * rbf(ell=0.30) + white()'
good
prints '2*rbf(ell=0.3) + white()' 'Properties on R^1' 'Parameters'
grep -Eq '^positive definite +yes$' out || wrong 'should be positive definite'
grep -Eq '^rbf\.ell +0\.3 +0 +inf +log$' out || wrong 'should list rbf.ell'
run kernel 'const*rbf(ell=0.5!)'
good
grep -Eq '^const +free ' out || wrong 'should show that const is free'
grep -Eq '^rbf\.ell +0\.5 .* fixed$' out || wrong 'should show that ell is fixed'
run kernel 'on(3:4, rbf(ell=[1,2]))'
good
prints 'Properties on R^4' 'rbf.ell[2]'
run kernel 'rbf' --dimension 7
good
prints 'Properties on R^7'

# JSON: one line, one object, all keys
run kernel '2*rbf(ell=0.3)' --json
good
[ "$(wc -l <out)" = 1 ] || wrong 'should be one line'
grep -Eq '^\{.*\}$' out || wrong 'should be one object'
prints '"kernel": "2*rbf(ell=0.3)"' '"properties": {"positive_definite": true' '"strictly": true' '"stationary": true' \
    '"isotropic": true' '"universal": true' '"characteristic": true' '"rank": "infinite"' '"derivatives": "infinite"' \
    '"sobolev_order": null' '"parameters": [{"name": "const", "value": 2, "free": false' '"upper": null' \
    '"n": null' '"d": 1' '"gram": null' '"seconds": ' '"peak_bytes": '
run kernel 'matern(nu=1.5)' --dimension 3 --json
good
prints '"sobolev_order": 3}' '"derivatives": 1,' '"value": null, "free": true'
run kernel 'poly(m=2, c=1)' --dimension 2 --json
good
prints '"rank": 6,' '"universal": false'

# draws of the process, and sums that are known kernels
run kernel 'matern(nu=2.5)' --json
good
prints '"constant_diagonal": true, "draws_in_space": false, "draw_smoothness": 2.5'
run kernel rbf --json
good
prints '"draw_smoothness": "infinite"'
run kernel chi2 --json
good
prints '"draws_in_space": null, "draw_smoothness": null'
run kernel 'matern(nu=2.5)'
good
grep -Eq '^draws +2 derivatives, the last Hoelder below 0.5$' out || wrong 'should say how smooth draws are'
grep -Eq '^  in the RKHS +no$' out || wrong 'should say that draws are not in the RKHS'
run kernel 'poly(m=2, c=1)'
good
grep -Eq '^draws +all derivatives$' out || wrong 'draws of polynomials are smooth'
grep -Eq '^  in the RKHS +yes$' out || wrong 'draws of polynomials are polynomials'
run kernel 'sigmoid(a=1, c=1)'
good
grep -q '^draws' out && wrong 'no process has this covariance'
run kernel 'sobolev(a=1, null=1)' --json
good
sed 's/.*"properties": {\([^}]*\)}.*/\1/' out >sobolev.facts
run kernel '1 + min' --json
good
sed 's/.*"properties": {\([^}]*\)}.*/\1/' out | cmp - sobolev.facts || wrong '1 + min is sobolev(a=1, null=1)'
run kernel intpow --json
good
prints '"strictly": true' '"universal": true' '"characteristic": null'

# data: distances 3, 4, 5; the median is 4
printf '"x","y"\n0,0\n3,0\n0,4\n' >points.csv
run kernel rbf points.csv --json
good
prints '"kernel": "rbf(ell=4)"' '"given": "rbf"' '"n": 3' '"d": 2' '"free": true' '"columns": ["x", "y"]' \
    '"diagonal": {"min": 1, "max": 1}' '"off_diagonal": {"min": 0.45783336177161' '"max": 0.75483960198900' \
    '"gram_bytes": 72'
run kernel rbf points.csv
good
prints 'rbf(ell=4)' '3 rows, 2 columns' 'was free: median heuristic' '3 x 3, 72 B' '0.457833 to 0.75484'
run kernel 'laplace1' points.csv --json
good
prints '"kernel": "laplace1(ell=4)"'

# the same numbers from standard input, tab-separated and without a header, and through --format
printf '0\t0\n3\t0\n0\t4\n' >input
run kernel rbf - --json <input
good
prints '"kernel": "rbf(ell=4)"' '"data": "standard input"' '"columns": ["x1", "x2"]'
cp points.csv points.txt
run kernel rbf points.txt --format csv --json
good
prints '"kernel": "rbf(ell=4)"'

# columns
run kernel rbf points.csv --features y --json
good
prints '"d": 1' '"columns": ["y"]' '"kernel": "rbf(ell=4)"'
run kernel rbf points.csv --ignore 2 --json
good
prints '"columns": ["x"]' '"kernel": "rbf(ell=3)"'
run kernel rbf points.csv --features 2,x --json
good
prints '"columns": ["y", "x"]'
printf 'city,x\nUlm,1\nBonn,5\n' >cities.csv
run kernel rbf cities.csv --ignore city --json
good
prints '"kernel": "rbf(ell=4)"'
run kernel rbf cities.csv --ignore city --scale --json
good
prints '"kernel": "rbf(ell=2)"'

# one row: nothing off the diagonal, and the heuristic has nothing to go by
printf 'x\n7\n' >one.csv
run kernel rbf one.csv --json
good
prints '"kernel": "rbf(ell=1)"' '"off_diagonal": {"min": null, "max": null}'

# the Gram matrix, read by od: poly has whole numbers
run kernel 'poly(m=2, c=1)' points.csv --gram K.npy --json
good
prints '"gram": "K.npy"'
[ "$(wc -c <K.npy)" = $((128 + 72)) ] || wrong 'K.npy should have 200 bytes'
[ "$(head -c 8 K.npy | od -An -c | tr -d ' ')" = '223NUMPY001\0' ] || wrong 'K.npy should start as .npy does'
head -c 128 K.npy | grep -aqF "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }" || wrong "K.npy's header"
numbers=$(tail -c 72 K.npy | LC_ALL=C od -An -v -t f8 | tr -s ' \n' ' ')
[ "$numbers" = ' 1 1 1 1 100 1 1 1 289 ' ] || wrong "K.npy holds$numbers"
run kernel 'white' K.npy --json # and gram reads it
good
prints '"n": 3' '"d": 3'

# straight to disk, over an older file, the same bytes for any number of threads
awk 'BEGIN { for (i = 0; i < 500; i++) print i * 37 % 101, i * 53 % 97 }' | tr ' ' ';' >many.csv
run kernel '0.5*matern(nu=1.5, ell=9) + rbf' many.csv --gram K.npy --threads 1
good
cp K.npy K1.npy
run kernel '0.5*matern(nu=1.5, ell=9) + rbf' many.csv --gram ./K.npy --threads 2
good
cmp K.npy K1.npy || wrong 'should give the same bytes'
[ "$(wc -c <K.npy)" = $((128 + 8 * 500 * 500)) ] || wrong 'K.npy has the wrong size'
[ "$(ls -A | grep -c K)" = 2 ] || wrong 'should leave no other file'
awk 'BEGIN { for (i = 0; i < 1500; i++) print i }' >long.csv
run kernel rbf long.csv
good
prints '(seen on 500 rows)' '1,500 x 1,500, 17.2 MiB'

# results to a file
run kernel rbf points.csv --json -o report.json
good
[ ! -s out ] || wrong 'should print nothing'
grep -q '"kernel": "rbf(ell=4)"' report.json || wrong 'should write report.json'
run kernel rbf points.csv --json --out -
good
prints '"kernel": "rbf(ell=4)"'
