# Fits under constraints: bounds as kinds of rows, --increasing and the like, --norm.
. "$SOURCE/tests/cli/helper"

number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
below() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || wrong "$1 should be below $2"; }

# a rising function with noise that makes free fits fall here and there
LC_ALL=C awk 'BEGIN { print "x,y"
    for (i = 0; i < 50; i++) { x = i / 12; printf "%g,%.6f\n", x, x - sin(x) + 0.5 * ((i * 37) % 11 / 5 - 1) } }' >rising.csv

# the least slope at the places where --increasing asks, by gram function
LC_ALL=C awk 'BEGIN { print "x"; for (i = 0; i < 60; i++) printf "%.17g\n", 49 / 12 * i / 59 }' >grid.csv
slopes()
{
    run function m.gram --at grid.csv --values slopes.csv
    good
    LC_ALL=C awk -F, 'NR > 1 { if (NR == 2 || $2 < least) least = $2 } END { printf "%.9f", least }' slopes.csv
}
run fit rising.csv --kernel 'rbf(ell=0.25)' --lambda 1e-4 --quiet -o m.gram
good
below "$(slopes)" -0.2
for loss in squared huber absolute; do
    run fit rising.csv --kernel 'rbf(ell=0.25)' --lambda 1e-4 --increasing x --loss $loss --json --quiet -o m.gram
    good
    prints '"increasing": "x"' '"constraints": 60' "\"loss\": \"$loss\""
    below 0 "$(number active)"
    below -1e-5 "$(slopes)"
done
run fit rising.csv --kernel 'rbf(ell=0.25)' --lambda 1e-4 --decreasing x --quiet -o m.gram
good
below "$(slopes)" 1e-5
run fit rising.csv --kernel 'rbf(ell=0.25)' --lambda 1e-4 --convex x --constraint-rows 30 --json --quiet -o m.gram
good
prints '"constraints": 30'
run fit rising.csv --increasing x --quantile 0.2,0.8 --json --quiet -o m.gram
good
prints '"tune": "cv:5"' '"crossing": 0'

# rows that are bounds
{ LC_ALL=C awk 'BEGIN { print "x,what,y"; for (i = 0; i < 20; i++) printf "%g,value,%.6f\n", i / 5, exp(-i / 5) + 0.2 * ((i * 7) % 5 / 2 - 1) }'
  LC_ALL=C awk 'BEGIN { for (i = 0; i < 20; i++) printf "%g,value>=,0\n%g,d:x <=,0\n", i / 5, i / 5; print "0,value==,1" }'; } >bounds.csv
run fit bounds.csv --kind what --target y --kernel 'rbf(ell=1)' --lambda 1e-3 --json --quiet -o m.gram
good
prints '"constraints": 41' '"n": 20'
below "$(number constraint_violation)" 1e-6
run predict m.gram bounds.csv -o p.csv --quiet
good
LC_ALL=C awk 'NR > 21 && NR < 62 { if (NR % 2 == 0 ? $1 < -1e-6 : $1 > 1e-6) exit 1 } NR == 62 { d = $1 - 1; if (d > 1e-6 || d < -1e-6) exit 1 }' p.csv ||
    wrong "bounds should hold at their rows"

# what cannot be
{ cat bounds.csv; echo '1,value>=,0.9'; echo '1,value<=,0.2'; } >wrong.csv
run fit wrong.csv --kind what --target y --kernel 'rbf(ell=1)' --lambda 1e-3 --quiet -o m.gram
bad 3 'the constraints contradict each other'
run fit bounds.csv --kind what --target y --method gp --quiet -o m.gram
bad 2 'are constraints, which gp does not take'
grep -v ',value,' bounds.csv >only.csv
run fit only.csv --kind what --target y --kernel 'rbf(ell=1)' --lambda 1e-3 --quiet -o m.gram
bad 3 'none is to be fitted'
run fit rising.csv --increasing z --quiet -o m.gram
bad 2 "there is no feature 'z'"
run fit rising.csv --increasing x --kernel 'laplace(ell=1)' --lambda 1e-3 --quiet -o m.gram
bad 2 'takes 1 derivative, and functions of laplace have 0'
run fit rising.csv --increasing x --loss insensitive --kernel 'rbf(ell=1)' --lambda 1e-3 --quiet -o m.gram
bad 2 'not for the insensitive loss'
run fit rising.csv --constraint-rows 5 --loss huber --quiet -o m.gram
bad 2 '--constraint-rows is for'

# the ball in the place of the penalty
for loss in squared absolute; do
    run fit rising.csv --kernel 'rbf(ell=0.5)' --norm 4 --loss $loss --json --quiet -o m.gram
    good
    prints '"ball": 4'
    below "$(number norm)" 4.0000001
    below 3.999 "$(number norm)"
done
run fit rising.csv --norm 4 --lambda 1 --quiet -o m.gram
bad 2 'and --norm'
