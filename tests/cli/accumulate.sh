# gram accumulate, gram merge, and fits in passes
. "$SOURCE/tests/cli/helper"

KERNEL='--kernel rbf(ell=1.5) --tune none'

LC_ALL=C awk 'BEGIN { print "a,b,colour,y"; for (i = 0; i < 3000; i++) { a = i * 0.618034 % 1; b = i * 0.414214 % 1
    c = i % 3 ? "red" : "blue"; printf "%.6f,%.6f,%s,%.6f\n", a, b, c, sin(6 * a) + b * b + (c == "red") + (i * 7 % 11 - 5) / 100 } }' >all.csv
head -n 1 all.csv >part1.csv && sed -n 2,900p all.csv >>part1.csv
head -n 1 all.csv >part2.csv && sed -n '901,$p' all.csv >>part2.csv

run accumulate all.csv --plan --quiet $KERNEL --solver nystrom:60 -o plan.sums
good
prints "sums of             0 rows" 'features; `gram merge` makes a model'
run accumulate part1.csv --like plan.sums -o 1.sums
good
prints "sums of             899 rows"
run accumulate part2.csv --like plan.sums -o 2.sums
good
run merge 1.sums 2.sums -o merged.gram
good
prints "nystrom, f64, rank" "in passes" "R2 0.99"
run fit all.csv --stream --quiet $KERNEL --solver nystrom:60 -o whole.gram
good
for model in merged whole; do
    run predict $model.gram all.csv -o $model.csv
    good
done
# the same predictions to ten digits
paste -d, merged.csv whole.csv | LC_ALL=C awk -F, 'NR > 1 { d = $1 - $2; if (d < 0) d = -d; if (d > m) m = d } END { exit !(NR == 3001 && m < 1e-9) }' ||
    wrong "merged and streamed models should predict the same"
run merge 1.sums 2.sums --partial -o both.sums
good
run info both.sums --json
good
prints '"n": 3000'
run merge both.sums --lambda 1e-4 -o given.gram --json
good
prints '"lambda": 0.0001'

# a table that does not fit is read in passes, and --no-stream forbids it
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sed 1d all.csv; done | cat part1.csv - >large.csv
run fit large.csv --memory 3M --quiet --kernel 'rbf(ell=1)' --lambda 1e-6 --solver nystrom:40 -o large.gram
good
prints "60,899 rows" "in passes"
run fit large.csv --memory 3M --quiet --kernel 'rbf(ell=1)' --lambda 1e-6 --no-stream
bad 5 "budget"
run fit large.csv --memory 3M --quiet --method svm --kernel 'rbf(ell=1)' --C 1 --task regression
bad 5 "budget"

# wrong use
run accumulate part1.csv
bad 2 "nothing says where the result is to be written"
run accumulate part1.csv --like plan.sums --lambda 1 -o x.sums
bad 2 "with --like, that file decides"
run accumulate part1.csv --like plan.sums --plan -o x.sums
bad 2 "--plan makes what --like takes"
run accumulate part1.csv --like merged.gram -o x.sums
bad 2 "is not a file of sums but a model"
run accumulate part1.csv --quantile 0.5 -o x.sums
bad 2 "no option '--quantile'"
run accumulate part1.csv --solver cg -o x.sums
bad 2 "needs all rows at once"
run accumulate part1.csv --lambda 0 -o x.sums
bad 2 "lambda 0 is not for rows that are read in passes"
# a target of few whole numbers may be numbers, and every option that the help lists is taken
awk -F, 'BEGIN { OFS = "," } NR > 1 { $NF = NR % 3 } { print }' part1.csv >whole.csv
run accumulate whole.csv -o x.sums
bad 5 "needs all of its rows at once"
run accumulate whole.csv --task regression --kernel rbf --tune gcv --no-ard --no-intercept --noise 1 --no-scale --quiet -o whole.sums
good
run accumulate --help
good
if [ "$(grep -c '^  --' out)" -gt 30 ]; then wrong "should list its own options only"; fi
run merge 1.sums 1.sums -o x.gram
bad 2 "1.sums is given twice"
run accumulate part1.csv --quiet $KERNEL --solver nystrom:60 -o own.sums
good
run merge own.sums 2.sums -o x.gram
bad 2 "2.sums: its kernel, landmarks or preparation are others"
run merge plan.sums -o x.gram
bad 3 "the sums are of no rows"
run predict 1.sums all.csv
bad 2 "1.sums holds sums, not a model"
sed 's/^a,b,/a,c,/' part2.csv >other.csv
run accumulate other.csv --like plan.sums -o x.sums
bad 3 "no column 'b'"
run fit - --stream <all.csv
bad 2 "standard input can be read only once"
test ! -e x.sums && test ! -e x.gram || wrong "failures should leave no file"

# damaged sums are refused by name: cut off anywhere, or with a byte changed
size=$(wc -c <1.sums)
for share in 1 25 50 75 99; do
    head -c $((size * share / 100)) 1.sums >cut.sums
    run merge cut.sums 2.sums -o x.gram
    bad 3 'cut.sums'
    at=$((size * share / 100))
    { head -c $at 1.sums; head -c $((at + 1)) 1.sums | tail -c 1 | tr '\000-\377' '\001-\377\000'; tail -c +$((at + 2)) 1.sums; } >changed.sums
    run merge changed.sums 2.sums -o x.gram
    bad 3 'changed.sums'
done
