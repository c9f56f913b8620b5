# gram pca: coordinates of rows and of new ones, what it says, and what it refuses; the two circles of docs/structure.md.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { srand(5); print "x,y"
    for (i = 0; i < 400; i++) { a = 6.283185307 * rand(); r = (i < 200 ? 1 : 4)
        s = 0; for (j = 0; j < 12; j++) s += rand(); r += 0.1 * (s - 6)
        printf "%.9f,%.9f\n", r * cos(a), r * sin(a) } }' >circles.csv

# separated FILE: a threshold on the first column tells the first 200 rows from the others, but for at most 3
separated()
{
    LC_ALL=C awk -F, 'NR > 1 { print $1, NR <= 201 ? 1 : 0 }' "$1" | LC_ALL=C sort -g |
        LC_ALL=C awk '{ c[NR] = $2; all += $2 } END { best = 0; for (i = 1; i <= NR; i++) { below += c[i]
            right = below + (NR - i) - (all - below); if (right > best) best = right; if (NR - right > best) best = NR - right }
            exit !(best >= 397) }' || wrong "$1: the first coordinate should separate the circles"
}

for centring in '' --no-centre; do
    run pca circles.csv --kernel 'rbf(width=2)' --no-scale -k 2 -o coordinates.csv --model pca.gram --quiet $centring
    good
    prints 'components' 'eigenvalues' 'explained' 'solver'
    [ "$(head -n 1 coordinates.csv)" = 'pc1,pc2' ] || wrong 'should have a header'
    [ "$(wc -l <coordinates.csv)" = 401 ] || wrong 'should have one row for each row'
    separated coordinates.csv
    # the rows again, as new ones
    run predict pca.gram circles.csv -o again.csv
    good
    paste -d, coordinates.csv again.csv | LC_ALL=C awk -F, 'NR == 1 { exit !($1 == $3 && $2 == $4) }
        { if (($1 - $3)^2 + ($2 - $4)^2 > 1e-20) exit 1 }' || wrong 'new rows should be where equal old ones are'
done

run info pca.gram
good
prints 'pca, transform on 2 features' 'of K, not centred'
run pca circles.csv --kernel 'rbf(width=2)' --no-scale -k 2 --json --quiet -o c.csv --model m.gram
good
prints '"method": "pca"' '"task": "transform"' '"k": 2' '"eigenvalues": [' '"variances": [' '"explained": [' '"out": "c.csv"' \
    '"model": "m.gram"' '"targets": []' '"features": ["x", "y"]'
run pca circles.csv -k 1 -o - --quiet
good
[ "$(head -n 1 out)" = 'pc1' ] || wrong 'should write the coordinates to standard output'

# rows that are dropped stay in their place; text becomes categories
printf 'x,colour\n1,red\n2,green\nNA,red\n4,green\n7,blue\n' >gaps.csv
run pca gaps.csv --missing drop -o - -k 2 --quiet
good
[ "$(sed -n 4p out)" = ',' ] || wrong 'should leave the row without coordinates'
[ "$(wc -l <out)" = 6 ] || wrong 'should have one row for each row'

# the learner's other ways
run fit circles.csv --method pca -o fitted.gram --quiet
good
prints 'Coordinates of the rows on 2 features'
run predict fitted.gram circles.csv --std
bad 2 '--std is not for a transformation'

run help pca
good
prints '-k, --k K' '--no-centre' '--model FILE' 'write the coordinates of the rows to FILE'
run help
good
prints '  pca  '

run pca circles.csv --kernel linear -k 3 --quiet
bad 2 '3 components are more than the 2 that are above rounding' 'fewer'
run pca circles.csv -k 401
bad 2 '-k 401 is more than the 400 rows'
run pca circles.csv --kernel 'const(2)' --quiet
bad 3 'all rows are alike'
run pca circles.csv -k 0
bad 2 "--k cannot be '0'"
run pca circles.csv --solver markov
bad 2 '--solver markov is of gp, not of pca'
run pca circles.csv --weights x
bad 2 '--weights is not for pca'
run pca circles.csv --lambda 1
bad 2 "no option '--lambda'"
run pca circles.csv --model -
bad 2 'a model cannot be written to standard output'
run pca circles.csv -o - --json
bad 2 '--json and rows both on standard output'
run pca gaps.csv
bad 3 "column 'x'" '--missing'
printf 'x,y\n' >empty.csv
run pca empty.csv
bad 3 'empty.csv'
run pca missing.csv
bad 3 'missing.csv'
run pca
bad 2 'pca'
run fit circles.csv --method pca --target y
bad 2 '--target is not for pca'
run pac circles.csv
bad 2 "did you mean 'pca'"
