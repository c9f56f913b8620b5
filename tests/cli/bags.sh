# Points that are bags of rows, or graphs.
. "$SOURCE/tests/cli/helper"

# Samples of 15 pairs with a correlation of their own, which is the target; `class` is its sign.
LC_ALL=C awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand()) }
BEGIN {
    srand(5)
    print "sample,u,v,r,class" >"train.csv"
    print "sample,u,v,r,class" >"test.csv"
    for (b = 0; b < 110; b++) {
        r = 1.8 * rand() - 0.9
        for (k = 0; k < 15; k++) {
            u = normal(); v = r * u + sqrt(1 - r * r) * normal()
            row[k] = sprintf("s%d,%.4f,%.4f,%.4f,%s", b, u, v, r, r < 0 ? "down" : "up")
            print row[k] >(b < 70 ? "train.csv" : "test.csv")
        }
    }
}'
run fit train.csv --bag sample --target r --ignore class --method krr -o m.gram
if [ "$code" != 0 ]; then wrong "should succeed"; fi
prints '70 bags' 'after(mean(rbf(ell='
run predict m.gram test.csv -o p.csv --json
prints '"n": 40'
sed -n 's/.*"r2": \([-0-9.e]*\).*/\1/p' out | LC_ALL=C awk '{ exit !($1 > 0.6) }' || wrong 'the correlation should be found'
if [ "$(head -n 1 p.csv)" != 'sample,mean' ] || [ "$(wc -l <p.csv)" != 41 ]; then wrong 'one row for each bag'; fi
if [ "$(sed -n 2p p.csv | cut -d, -f1)" != s70 ]; then wrong 'bags come in the order of their first rows'; fi
run info m.gram
good
# Rows of a bag may lie anywhere, and the bags of a prediction in any order.
{ head -n 1 test.csv; tail -n +2 test.csv | sort -t, -k2,2; } >mixed.csv
run predict m.gram mixed.csv -o q.csv --quiet
good
sort p.csv >p.sorted; sort q.csv >q.sorted
join -t, p.sorted q.sorted | LC_ALL=C awk -F, '$1 != "sample" { n++; d = $2 - $3; if (d < -1e-9 || d > 1e-9) exit 1 } END { if (n != 40) exit 1 }' ||
    wrong 'the order of rows should not matter'

# shellcheck disable=SC2086 # the way is a list of words
for way in '--method svm --C 10' '--method logistic --lambda 0.001' '--method gp'; do
    run fit train.csv --bag sample --target class --ignore r $way --kernel 'after(mean(rbf(ell=1), fourier=50), rbf(ell=0.3))' -o c.gram --quiet
    if [ "$code" != 0 ]; then wrong "should succeed"; fi
    run predict c.gram test.csv -o p.csv --json
    sed -n 's/.*"accuracy": \([-0-9.e]*\).*/\1/p' out | LC_ALL=C awk '{ exit !($1 > 0.7) }' || wrong "the sign should be found by $way"
done
run fit train.csv --bag sample --target r --ignore class --loss huber --lambda 0.01 --kernel 'after(mean(rbf(ell=1)), rbf(ell=0.3))' -o h.gram --quiet
good
run pca train.csv --bag sample --ignore r,class -k 2 -o coords.csv --quiet
good
if [ "$(wc -l <coords.csv)" != 71 ]; then wrong 'one row of coordinates for each bag'; fi
run kernel 'mean(rbf)' train.csv --bag sample --ignore r,class --check
good
prints 'positive semidef.   yes' 'symmetric           yes, bit for bit' '70 x 70'
run kernel 'after(linear(c=0!), rbf(ell=1))' train.csv --features u,v --check
good
prints 'positive semidef.   yes'

# Are two sets of samples drawn in the same way? Correlations of one sign and of the other are not; halves of one set are.
for half in down up; do { head -n 1 train.csv; grep ",$half" train.csv; } >$half.csv; done
run test two-sample down.csv up.csv --bag sample --ignore r,class --json
prints '"reject": true' 'after(mean(rbf('
{ head -n 1 train.csv; grep -E '^s[0-9]*[02468],' train.csv; } >even.csv
{ head -n 1 train.csv; grep -E '^s[0-9]*[13579],' train.csv; } >odd.csv
run test two-sample even.csv odd.csv --bag sample --ignore r,class --kernel 'after(mean(rbf, fourier=50), rbf)' --json
prints '"reject": false'

