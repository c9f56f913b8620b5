# gram predict: columns by name, scores, streaming, what is refused.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "a,b,kind,y"
    for (i = 0; i < 80; i++) printf "%g,%g,%s,%.6f\n", i / 8, i * 37 % 11, i % 2 ? "odd" : "even", sin(i / 8) + i % 2 }' >train.csv
run fit train.csv --kernel 'rbf(ell=1)' --noise 0.01 -o m.gram --quiet
good

# one row per row, a header, shortest digits, scores on standard error
run predict m.gram train.csv
[ "$code" = 0 ] || wrong 'should succeed'
[ "$(head -n 1 out)" = mean ] || wrong 'should have the header mean'
[ "$(wc -l <out)" = 81 ] || wrong 'should have one row per row'
grep -Eq '^scores +rmse 0\.0[0-9]*, mae 0\.0[0-9]*, R2 0\.9' err || wrong 'should tell the scores'
cp out want
run predict m.gram train.csv --quiet
good
cmp out want || wrong 'should print the same'

# columns permuted, more of them, no target
awk -F, '{ print $3 "," NR "," $2 "," $1 }' train.csv | sed '1s/,1,/,more,/' >permuted.csv
run predict m.gram permuted.csv
good
cmp out want || wrong 'should find the columns by name'
run predict m.gram - <permuted.csv
good
cmp out want || wrong 'should read standard input'
run predict m.gram permuted.csv -o p.csv
good
prints 'rows                80' 'p.csv'
cmp p.csv want || wrong 'should write the same'
cut -d, -f1,3 train.csv >lacking.csv
run predict m.gram lacking.csv
bad 3 "lacking.csv" "'b'"
printf 'a,b,kind\n1,2,odd\n1,x,odd\n' >bad.csv
run predict m.gram bad.csv
bad 3 "bad.csv:3: column 'b'"

# a level that was not seen
printf 'a,b,kind\n1,2,neither\n' >unseen.csv
run predict m.gram unseen.csv
good

# rows that lack something
printf 'a,b,kind,y\n1,2,odd,1\n,2,odd,1\n3,2,odd,1\n' >holes.csv
run predict m.gram holes.csv
bad 3 'holes.csv:3:'
run predict m.gram holes.csv --missing drop --quiet
good
[ "$(sed -n 3p out)" = '""' ] || wrong 'should leave the field empty'
[ "$(wc -l <out)" = 4 ] || wrong 'should keep the order'
run predict m.gram holes.csv --missing drop --json
good
prints '"rows": 3' '"n": 2' '"scored": 2' '"rmse": ' '"mae": ' '"r2": null'
run predict m.gram holes.csv --missing mean --quiet
good

# JSON: the scores alone; with -o both
run predict m.gram train.csv --json
good
[ "$(wc -l <out)" = 1 ] || wrong 'should be one line'
prints '"n": 80' '"rmse": 0.0' '"mae": 0.0' '"r2": 0.9' '"seconds": ' '"peak_bytes": '
run predict m.gram train.csv --json -o p2.csv
good
prints '"predictions": "p2.csv"'
cmp p2.csv want || wrong 'should write the same'
run predict m.gram permuted.csv --json
good
! grep -q rmse out || wrong 'should have no scores without the target'

# several targets
LC_ALL=C awk 'BEGIN { print "x,\"u,1\",v"; for (i = 0; i < 40; i++) printf "%g,%g,%g\n", i / 4, sin(i / 4), i }' >two.csv
run fit two.csv --target 2,v --kernel 'rbf(ell=0.3)' --noise 1e-6 -o two.gram --quiet
good
run predict two.gram two.csv --quiet
good
[ "$(head -n 1 out)" = '"mean_u,1",mean_v' ] || wrong 'should name the targets'
sed 1d out >f
sed 1d two.csv | paste -d, f - | LC_ALL=C awk -F, '
    { d = $1 - $4; e = $2 - $5 } d * d > 1e-6 || e * e > 1e-4 { print; bad = 1 } END { exit bad }' || wrong 'should be near'

# other methods' options, and files that are no models
for option in --std --prob --interval=0.9; do
    run predict m.gram train.csv "$option"
    bad 2 "${option%=*} is not for a model of the method krr"
