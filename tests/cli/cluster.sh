# gram cluster: labels of rows and of new ones, what it says, and what it refuses; the two circles of docs/structure.md.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { srand(5); print "x,y"
    for (i = 0; i < 300; i++) { a = 6.283185307 * rand(); r = (i < 200 ? 4 : 1)
        s = 0; for (j = 0; j < 12; j++) s += rand(); r += 0.1 * (s - 6)
        printf "%.9f,%.9f\n", r * cos(a), r * sin(a) } }' >circles.csv
LC_ALL=C awk 'BEGIN { srand(7); print "a,b,w"
    for (i = 0; i < 90; i++) printf "%.6f,%.6f,%d\n", 10 * (i % 3) + rand(), 7 * (i % 3 == 1) + rand(), 1 + i % 2 }' >blobs.csv

run cluster circles.csv -k 2 --method spectral --kernel 'rbf(ell=0.5)' --no-scale -o labels.csv --model rings.gram --quiet
good
prints 'clusters            2' 'sizes             200, 100' 'silhouette'
[ "$(head -n 1 labels.csv)" = label ] || wrong 'should have a header'
LC_ALL=C awk 'NR > 1 && $1 != (NR <= 201 ? 1 : 2) { exit 1 }' labels.csv || wrong 'should tell the circles apart'
run predict rings.gram circles.csv -o again.csv
good
cmp -s labels.csv again.csv || wrong 'should give the rows their labels again'
run info rings.gram
good
prints 'spectral, cluster on 2 features'

run cluster blobs.csv --ignore w -k auto --json --quiet -o labels.csv
good
prints '"method": "kmeans"' '"task": "cluster"' '"k": 3' '"sizes": [30, 30, 30]' '"score": 0.' '"converged": 1' '"out": "labels.csv"'
LC_ALL=C awk 'NR > 1 { l[(NR - 2) % 3] = l[(NR - 2) % 3] $1 } END { for (i = 0; i < 3; i++) if (l[i] !~ /^(1+|2+|3+)$/) exit 1 }' \
    labels.csv || wrong 'should find the blobs'
run cluster blobs.csv --weights w -k 3 --kernel linear --json --quiet
good
prints '"sizes": [45, 45, 45]'

if command -v gnuplot >/dev/null 2>&1; then
    run cluster circles.csv -k 2 --method spectral --kernel 'rbf(ell=0.5)' --no-scale --plot map.svg --quiet
    good
    prints 'plot                map.svg'
    grep -qF '>cluster 2<' map.svg || wrong 'should name the clusters'
    run cluster blobs.csv -k 3 --colour w --features a,b,w --plot other.png --quiet
    good
    prints 'plot                other.png' 'on 3 features'
fi

# refusals
printf 'x,y\n' >empty.csv
run cluster empty.csv
bad 3 'empty.csv'
run cluster blobs.csv -k 2 --kernel 'const(1)' --quiet
bad 3 'fewer points than the 2 clusters differ'
run cluster blobs.csv -k 1 --quiet
good
run cluster blobs.csv -k 2 --show map --plot x.svg
bad 2 "no option '--show'"
run cluster blobs.csv -k 91
bad 2 '-k 91 is more than the 90 rows'
run cluster blobs.csv --method ward
bad 2 "--method cannot be 'ward'"
run cluster blobs.csv --target a
bad 2 '--target'
printf 'x\n1\n1\n2\n' >few.csv
run cluster few.csv -k 3 --quiet
bad 3 'fewer points than the 3 clusters differ'
run cluster few.csv -k 2 --method spectral --kernel linear --quiet
bad 3 'spectral clustering needs a sum above 0'
run predict rings.gram circles.csv --std
bad 2 '--std'
run fit blobs.csv --method kmeans --nu 0.5
bad 2 '--nu is an option of svm'
