# gram make: rows by name, seed and number; more rows begin with the same ones; what is wrong is named.
. "$SOURCE/tests/cli/helper"

run make sine -n 5 -o five.csv
good
run make sine -n 50000
good
head -n 6 out | cmp - five.csv || wrong 'should begin with the same rows'
[ "$(wc -l <out)" = 50001 ] || wrong 'should have 50,000 rows and a header'
run make sine -n 5 --seed 2
if cmp -s out five.csv; then wrong 'another seed should give other rows'; fi

run make circles -n 300 --json -o circles.csv
good
grep -q '"rows": 300' out || wrong 'should say how many'
run fit circles.csv -o circles.gram --quiet
good
grep -q 'Classification: class' out || wrong 'should be classes'

run make moon
bad 2 "no data 'moon', did you mean 'moons'?"
run make sine --noise -1
bad 2 "--noise cannot be '-1'"
run make sine --json
bad 2 'both on standard output'
run make sine -n 0
bad 2 '-n'