printf 'id,x,y\na,1,1\nb,2,2\na,3,1.5\n' >bad.csv
run fit bad.csv --bag id -o m.gram
bad 3 "bad.csv:4: column 'y': 1.5 in bag 'a', which has 1 at bad.csv:2"
printf 'id,x,y\na,1,1\n,2,2\n' >bad.csv
run fit bad.csv --bag id -o m.gram
bad 3 "bad.csv:3: column 'id': a missing value in the column of bags"
# Rows with weights. Rows whose weight is 0 might as well not be there, and one of weight 2 is there twice: in the fit, and in a prediction of the model.
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : NR % 3 }' train.csv >weighted.csv
awk -F, 'NR == 1 { print; next } { for (k = 0; k < NR % 3; k++) print }' train.csv >repeated.csv
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : NR % 4 }' test.csv >weighted-test.csv
awk -F, 'NR == 1 { print; next } { for (k = 0; k < NR % 4; k++) print }' test.csv >repeated-test.csv
for kernel in 'after(mean(rbf(ell=1)), rbf(ell=0.3))' 'after(mean(rbf(ell=1), fourier=50), rbf(ell=0.3))'; do
    run fit weighted.csv --bag sample --bag-weights w --target r --ignore class --method krr --kernel "$kernel" --lambda 0.001 --no-scale -o w.gram --quiet
    good
    run fit repeated.csv --bag sample --target r --ignore class --method krr --kernel "$kernel" --lambda 0.001 --no-scale -o m.gram --quiet
    good
    run predict w.gram weighted-test.csv -o p.csv --quiet
    good
    run predict m.gram repeated-test.csv -o q.csv --quiet
    good
    paste -d, p.csv q.csv | LC_ALL=C awk -F, 'NR > 1 { d = $2 - $4; if ($1 != $3 || d < -1e-8 || d > 1e-8) exit 1 } END { if (NR != 41) exit 1 }' ||
        wrong 'a weight of 2 should be a row that is there twice'
    run predict m.gram test.csv -o q.csv --quiet
    if cmp -s p.csv q.csv; then wrong 'weights should change predictions'; fi
done
run info w.gram
prints 'bags                rows that agree in sample, by the weights in w'
run info w.gram --json
prints '"bag": "sample"' '"bag_weights": "w"'
run predict w.gram test.csv
bad 3 "test.csv" "column 'w'"
run kernel 'mean(rbf)' weighted.csv --bag sample --bag-weights w --ignore r,class --check
good
prints 'positive semidef.   yes' 'symmetric           yes, bit for bit'
run pca weighted.csv --bag sample --bag-weights w --ignore r,class -k 2 -o coords.csv --quiet
good
if [ "$(wc -l <coords.csv)" != 71 ]; then wrong 'one row of coordinates for each bag'; fi
run cv weighted.csv --bag sample --bag-weights w --target r --ignore class --folds 3 --method krr --kernel 'after(mean(rbf(ell=1)), rbf(ell=0.3))' --lambda 0.001 --quiet
good
run test two-sample weighted.csv weighted-test.csv --bag sample --bag-weights w --ignore r,class --json
prints '"reject": false'
printf 'id,x,w,y\na,1,1,1\nb,2,-2,2\nb,3,1,2\n' >bad.csv
run fit bad.csv --bag id --bag-weights w -o m.gram
bad 3 "bad.csv:3: column 'w': a weight below 0: -2"
run predict w.gram bad.csv
bad 3 "column 'u'"
printf 'id,x,w,y\na,1,1,1\nb,2,,2\nb,3,1,2\n' >bad.csv
run fit bad.csv --bag id --bag-weights w --missing mean -o m.gram
bad 3 "bad.csv:3: column 'w': missing value"
printf 'id,x,w,y\na,1,1,1\nb,2,0,2\nb,3,0,2\n' >bad.csv
run fit bad.csv --bag id --bag-weights w -o m.gram
bad 3 "bad.csv:3: column 'w': the weights in bag 'b', which begins here, are all 0"
printf 'id,x,w,y\na,1,1,1\nb,2,much,2\nb,3,little,2\n' >bad.csv
run fit bad.csv --bag id --bag-weights w -o m.gram
bad 3 "bad.csv: column 'w': weights cannot be text"
run fit bad.csv --bag-weights w -o m.gram
if [ "$code" = 0 ]; then wrong 'weights in bags need bags'; fi
# Bags of one row are rows.
printf 'id,x,y\n1,1,1\n2,2,4\n3,3,9\n4,4,16\n' >single.csv
run fit single.csv --bag id --method krr --kernel 'after(mean(rbf(ell=1)), rbf(ell=1))' --lambda 0.001 -o m.gram --quiet
good
run predict m.gram single.csv
prints 'id,mean' '1,'
run predict m.gram train.csv
bad 3 "column 'x'"
run fit train.csv --bag nothing -o m.gram
bad 3 'nothing'
run fit train.csv --bag sample --target r --ignore class --kernel rbf -o m.gram
bad 2 'rbf does not take bags'
run fit train.csv --bag sample --target r --ignore class --kernel 'mean(linear, fourier=9)' -o m.gram
if [ "$code" = 0 ]; then wrong 'linear has no frequencies'; fi
run fit single.csv --kernel 'mean(rbf)' --features x --lambda 1 -o m.gram
bad 2 'mean takes bags'
run kernel 'after(rbf, wendland)'
bad 2 'wendland'

