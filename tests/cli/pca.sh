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

# how many components: two directions among six columns
LC_ALL=C awk 'BEGIN { srand(9); print "a,b,c,d,e,f"
    for (i = 0; i < 150; i++) { u = 2 * rand() - 1; v = 2 * rand() - 1
        printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", u + 0.2 * rand(), u + 0.2 * rand(), u - 0.2 * rand(), v + 0.2 * rand(), v - 0.2 * rand(), v } }' >two.csv
run pca two.csv --kernel linear -k auto --quiet --json
good
prints '"k": 2' '"significant": 2' '"permutations": 99' '"chance": ['
run pca two.csv --kernel linear -k auto --quiet
good
prints 'parallel analysis' 'shuffled tables'
# without -k, two or what there is
run pca two.csv --features a --kernel linear --json --quiet
good
prints '"k": 1'
run pca two.csv --features a --kernel linear -k 2 --quiet
bad 2 '2 components are more than the 1 that are above rounding'
printf 'a,b\n1,2\n' >one.csv
run pca one.csv --quiet
bad 3 'all rows are alike'
run pca two.csv --features a -k auto
bad 2 '-k auto shuffles columns: it needs at least two features'

# rows back from coordinates: all directions of a linear kernel are the rows themselves, fewer are a plane; in the file's units
run pca two.csv --kernel linear -k 6 --reconstruct -o back.csv --model linear.gram --quiet
good
[ "$(head -n 1 back.csv)" = 'a,b,c,d,e,f' ] || wrong 'should have the columns of the data'
paste -d, two.csv back.csv | LC_ALL=C awk -F, 'NR > 1 { for (j = 1; j <= 6; j++) if (($j - $(j + 6))^2 > 1e-20) exit 1 }' ||
    wrong 'should give the rows back'
run predict linear.gram two.csv --reconstruct
good
cmp -s out back.csv || wrong 'predict should write the same rows'
# noise about a circle shrinks
LC_ALL=C awk 'BEGIN { srand(6); print "x,y"
    for (i = 0; i < 300; i++) { a = 6.283185307 * rand(); s = 0; for (j = 0; j < 12; j++) s += rand(); r = 3 + 0.3 * (s - 6)
        printf "%.6f,%.6f\n", 10 + r * cos(a), 100 * r * sin(a) } }' >ring.csv
run pca ring.csv -k 4 --kernel 'rbf(ell=1.2)' --reconstruct -o denoised.csv --quiet
good
paste -d, ring.csv denoised.csv | LC_ALL=C awk -F, 'NR > 1 { before += (sqrt(($1 - 10)^2 + ($2 / 100)^2) - 3)^2
    after += (sqrt(($3 - 10)^2 + ($4 / 100)^2) - 3)^2 } END { exit !(after < 0.6 * before) }' || wrong 'should take noise away'
run pca ring.csv -k 1 --kernel 'matern' --reconstruct -o - --quiet
good
[ "$(head -n 1 out)" = 'x,y' ] || wrong 'should write rows to standard output'
[ "$(wc -l <out)" = 301 ] || wrong 'should have one row for each row'
run pca gaps.csv --missing drop --kernel linear -k 3 --reconstruct -o - --quiet
good
LC_ALL=C awk -F, 'NR > 1 { row[NR] = sprintf("%.9g", $1) "," $2 } END { exit !(row[2] == "1,red" && row[3] == "2,green" && row[6] == "7,blue") }' out &&
    [ "$(sed -n 4p out)" = ',' ] || wrong 'should give texts back, and leave dropped rows empty'
run pca ring.csv --reconstruct
bad 2 '--reconstruct writes rows to -o'
run pca ring.csv --kernel matern --preimage fixed-point
bad 2 '--preimage fixed-point is for the kernel rbf alone' '--preimage ridge'
run predict linear.gram two.csv --reconstruct --std
bad 2 '--std is not for a transformation'

# pictures
if command -v gnuplot >/dev/null 2>&1; then
    sed '1s/$/,ring/; 2,201s/$/,inner/; 202,$s/$/,outer/' circles.csv >rings.csv
    for what in scatter directions boxes spectrum; do
        run pca rings.csv --kernel 'rbf(width=2)' --no-scale --colour ring --show $what --plot $what.svg --quiet
        good
        prints "plot                $what.svg" 'Coordinates of the rows on 2 features'
    done
    grep -qF '>outer<' scatter.svg || wrong 'should name the groups'
    grep -qF '>pc1 is constant<' directions.svg || wrong 'should draw lines of the first coordinate'
    grep -qF '>inner<' boxes.svg || wrong 'should have a box for each group'
    run pca two.csv --kernel linear --features a,d --show directions --plot arrows.png --quiet --json
    good
    prints '"plot": "arrows.png"'
    run pca two.csv -k 3 --show space --colour a --plot space.pdf --quiet
    good
    prints 'on 5 features'
    run pca two.csv -k 3 --features a:c --colour a --plot listed.svg --quiet
    good
    prints 'on 3 features'
    run pca two.csv --show space --plot space.svg --quiet
    bad 2 'space needs three components'
    run pca two.csv --show directions --plot space.svg --quiet
    bad 2 'directions needs two features that are numbers'
    run pca two.csv --show boxes --colour a --plot space.svg --quiet
    bad 2 'boxes needs groups'
    run pca two.csv --show sculpture --plot space.svg
    bad 2 "--show cannot be 'sculpture'"
    run pca two.csv --colour z --plot space.svg
    bad 3 "no column 'z'" '--colour'
    run pca two.csv --colour a:b --plot space.svg
    bad 2 '--colour takes one column'
    [ ! -e space.svg ] || wrong 'should leave no picture behind'
fi
run pca two.csv --colour a
bad 2 '--colour is for a picture'

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
