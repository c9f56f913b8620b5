# Given matrices: fits, predictions from all columns or those that are needed, LIBSVM's precomputed format, and what is wrong with one.
. "$SOURCE/tests/cli/helper"

# The same rows as numbers and as the matrix of rbf(ell=1), which gram itself writes; 70 rows of a fit, 20 new ones.
LC_ALL=C awk 'BEGIN {
    srand(5)
    print "a,b,y,c" >"all.csv"
    for (i = 0; i < 90; i++) {
        a = int(2000 * rand()) / 1000; b = int(2000 * rand()) / 1000
        y = a * a - b + int(100 * rand()) / 1000
        printf "%s,%s,%s,%s\n", a, b, y, (y > 0.5 ? "high" : "low") >"all.csv"
    }
}'
run kernel 'rbf(ell=1)' all.csv --features a,b --gram big.npy --quiet
good
# .npy to CSV: a header of 128 bytes, then numbers
LC_ALL=C od -An -v -t f8 -w720 -j 128 big.npy | LC_ALL=C awk '{ $1 = $1; gsub(" ", ","); print }' >big.csv
sed -n '1,70p' big.csv | cut -d, -f1-70 >K.csv
sed -n '71,90p' big.csv | cut -d, -f1-70 >new.csv
sed -n '71,90p' big.csv >wide.csv
sed -n '1,71p' all.csv >train.csv
(head -n 1 all.csv && sed -n '72,91p' all.csv) >test.csv

# near A B: the same numbers in the first column, to 1e-8
near()
{
    paste -d, "$1" "$2" | LC_ALL=C awk -F, -v w="$(head -n 1 "$1" | awk -F, '{ print NF }')" \
        'NR > 1 { d = $1 - $(w + 1); if (d < -1e-8 || d > 1e-8) exit 1 }' || wrong "$1 and $2 differ"
}

for way in 'krr --lambda 0.001' 'gp --noise 0.01 --mean zero' 'svm --C 3 --task regression' 'flow --flow-time 50' \
    'krr --loss huber --lambda 0.001'; do
    # shellcheck disable=SC2086 # the way is a list of words
    run fit --gram K.csv train.csv --target y --no-scale --method $way --kernel given -o given.gram --quiet
    good
    # shellcheck disable=SC2086
    run fit train.csv --target y --features a,b --no-scale --method $way --kernel 'rbf(ell=1)' -o plain.gram --quiet
    good
    run predict given.gram --gram new.csv -o a.csv --quiet
    good
    run predict plain.gram test.csv -o b.csv --quiet
    good
    near a.csv b.csv
done

# tuned, with an estimate from folds: the numbers are those of the same kernel
run fit --gram K.csv train.csv --target y --method krr --estimate folds:5 -o given.gram --json --quiet
good
prints '"kernel": "given()"' '"kind": "folds"'
sed 's/.*"estimate": {\([^}]*\)}.*/\1/' out >a
run fit train.csv --target y --features a,b --no-scale --method krr --kernel 'rbf(ell=1!)' --estimate folds:5 -o plain.gram --json --quiet
good
sed 's/.*"estimate": {\([^}]*\)}.*/\1/' out >b
cut -c1-40 a >a1
cut -c1-40 b >b1
cmp -s a1 b1 || wrong 'the estimates of the same kernel should be equal'

# with the columns of the support only, which info lists
run fit --gram K.csv train.csv --target c --method svm --C 1 -o svm.gram --quiet
good
run info svm.gram
good
prints 'given matrix' 'of 70 rows; predictions take the kernel of new rows with them, or with these'
run info svm.gram --json
prints '"gram": {"rows": 70, "needed": ['
columns=$(sed 's/.*"needed": \[\([^]]*\)\].*/\1/; s/ //g' out)
cut -d, -f"$columns" new.csv >few.csv
run predict svm.gram --gram few.csv test.csv -o a.csv --quiet
good
run predict svm.gram --gram new.csv test.csv -o b.csv --quiet
good
cmp -s a.csv b.csv || wrong 'the columns of the support should be enough'
cut -d, -f1-2 new.csv >two.csv
run predict svm.gram --gram two.csv
bad 3 'two.csv: 2 columns; the model was fitted to 70 rows and needs'
run predict svm.gram test.csv
bad 2 'test.csv: the model was fitted to a given matrix' '--gram K.npy'
run predict svm.gram
bad 2 'DATA is missing'
run predict plain.gram test.csv --gram new.csv
bad 2 '--gram is for models of a given matrix, which plain.gram is not'

# deviations need the kernel of new rows with themselves
run fit --gram K.csv train.csv --target y --method gp --kernel '2*given' --noise 0.01 -o gp.gram --quiet
good
run predict gp.gram --gram new.csv --std
bad 3 'entries of new rows with themselves and with each other are needed'
run predict gp.gram --gram wide.csv --std -o a.csv --quiet
good
paste -d, new.csv - <<EOF >alone.csv
$(for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo 1; done)
EOF
run predict gp.gram --gram alone.csv --std -o b.csv --quiet
good
cmp -s a.csv b.csv || wrong 'one more column should be as good as one for each new row'