# ---- graphs: rings and stars with one of two labels in the middle ----

LC_ALL=C awk 'BEGIN {
    srand(3)
    print "molecule,kind" >"graphs.csv"
    for (i = 0; i < 60; i++) {
        n = 4 + int(4 * rand()); ring = rand() < 0.5; text = "n0:N"
        for (k = 1; k < n; k++) text = text " n" k ":" (rand() < 0.5 ? "C" : "O")
        for (k = 1; k < n; k++) text = text " n" k "-n" (ring ? k - 1 : 0)
        if (ring) text = text " n0-n" (n - 1)
        print text "," (ring ? "ring" : "star") >"graphs.csv"
    }
}'
for kernel in 'wl' 'wl(h=1)' 'paths'; do
    run fit graphs.csv --graph molecule --method svm --kernel "$kernel" --C 10 -o g.gram --quiet
    if [ "$code" != 0 ]; then wrong "should succeed"; fi
    printf 'molecule\na-b b-c c-d d-e e-a; a:N b:C c:O d:C e:C\na:N b:C c:C d:O e:C a-b a-c a-d a-e\n' >new.csv
    run predict g.gram new.csv
    if [ "$(tr '\n' ' ' <out)" != 'label ring star ' ]; then wrong "a ring and a star by $kernel"; fi
done
run kernel 'wl + paths' graphs.csv --graph molecule --features molecule --check
good
prints 'positive semidef.   yes' 'symmetric           yes, bit for bit'
printf 'molecule,kind\na-b,ring\na-b b-c; a:C b:O,star\n' >bad.csv
run fit bad.csv --graph molecule --kernel wl -o g.gram
bad 3 "bad.csv:3: column 'molecule': not a graph: 'c': this node has no label"
printf 'molecule\na-b-c\n' >bad.csv
run predict g.gram bad.csv
if [ "$code" != 3 ]; then wrong 'should exit with 3'; fi

# ---- series: up and then down, or down and then up, of any length ----

LC_ALL=C awk 'BEGIN {
    srand(9)
    print "path,kind" >"series.csv"
    for (i = 0; i < 40; i++) {
        n = 5 + int(5 * rand()); up = rand() < 0.5; text = ""
        for (k = 0; k <= 2 * n; k++) {
            x = (k < n ? k : 2 * n - k) / n
            text = text (k ? " " : "") sprintf("%.3f", (up ? x : -x) + 0.1 * rand())
        }
        print text "," (up ? "hill" : "valley") >"series.csv"
    }
}'
run fit series.csv --text path --method svm --kernel signature --C 10 -o s.gram --quiet
if [ "$code" != 0 ]; then wrong "should succeed"; fi
printf 'path\n0 1 0\n0 -0.5 -1 -0.4 0\n' >new.csv
run predict s.gram new.csv
if [ "$(tr '\n' ' ' <out)" != 'label hill valley ' ]; then wrong 'a hill and a valley'; fi
printf 'path,kind\n0 1 0,hill\n0 one 0,valley\n' >bad.csv
run fit bad.csv --text path --kernel signature --method svm --C 1 -o s.gram --quiet
bad 3 "not a series: 'one 0': not a finite number"
