# gram explain: what a model does with its features, as people and programs see it.
. "$SOURCE/tests/cli/helper"

"$GRAM" make friedman --n 120 --noise 1 --seed 1 -o data.csv
"$GRAM" make friedman --n 80 --noise 1 --seed 2 -o new.csv
"$GRAM" fit data.csv --kernel 'rbf(ell=[2,2,4,6,8,50,50,50,50,50])' --lambda 0.0001 --quiet -o krr.gram >out

run explain krr.gram new.csv --plot dependence.svg --quiet
good
prints 'Importance of the features' 'rise when permuted' 'share of derivatives' 'Partial dependence' 'x4' 'dependence.svg'
grep -q 'one deviation of the shape' dependence.svg || wrong 'should say what the band is'
run explain krr.gram new.csv --row 3 --json --quiet
good
prints '"importance": [{"feature": "x4"' '"share_se"' '"dependence": [{"feature": "x4", "at": [' '"band": "spread"' '"row": 3' '"centres": "training rows"' '"weights": [{"centre": '
# derivatives: half of the columns do not matter
LC_ALL=C sed 's/"dependence".*//' out | tr '{' '\n' | LC_ALL=C awk -F'[:,]' '/"feature": "x(6|7|8|9|10)"/ { if ($8 > 0.01) bad = 1; n++ } END { exit bad || n != 5 }' || wrong 'shares of columns without use should be small'

# of the training rows themselves the row is found
run explain krr.gram data.csv --row 7 --most 3 --quiet
good
prints 'The training rows that weigh most at row 7' 'row of DATA'

# without the target there is no rise
cut -d, -f1-10 new.csv >blind.csv
run explain krr.gram blind.csv --features x2,x4 --json --quiet
good
prints '"loss": null' '"value": null' '"dependence": [{"feature": "x2"'
run explain krr.gram blind.csv --quiet
good
prints 'Without the target'

# a sum kernel has terms, a process a band of its own, classes a curve each
"$GRAM" fit data.csv --method gp --kernel 'on(1:2, rbf(ell=1)) + on(3:5, rbf(ell=2))' --noise 1 --quiet -o gp.gram >out
run explain gp.gram new.csv --json --quiet
good
prints '"terms": [{"kernel": "on(1:2, rbf(ell=1))"' '"band": "posterior"'
"$GRAM" make blobs --n 90 -o blobs.csv
"$GRAM" fit blobs.csv --method svm --kernel 'rbf(ell=1)' --C 1 --quiet -o svm.gram >out
run explain svm.gram blobs.csv --row 1 --plot classes.png --quiet
good
prints 'support vectors'

run explain krr.gram new.csv --row 81
bad 2 '--row 81'
run explain krr.gram new.csv --features x1,nobody
bad 2 "no feature 'nobody'"
run explain krr.gram new.csv --features x1,xx2
bad 2 "no feature 'xx2', did you mean 'x2'?"
run explain krr.gram new.csv --features x1,1
bad 2 'listed twice'
run explain nothing.gram new.csv
bad 3 'nothing.gram'
cut -d, -f2-11 new.csv >short.csv
run explain krr.gram short.csv
bad 3 "'x1'"
"$GRAM" pca data.csv -k 2 --model pca.gram --quiet >out
run explain pca.gram new.csv
bad 2 'neither numbers nor classes'
