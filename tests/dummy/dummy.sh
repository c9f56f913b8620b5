# A method that is one file and one row of the table: gram knows it as it knows its own.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "a,b,y"
    for (i = 0; i < 30; i++) printf "%g,%g,%.6f\n", i / 8, i * 37 % 11, sin(i / 8) + i % 2 }' >train.csv
printf 'b,a\n5,1.9\n0,-40\n' >new.csv

# fit, info, predict; the nearest row of each row is itself
run fit train.csv --method nearest -o m.gram --quiet
good
prints 'Regression: y on 2 features; 30 rows' 'nearby              1'
run info m.gram
good
prints 'method              nearest, regression of y on 2 features' 'nearby              1' 'centres             30'
run predict m.gram train.csv --quiet
good
LC_ALL=C awk -F, 'NR > 1 { print $3 + 0 }' train.csv >want
LC_ALL=C awk 'NR > 1 { print $1 + 0 }' out >got
cmp got want || wrong 'should predict the targets'
run predict m.gram train.csv --json
good
prints '"method": "nearest"' '"rmse": 0,' '"r2": 1'

# its option counts, and is kept
run fit train.csv --method nearest --nearby 30 -o all.gram --json --quiet
good
prints '"method": "nearest"' '"task": "regression"' '"nearby": 30' '"n": 30' '"d": 2' '"model": "all.gram"'
run info all.gram --json
good
prints '"method": "nearest"' '"nearby": 30' '"targets": ["y"]'
run predict all.gram new.csv --quiet
good
mean=$(LC_ALL=C awk -F, 'NR > 1 { sum += $3 } END { printf "%.6f", sum / 30 }' train.csv)
[ "$(LC_ALL=C awk 'NR > 1 { printf "%.6f\n", $1 }' out | sort -u)" = "$mean" ] || wrong "should predict the mean $mean of all rows"
run fit train.csv --method nearest --target b,y -o two.gram --quiet
good
run predict two.gram new.csv --quiet
good
[ "$(head -n 1 out)" = mean_b,mean_y ] || wrong 'should have a column for each target'

# help has the method and its option
run help fit
good
tells '--nearby N' 'average the targets of the N nearest rows' 'nearest (mean of the nearest rows)' 'Options of nearest only'

# what is refused, by both sides
run fit train.csv --nearby 2
bad 2 '--nearby is an option of nearest, not of krr'
run fit train.csv --method gp --nearby 2
bad 2 '--nearby is an option of nearest, not of gp'
run fit train.csv --method nearest --C 2
bad 2 '--C is an option of svm and logistic, not of nearest'
run fit train.csv --method nearest --tune loo
bad 2 '--tune is an option of krr, gp' 'and logistic, not of nearest'
run fit train.csv --method nearest --kernel rbf
bad 2 '--kernel is not for nearest'
run fit train.csv --method nearest --weights a
bad 2 '--weights is not for nearest'
run fit train.csv --method nearest --task classification
bad 2 '--method nearest is not for classification'
for value in x 0 1001 2.5 ''; do
    run fit train.csv --method nearest --nearby "$value"
    bad 2 "--nearby cannot be '$value'" 'It must be a whole number from 1 to 1000.'
done
run fit train.csv --method nearest --nearby 31
bad 2 '--nearby 31 is more than the 30 rows'
run fit train.csv --method nearst
bad 2 "did you mean 'nearest'?" 'logistic or nearest.'
run fit train.csv --nearbye 3
bad 2 '--nearby'
run predict m.gram new.csv --std
bad 2 '--std is not for a model of the method nearest'
run predict m.gram new.csv --prob
bad 2 '--prob is not for a model of the method nearest'

# and a picture
if command -v gnuplot >/dev/null; then
    run fit train.csv --method nearest --plot fit.svg --quiet
    good
    grep -q 'fitted value' fit.svg || wrong 'should draw the fitted values'
fi
