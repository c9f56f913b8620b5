# gram couple: coordinates of two views, what it says, and what it refuses. examples/digits.sh has it on real data.
. "$SOURCE/tests/cli/helper"

# three classes in the plane, and the same rows bent into space
LC_ALL=C awk 'BEGIN { srand(3)
    print "x,y,class" >"a.csv"; print "u,v,w" >"b.csv"
    for (i = 0; i < 90; i++) { c = i % 3; x = cos(2.1 * c) + rand() - 0.5; y = sin(2.1 * c) + rand() - 0.5
        printf "%.9f,%.9f,%s\n", x, y, substr("redtenblu", 3 * c + 1, 3) >"a.csv"
        printf "%.9f,%.9f,%.9f\n", x * y, x^3 + x, exp(y) >"b.csv" } }'

run couple a.csv b.csv --label class -k 2 -o m.gram --quiet
good
prints 'on 2 features and on 3 features; 90 rows' 'affinities' 'classes 3' 'eigenvalues' 'gamma' 'by left-out rows' \
    'class of left-out rows right' 'm.gram'
run predict m.gram a.csv --view a -o first.csv
good
[ "$(head -n 1 first.csv)" = 'a1,a2' ] || wrong 'should have a header'
run predict m.gram b.csv --view b -o second.csv
good
# U'ZZU = I: the coordinates of both views have length 1, and are orthogonal
{ tail -n +2 first.csv; tail -n +2 second.csv; } | LC_ALL=C awk -F, '{ a += $1^2; b += $2^2; c += $1 * $2 }
    END { exit !((a - 1)^2 < 1e-12 && (b - 1)^2 < 1e-12 && c^2 < 1e-12) }' || wrong 'the constraint should hold'
run couple a.csv b.csv --label class --gamma 0 -k 2 --json --quiet
good
prints '"method": "couple"' '"gamma": 0' '"eigenvalues": [' '"accuracy": ' '"class_count": 3'
run couple a.csv b.csv --neighbours 4 --a x,y --json --quiet
good
prints '"pair_accuracy": ' '"neighbours": 4' '"features": ["x", "y"]'
paste -d, a.csv b.csv >both.csv
run couple both.csv --a x,y --b u:w --label class --gamma 1 -o one.gram --quiet
good
run predict one.gram both.csv
good
[ "$(head -n 1 out)" = 'a1,a2,b1,b2' ] || wrong 'should have the coordinates of both views'
run info one.gram
good
prints 'couple, transform' 'view a'

if command -v gnuplot >/dev/null 2>&1; then
    run couple a.csv b.csv --label class --gamma 1 --plot views.svg --quiet
    good
    for word in 'view a' 'view b' red blu; do
        grep -q "$word" views.svg || wrong "should draw both views and name the classes: $word"
    done
    run couple a.csv b.csv --label class --gamma 1 -k 1 --plot one.svg --quiet
    bad 2 'views needs two coordinates'
fi

run couple a.csv b.csv --a x,y --neighbours 0 --gamma 0 --quiet
bad 2 'W = I' 'Give a --gamma above 0, or --label or --neighbours'
run couple a.csv b.csv --label class --gamma 0 -k 3 --quiet
bad 2 'one less than classes'
run couple a.csv b.csv --label class --neighbours 3
bad 2 'give one of --label and --neighbours'
run couple a.csv b.csv --label class -k 200
bad 2 '-k 200 is more than 90 pairs of rows can have'
run couple a.csv b.csv --label kind
bad 3 "no column 'kind'"
run couple a.csv b.csv --gamma -1
bad 2 "--gamma cannot be '-1'"
head -n 20 b.csv >short.csv
run couple a.csv short.csv --label class
bad 3 '90 rows, and 19 in short.csv'
LC_ALL=C awk -F, '{ print NR == 1 ? "same" : 3 }' a.csv >constant.csv
run couple a.csv constant.csv --label class --quiet
bad 3 'couple: view b does not vary'
run couple a.csv
bad 2 'give --a and --b'
run couple
bad 2 'too few arguments'
run predict m.gram a.csv --view c
bad 2 "--view cannot be 'c'"
