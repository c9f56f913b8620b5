# gram mercer: eigenvalues and eigenfunctions of a sample and of a quadrature rule, elsewhere too, what it says, what it refuses.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "x,w"; for (i = 0; i < 200; i++) printf "%.4f,0.005\n", (i + 0.5)/200 }' >nodes.csv
printf 'x\n0.1\n0.5\n0.9\n' >places.csv

# the example of docs/features.md: min under the uniform measure, ((j - 1/2) pi)^-2 and sqrt(2) sin((j - 1/2) pi x)
run mercer min nodes.csv --weights w -k 3 --measure 'uniform(0,1)' --at places.csv -o functions.csv --model m.gram --quiet
good
prints 'eigenfunctions' 'under P' 'uniform(0,1)' 'weight of all rows 1'
for row in 'eigenfunctions' '  eigenvalues' '  under P' 'measure P' 'solver'; do
    line=$(grep "^$row" out) || wrong "should print '$row'"
    grep -qF -- "    $line" "$SOURCE/docs/features.md" || wrong "docs/features.md should have '$line'"
done
[ "$(head -n 1 functions.csv)" = 'phi1,phi2,phi3' ] || wrong 'should have a header'
paste -d, places.csv functions.csv | LC_ALL=C awk -F, 'NR > 1 { for (j = 1; j <= 3; j++) {
    e = sqrt(2) * sin((j - 0.5) * 3.14159265358979 * $1); d = $(j + 1)^2 - e^2; if (d > 1e-3 || d < -1e-3) exit 1 } n++ }
    END { exit !(n == 3) }' || wrong 'should be sines'
run predict m.gram places.csv -o again.csv
good
cmp functions.csv again.csv || wrong 'a model should say the same'
run info m.gram
good
prints 'mercer, transform on x'

# a sample: mu = l/n
run mercer 'rbf(ell=0.3)' nodes.csv --features x -k 4 --json --quiet -o rows.csv
good
prints '"eigenvalues": [' '"k": 4' '"n": 200' '"rank": 200' '"scaled": false' '"out": "rows.csv"'
[ "$(wc -l <rows.csv)" = 201 ] || wrong 'should have one row for each row'
run kernel 'rbf(ell=0.3)' nodes.csv --features x --spectrum 2 --json --quiet
good
cp out spectrum
run mercer 'rbf(ell=0.3)' nodes.csv --features x -k 2 --json --quiet
LC_ALL=C awk -F'[][,]' '/"spectrum"/ { sub(/.*"spectrum": /, ""); l = $2 } /"eigenvalues"/ { sub(/.*"eigenvalues": /, ""); m = $2 }
    END { exit !(l/200 - m < 1e-12 && m - l/200 < 1e-12 && m > 0) }' spectrum out || wrong 'mu should be l/n'

# fewer than 5 where there are no more
run mercer linear nodes.csv --features x --quiet --json
good
prints '"k": 1' '"rank": 1'
run mercer 'const(2)' nodes.csv --features x --quiet --json
good
prints '"eigenvalues": [2'

printf 'x\n1\n2\n1\n2\n1\n2\n' >repeated.csv
run mercer 'rbf(ell=1)' repeated.csv --quiet --json
good
prints '"k": 2'
run mercer linear nodes.csv --features x -k 2 --quiet
bad 2 '-k 2 is more than the 1, the rank of the kernel'
run mercer 'rbf(ell=1)' nodes.csv -k 201
bad 2 '-k 201 is more than the 200 rows'
run mercer 'rbf(ell=100)' nodes.csv --features x -k 30 --quiet
bad 2 'above rounding' 'fewer'
run mercer 'const(0)' nodes.csv --features x --quiet
bad 3 '0 to rounding'
run mercer min nodes.csv --features x --measure 'normal(0,1)' --quiet
bad 2 'no expansion of this kernel under normal(0,1) is known' 'rbf under normal'
run mercer min nodes.csv --features x --measure 'gauss'
bad 2 "--measure cannot be 'gauss'"
run mercer min nodes.csv --at places.csv
bad 2 '--at writes rows to -o'
run mercer min nodes.csv --features x --at missing.csv -o f.csv --quiet
bad 3 'missing.csv'
run mercer min places.csv --at nodes.csv -o f.csv --quiet
good
printf 'y\n1\n' >other.csv
run mercer min places.csv --at other.csv -o f.csv --quiet
bad 3 'other.csv'
printf 'x\n-1\n' >negative.csv
run mercer min negative.csv --quiet
bad 3 'negative.csv'
printf 'x\n' >empty.csv
run mercer rbf empty.csv
bad 3 'empty.csv'
run mercer rbf
bad 2 'mercer'
run mercer rbff nodes.csv
bad 2 'rbf'
run mercer rbf nodes.csv --kernel rbf
bad 2 "no option '--kernel'"
run help mercer
good
prints 'KERNEL DATA' '--measure P' '--at FILE' '--scale'