# LIBSVM's precomputed format
LC_ALL=C awk -F, 'NR == FNR { y[NR - 1] = $4; next } { printf "%d 0:%d", (y[FNR] == "high" ? 1 : -1), FNR; for (j = 1; j <= NF; j++) printf " %d:%s", j, $j; print "" }' \
    train.csv K.csv >pre.svm
LC_ALL=C awk -F, 'NR == FNR { y[NR - 1] = $4; next } { printf "%d 0:%d", (y[FNR] == "high" ? 1 : -1), FNR; for (j = 1; j <= NF; j++) printf " %d:%s", j, $j; print "" }' \
    test.csv new.csv >pret.svm
run fit pre.svm --method svm --C 1 -o pre.gram --json --quiet
good
prints '"kernel": "given()"' '"n": 70'
objective=$(sed 's/.*"objective": \([^,]*\),.*/\1/' out)
run fit train.csv --target c --features a,b --no-scale --method svm --C 1 --kernel 'rbf(ell=1)' -o plain.gram --json --quiet
good
echo "$objective $(sed 's/.*"objective": \([^,]*\),.*/\1/' out)" | LC_ALL=C awk '{ d = $1 - $2; exit !(d * d < 1e-4) }' ||
    wrong "the objectives should be equal: $objective"
run predict pre.gram pret.svm --json
good
prints '"scored": 20'
# some of the rows, which keep their numbers
sed -n '1~2p' pre.svm >half.svm
run fit half.svm --method svm --C 1 -o half.gram --quiet
good
run predict half.gram pret.svm --json
good
sed '5s/ 0:5 / /' pre.svm >bad.svm
run fit bad.svm -o m.gram
bad 3 'bad.svm:5: no number of the row, 0:i'
sed '5s/ 0:5 / 0:99 /' pre.svm >bad.svm
run fit bad.svm -o m.gram
bad 3 "bad.svm:5: '0:99': the number of the row must be one of the 70 columns"
sed '5s/ 0:5 / 0:4.5 /' pre.svm >bad.svm
run fit bad.svm -o m.gram
bad 3 "bad.svm:5: indices count from 1; 0:i, first on every line"

# what is wrong with a matrix
LC_ALL=C awk -F, -v OFS=, 'NR == 4 { $8 += 0.1 } { print }' K.csv >bad.csv
run fit --gram bad.csv train.csv --target y -o m.gram
bad 3 'bad.csv: not symmetric: row 8, column 4 is' 'but row 4, column 8 is'
LC_ALL=C awk -F, -v OFS=, 'NR == 4 { $8 = 2 } NR == 8 { $4 = 2 } { print }' K.csv >bad.csv
run fit --gram bad.csv train.csv --target y -o m.gram
bad 4 'bad.csv: not positive semi-definite: rows 4 and 8 have the entry 2'
LC_ALL=C awk -F, -v OFS=, '{ $NR -= 0.0003; print }' K.csv >bad.csv
run fit --gram bad.csv train.csv --target y -o m.gram
bad 4 'bad.csv: not positive semi-definite' 'the least eigenvalue is -0.000' 'to the diagonal'
LC_ALL=C awk -F, -v OFS=, 'NR == 4 { $8 = "nan" } { print }' K.csv >bad.csv
run fit --gram bad.csv train.csv --target y -o m.gram
bad 3 'bad.csv:4: column' 'missing value'
run fit --gram new.csv train.csv --target y -o m.gram
bad 3 'new.csv: 20 rows of 70 numbers'
run fit --gram K.csv test.csv --target y -o m.gram
bad 3 'K.csv has 70 rows, test.csv 20'
run fit --gram K.csv train.csv --target y --kernel rbf -o m.gram
bad 2 'rbf does not take rows of a given matrix'
run fit train.csv --target y --features a --kernel given -o m.gram
bad 2 'given does not take numbers'
run fit --gram K.csv train.csv --target y --method spline -o m.gram
bad 2 'takes numbers only'

# beside other columns, when they are asked for
run fit --gram K.csv train.csv --target y --features gram,a --method krr --kernel 'on(1, given) + on(2, rbf)' -o both.gram --quiet
good
run predict both.gram test.csv --gram new.csv --json
prints '"scored": 20'

# other verbs
run kernel given K.csv --check
good
prints 'positive semidef.   yes'
run pca train.csv --gram K.csv -k 2 --model p.gram -o a.csv --quiet
good
run predict p.gram --gram K.csv -o b.csv --quiet
good
near a.csv b.csv
run cluster train.csv --gram K.csv -k 3 -o a.csv --quiet
good
run mercer given train.csv --gram K.csv -k 3 --quiet
good
run cca train.csv --gram K.csv --x gram --y y --kernel-x given -k 1 --quiet
good
run thin train.csv --gram K.csv -m 5
good
if [ "$(head -n 1 out)" != 'row,a,b,y,c' ] || [ "$(wc -l <out)" != 6 ]; then wrong 'should print five rows with their numbers'; fi
run test two-sample train.csv test.csv --gram big.csv
good
prints 'given()'
run test two-sample train.csv test.csv --gram K.csv
bad 3 'K.csv has 70 rows; train.csv and test.csv have 70 and 20'
run test independence train.csv --gram K.csv --x gram --y y --kernel-x given --json
good
prints '"reject": true'
