# gram compare and gram cv: methods by the same left-out rows, with nothing that judges having been seen.
. "$SOURCE/tests/cli/helper"

"$GRAM" make friedman --n 60 --noise 1 --seed 1 -o data.csv
"$GRAM" make moons --n 60 --noise 0.2 --seed 1 -o moons.csv

run compare data.csv --methods bayes,baselines --quiet -o best.gram --plot errors.svg
good
tells 'numbers are chosen anew in each'
prints 'Regression: y' 'judged on' '60 rows left out in 10 folds' 'linear (ridge)' 'nearest neighbours' 'mean' 'best.gram' 'errors.svg'
grep -q '^\* ' out || wrong 'should mark the best'
head -c 100 errors.svg | grep -q '<?xml' || wrong 'should draw'
grep -q 'nearest neighbours' errors.svg || wrong 'should draw names'
run info best.gram --json
good
prints '"command": "gram compare' '"estimate": {'
run predict best.gram data.csv --json --quiet
good

# the same by number: a row of the comparison is a cross-validation by the same folds
run compare data.csv --methods bayes,mean --folds 4 --json --quiet
good
prints '"rows": [{"name": "bayes", "method": "bayes", "kernel": null' '"best": {"name": "bayes"' '"skipped": []' '"numbers": "anew"' '"measure": "rmse"'
compared=$(sed -n 's/.*"rows": \[{"name": "bayes"[^}]*"error": \([0-9.e-]*\).*/\1/p' out)
run cv data.csv --method bayes --folds 4 --json --quiet -o left.csv
good
prints '"estimate": {"kind": "folds", "rows": 60, "folds": 4' '"rmse_se"' '"predictions": "left.csv"'
one=$(sed -n 's/.*"rmse": \([0-9.e-]*\).*/\1/p' out)
LC_ALL=C awk -v a="$compared" -v b="$one" 'BEGIN { exit !(a > 0 && (a - b)^2 < 1e-20) }' || wrong "compare says $compared, cv $one"
head -n 1 left.csv | grep -q '^row,fold,truth,prediction,std$' || wrong 'should name the columns'
LC_ALL=C awk -F, -v rmse="$one" 'NR > 1 { n++; s += ($3 - $4)^2; seen[$2]++ } END { r = sqrt(s / n); exit !(n == 60 && length(seen) == 4 && (r - rmse)^2 < 1e-18) }' left.csv || wrong 'rows should have the error that is told'

run cv moons.csv --method logistic --kernel 'rbf(ell=0.7)' --lambda 0.001 --folds 5 --quiet -o left.csv
good
prints 'accuracy' 'log loss' '60 rows left out in 5 folds'
head -n 1 left.csv | grep -q '^row,fold,truth,prediction,p_lower,p_upper$' || wrong 'should name the classes'
run compare moons.csv --methods svm,mean --json --quiet
good
prints '"task": "classification"' '"method": "frequent"' '"measure": "error_rate"' '"log_loss"'

# folds keep groups together, and go forward in time
LC_ALL=C awk -F, 'NR == 1 { print "g," $0; next } { print "p" int(NR / 5) "," $0 }' OFS=, data.csv >groups.csv
run cv groups.csv --method gp --kernel 'rbf(ell=2)' --noise 1 --groups g --folds 4 --quiet -o left.csv
good
prints 'by groups'
LC_ALL=C awk -F, 'NR > 1 { g = int(($1 + 1) / 5); if (g in fold && fold[g] != $2) bad = 1; fold[g] = $2 } END { exit bad }' left.csv || wrong 'a group is in two folds'
run compare data.csv --methods bayes,mean --ordered --json --quiet
good
prints '"by": "order"'

# fits to some of the rows, and time that is up
run cv data.csv --method bayes --fit-rows 20 --folds 3 --json --quiet
good
prints '"fit_rows": 20'
run compare data.csv --methods mean,gp --time 0.001s --quiet
if [ "$code" != 5 ] && [ "$code" != 0 ]; then wrong 'should be over a limit, or say what was left out'; fi

run compare data.csv --methods krr --kernel 'laplace(ell=3)' --folds 2 --json --quiet
good
prints '"kernel": "rbf"' '"kernel": "matern(nu=1.5)"' '"kernel": "laplace(ell=3)"'
run compare data.csv --methods mean,krrr
bad 2 "'krrr'" "'krr'"
run compare data.csv --methods logistic
bad 2 'none of them is for regression'
run compare data.csv --kernel 'rbf(' --methods krr
bad 2 'kernel'
run compare data.csv -o -
bad 2 'standard output'
run compare nothing.csv
bad 3 'nothing.csv'
run cv data.csv --method pca
bad 2 'pca'
run cv data.csv --folds 1
bad 2 'folds'
run cv data.csv --method bayes -o no/such/folder.csv
bad 5 'no/such/folder.csv'
printf 'x,y\n1,2\n' >one.csv
run cv one.csv --method bayes --quiet
bad 3 'rows'
