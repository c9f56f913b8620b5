# gram cca: variables of rows and of new ones, what it says, and what it refuses.
. "$SOURCE/tests/cli/helper"

# c = cos(3 a) and noise: no line sees it
LC_ALL=C awk 'BEGIN { srand(7); print "a,b,c,d"
    for (i = 0; i < 120; i++) { t = 2 * rand() - 1
        printf "%.9f,%.9f,%.9f,%.9f\n", t, rand(), cos(3 * t) + 0.1 * (rand() - 0.5), rand() } }' >data.csv

run cca data.csv --x a,b --y c:d -o v.csv --model m.gram --quiet
good
prints 'on 2 features and on 2 features; 120 rows' 'correlations' 'kappa' 'by left-out rows' 'p = 0.005' 'view x' 'view y'
[ "$(head -n 1 v.csv)" = 'x1,x2,y1,y2' ] || wrong 'should have a header'
[ "$(wc -l <v.csv)" = 121 ] || wrong 'should have one row for each row'
LC_ALL=C awk -F, 'NR > 1 { c += $1 * $3; a += $1^2; b += $3^2 } END { exit !(c / sqrt(a * b) > 0.9) }' v.csv ||
    wrong 'the first variables should be correlated'
run predict m.gram data.csv -o both.csv
good
cmp -s v.csv both.csv || wrong 'new rows should be where equal old ones are'
run predict m.gram data.csv --view y -o y.csv
good
cut -d, -f3,4 v.csv | cmp -s - y.csv || wrong 'one view should be that part of both'
cut -d, -f1,2 data.csv >x_only.csv
run predict m.gram x_only.csv --view x -o x.csv
good
cut -d, -f1,2 v.csv | cmp -s - x.csv || wrong 'one view needs its own columns only'
run predict m.gram x_only.csv
bad 3 "no column 'c'"
run info m.gram
good
prints 'cca, transform' 'correlations' 'Features of the second view'

run cca data.csv --x a,b --y c,d --kernel linear --kappa 0 --permutations 0 --json --quiet
good
prints '"method": "cca"' '"kappa": 0' '"correlations": [' '"rank_x": 2' '"second_features": ["c", "d"]'
grep -q p_value out && wrong 'should have no p-value'
run cca data.csv --x a --y c --kernel-x 'rbf(ell=1)' --kernel-y linear --kappa 0.01 --json --quiet
good
prints '"second_kernel": "linear(c=0)"' '"k": 1' '"p_value": ' '"kappa": 0.01'
# two files
cut -d, -f3,4 data.csv >right.csv
run cca x_only.csv right.csv --kappa 0.01 --json --quiet
good
cp out pair
run cca data.csv --x a,b --y c,d --kappa 0.01 --json --quiet
good
[ "$(grep -o '"correlations": [^]]*' pair)" = "$(grep -o '"correlations": [^]]*' out)" ] ||
    wrong 'two files should be as one'

# two files whose columns have the same names: one view at a time can be new
sed '1s/.*/a,b/' right.csv >same_names.csv
run cca x_only.csv same_names.csv --kappa 0.01 -o named.csv --model named.gram --quiet
good
[ "$(head -n 1 named.csv)" = 'x1,x2,y1,y2' ] || wrong 'should have the variables of both views'
run predict named.gram same_names.csv --view y -o named_y.csv
good
cut -d, -f3,4 named.csv | cmp -s - named_y.csv || wrong 'the second view should be found by its own columns'
for missing in '' '--missing drop'; do
    run predict named.gram x_only.csv $missing
    bad 2 'two views with columns of one name' '--view x or --view y'
done

if command -v gnuplot >/dev/null 2>&1; then
    run cca data.csv --x a,b --y c --colour d --kappa 0.01 --plot pairs.svg --quiet
    good
    grep -q 'y1' pairs.svg || wrong 'should draw x1 against y1'
    run cca x_only.csv right.csv --colour b --plot no.svg
    bad 2 '--colour is for one file'
fi

run cca data.csv
bad 2 'give --x and --y'
run cca data.csv --x a --y a
bad 2 "column 'a' is in both --x and --y"
run cca data.csv --x a --y e
bad 3 "no column 'e'"
run cca data.csv --x a --y c --kernel linear -k 2 --quiet
bad 2 '2 components are more than the 1' 'fewer'
run cca data.csv --x a --y c -k 120
bad 2 '-k 120 is more than 120 rows can have'
run cca data.csv --x a --y c --kappa -1
bad 2 "--kappa cannot be '-1'"
run cca data.csv --x a --y c --weights d
bad 2 '--weights is not for cca'
head -n 7 right.csv >short.csv
run cca x_only.csv short.csv
bad 3 '120 rows, and 6 in short.csv'
run cca short.csv --x c --y d --quiet
bad 2 '6 rows are too few to choose kappa by'
LC_ALL=C awk -F, '{ print $0 "," (NR == 1 ? "same" : 3) }' data.csv >constant.csv
run cca constant.csv --x a --y same --quiet
bad 3 'cca: view y does not vary'
printf 'a,b\n' >empty.csv
run cca empty.csv --x a --y b
bad 3 'empty.csv'