done
run predict nowhere.gram train.csv
bad 3 'nowhere.gram' 'gram fit'
run predict train.csv train.csv
bad 3 'train.csv' 'gram fit'
head -c 1000 m.gram >cut.gram
run predict cut.gram train.csv
bad 3 'cut.gram'
run predict m.gram
bad 2 'DATA is missing'
run predict m.gram train.csv -o nowhere/p.csv
bad 5 'nowhere/p.csv: cannot be written'
run predict - train.csv
bad 2 'standard input'

# a model over a failure: the old predictions stay
printf old >p.csv
run predict m.gram bad.csv -o p.csv
bad 3 'bad.csv:3:'
[ "$(cat p.csv)" = old ] || wrong 'should keep the old file'
[ -z "$(ls | grep '~$')" ] || wrong 'should leave nothing aside'

# memory does not grow with the rows
LC_ALL=C awk 'BEGIN { print "a,b,kind"; for (i = 0; i < 200000; i++) print i % 97 / 8 "," i % 11 ",odd" }' >long.csv
run predict m.gram long.csv -o p.csv --memory 8M --json
good
prints '"n": 200000'
[ "$(wc -l <p.csv)" = 200001 ] || wrong 'should have one row per row'

# a reader that goes away
{
    code=0
    "$GRAM" predict m.gram long.csv 2>err || code=$?
    echo "$code" >code
} | head -n 3 >out
[ "$(cat code)" = 0 ] || wrong 'a reader that goes away is no failure'
[ "$(wc -l <out)" = 3 ] || wrong 'should print'

# nlpd and coverage are of new observations, asked for or not, and with --latent too; without the target there are none
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%g,%.4f\n", i / 10, sin(i / 10) + (i * 37 % 11) / 30 }' >wave.csv
run fit wave.csv --method gp --kernel 'rbf(ell=1)' --noise 0.02 --quiet -o wave.gram
good
run predict wave.gram wave.csv --std --json
good
sed 's/,/\n/g' out | grep -e nlpd -e coverage >wanted
[ "$(wc -l <wanted)" = 2 ] || wrong 'should have nlpd and coverage'
for how in '' --latent '--std --latent' '--interval 0.95' '--interval 0.95 --latent'; do
    run predict wave.gram wave.csv $how --json
    good
    sed 's/,/\n/g' out | grep -e nlpd -e coverage >found
    cmp -s wanted found || wrong 'should say the same of new observations'
done
run predict wave.gram wave.csv
[ "$code" = 0 ] || wrong 'should succeed'
head -n 1 out | grep -qx mean || wrong 'should show the mean alone'
cut -d, -f1 wave.csv >places.csv
cp out means
run predict wave.gram places.csv --json
good
if grep -q nlpd out; then wrong 'should have no scores'; fi
run predict wave.gram places.csv
good
cmp -s out means || wrong 'should predict the same without the target'

# columns to copy, dates, decimal commas, texts that mean a missing value
printf 'id;day;x;y\nr1;2024-01-05;1,5;2\nr2;2024-01-06;2,5;3,5\nr3;2024-01-07;unknown;4\nr4;2024-02-01;4;5\nr5;2024-02-03;1;3\nr6;2024-02-04;2;2,5\n' >quirks.csv
run fit quirks.csv --ignore id --task regression --kernel 'rbf(ell=1)' --noise 0.1 -o m.gram
bad 3 "quirks.csv:4: column 'x': 'unknown'" "--na 'unknown'"
run fit quirks.csv --ignore id --na unknown --missing drop --task regression --kernel 'rbf(ell=1)' --noise 0.1 -o m.gram
grep -q 'dates (in days); 5 rows, 1 dropped' out || wrong 'should say that there are dates'
printf 'day,x,id\n2024-01-05,1.5,"a,b"\n2024-01-06,unknown,c\n' >new.csv
run predict m.gram new.csv --keep id
good
grep -q '^"a,b",2\.' out || wrong 'should copy the column'
[ "$(tail -1 out)" = 'c,""' ] || wrong 'a row without a prediction should keep its columns'
run predict m.gram new.csv --keep name
bad 3 "no column 'name'"
printf 'day,x\n5,1\n' >new.csv
run predict m.gram new.csv
bad 3 "new.csv:2: column 'day': not a date"
