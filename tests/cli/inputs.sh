# Inputs beyond rows of numbers: sparse rows.
. "$SOURCE/tests/cli/helper"

# The same numbers as LIBSVM's text and as CSV: 150 rows of 90 columns, 6 of which are not 0 in each row.
LC_ALL=C awk 'BEGIN {
    srand(7)
    for (l = 1; l <= 90; l++) printf "x%d,", l >"dense.csv"
    print "y" >"dense.csv"
    for (i = 0; i < 150; i++) {
        split("", v)
        for (k = 0; k < 6; k++) v[1 + int(90 * rand())] = int(1000 * rand() + 1) / 1000
        y = 2 * v[3] - v[7] + v[11] + int(100 * rand()) / 1000
        printf "%s", y >"sparse.svm"
        for (l = 1; l <= 90; l++) {
            if (l in v && v[l] != 0) printf " %d:%s", l, v[l] >"sparse.svm"
            printf "%s,", (l in v ? v[l] + 0 : 0) >"dense.csv"
        }
        if (i == 0 && !(90 in v)) printf " 90:0" >"sparse.svm"
        printf "\n" >"sparse.svm"
        print y >"dense.csv"
    }
}'

# near A B: the same numbers to 1e-8
near()
{
    paste -d, "$1" "$2" | LC_ALL=C awk -F, 'NR > 1 { d = $1 - $2; if (d < -1e-8 || d > 1e-8) exit 1 }' || wrong "$1 and $2 differ"
}

for way in '--method krr --kernel rbf(ell=2) --lambda 0.01' '--method gp --kernel 2*rbf(ell=2)+linear --noise 0.1' \
    '--method krr --kernel laplace1(ell=3) --loss huber --lambda 0.01'; do
    # shellcheck disable=SC2086 # the way is a list of words
    run fit sparse.svm $way --no-scale -o sparse.gram --quiet
    good
    # shellcheck disable=SC2086
    run fit dense.csv $way --no-scale -o dense.gram --quiet
    good
    run predict sparse.gram sparse.svm -o a.csv --quiet
    good
    run predict dense.gram dense.csv -o b.csv --quiet
    good
    near a.csv b.csv
done

run fit sparse.svm --method krr -o sparse.gram
if [ "$code" != 0 ]; then wrong "should succeed"; fi
prints 'sparse, 90 columns, each divided by its deviation and not centred'
run predict sparse.gram sparse.svm --json
prints '"r2"'
run info sparse.gram
good
run fit sparse.svm --method svm --task regression --kernel rbf --C 1 -o svm.gram --quiet
good

# An index that training did not have is left out, as an unknown column is.
printf '0 3:0.5 400:9\n0 3:0.5\n' >beyond.svm
run predict sparse.gram beyond.svm -o a.csv --quiet
good
if [ "$(sed -n 2p a.csv)" != "$(sed -n 3p a.csv)" ]; then wrong 'an unknown index should not count'; fi

printf '1 3:1 2:1\n' >bad.svm
run fit bad.svm -o m.gram
bad 3 "bad.svm:1: the indices do not ascend: '2:1'"
printf '1 3:1\n1 3:1 3:2\n' >bad.svm
run fit bad.svm -o m.gram
bad 3 "bad.svm:2: the indices do not ascend: '3:2'"
printf '1 1099511627776:1\n' >bad.svm
run fit bad.svm -o m.gram
bad 3 'bad.svm:1: the index is too large'
run fit sparse.svm --kernel 'periodic(p=1)' --lambda 1 --no-scale -o m.gram
bad 2 'periodic does not take sparse rows'
run fit sparse.svm --kernel 'on(1:2, rbf)' -o m.gram
bad 3 'there is no column 2'

# ---- texts ----

LC_ALL=C awk 'BEGIN {
    srand(11)
    split("good,fine,bad,poor,warm,cold", w, ",")
    split("1,0.5,-1,-0.5,0,0", v, ",")
    split("Rome,Oslo,Lima", c, ",")
    print "city,review,size,y" >"mixed.csv"
    for (i = 0; i < 120; i++) {
        text = ""; y = 0
        for (k = 0; k < 4; k++) { j = 1 + int(6 * rand()); text = text (k ? " " : "") w[j]; y += v[j] }
        j = 1 + int(3 * rand()); y += j; x = int(1000 * rand()) / 1000
        printf "%s,%s,%s,%s\n", c[j], text, x, y + 2 * x >"mixed.csv"
    }
}'
# error KERNEL: the leave-one-out error of a fit with it
error()
{
    run fit mixed.csv --text city,review --method krr --kernel "$1" -o mixed.gram --json --quiet
    good
    sed -n 's/.*"loo_rmse": \([0-9.e-]*\).*/\1/p' out
}
all=$(error 'on(3, rbf) + on(2, spectrum(k=1, over=words)) + on(1, same)')
for one in 'on(3, rbf)' 'on(2, spectrum(k=1, over=words))' 'on(1, same)'; do
    alone=$(error "$one")
    echo "$all $alone" | LC_ALL=C awk '{ exit !($1 < 0.7 * $2) }' || wrong "all three should beat $one: $all, $alone"
done
run fit mixed.csv --text city,review --method krr --kernel 'on(3, rbf) + on(2, spectrum(k=1, over=words)) + on(1, same)' \
    -o mixed.gram --quiet
good
printf 'city,review,size\nParis,good never seen,0.5\nRome,bad bad bad bad,0\n' >new.csv
run predict mixed.gram new.csv
if [ "$code" != 0 ] || [ "$(wc -l <out)" != 3 ]; then wrong 'new texts should have predictions'; fi

run fit mixed.csv --text city,review --kernel rbf -o m.gram
bad 2 'rbf: column 1 holds texts' 'on(1, ...)'
run fit mixed.csv --text city,review --features city --kernel 'spectrum(k=9)' -o m.gram
if [ "$code" = 0 ]; then wrong 'texts shorter than k should be refused'; fi
printf 'city,y\nRome,1\n,2\nOslo,3\n' >empty.csv
run fit empty.csv --text city --kernel same --lambda 1 -o m.gram
bad 3 "empty.csv:3: column 'city': missing value"
run fit mixed.csv --features city --kernel same -o m.gram
bad 2 'same does not take numbers'
run fit mixed.csv --text review --features review --method spline -o m.gram
bad 2 'takes numbers only'

# k longer than a text, an empty text, and a k that cannot be
printf 's,y\nACGT,1\nAC,2\nACGTA,3\n' >short.csv
run fit short.csv --text s --kernel 'spectrum(k=3)' --lambda 1 -o m.gram --quiet
bad 3 "short.csv:3: spectrum: the text 'AC' has no feature" 'Use a smaller k'
run fit short.csv --text s --kernel 'gapped(l=3, k=4)' --lambda 1 -o m.gram
bad 2 'k must be at most l'

# ---- sets ----

printf 'set,y\n"[red, dark blue]",1\n"{red;green}",2\n"dark blue|green|red",3\n"[]",0\n' >sets.csv
run kernel intersection sets.csv --text set --features set --gram S.npy
good
LC_ALL=C od -An -v -t f8 -w32 -j 128 S.npy | tr -s ' ' ',' | sed 's/^,//' >S.csv
printf '2,1,2,0\n1,2,2,0\n2,2,3,0\n0,0,0,0\n' >wanted.csv
cmp -s S.csv wanted.csv || wrong "the intersections are $(cat S.csv)"
run fit sets.csv --text set --kernel tanimoto --lambda 0.1 --method krr -o sets.gram --quiet
good
printf 'set\n"[red, violet]"\n' >new.csv
run predict sets.gram new.csv
good

# ---- FASTA, and documents line by line ----

cat >genes.fasta <<'EOF'
>g1 first gene class=coding score=1.5
ACGTACGTAC
GTACGTA
>g2 second class=other score=2
TTTTAAAACCCC
>g3 third class=coding score=0.5
ACGTACGTACGAACG
>g4 another one class=other score=3
TTTAAAACCCG
EOF
run fit genes.fasta --kernel 'spectrum(k=2, over=dna)' --ignore class --lambda 0.1 --method krr -o genes.gram --json --quiet
good
prints '"targets": ["score"]' '"features": ["sequence"]'
run predict genes.gram genes.fasta --keep id
if [ "$code" != 0 ] || [ "$(sed -n 2p out | cut -d, -f1)" != g1 ]; then wrong 'ids should be kept'; fi
gzip -c genes.fasta >genes.fa.gz
run kernel 'spectrum(k=3)' genes.fa.gz --features sequence --check
good
prints 'Properties on texts' 'positive semidef.   yes'
printf '>a\nACGT\n>\nACG\n' >bad.fasta
run kernel 'spectrum(k=2)' bad.fasta
bad 3 'bad.fasta:3: a record without an id'
printf '>a\nACGT\n>b\n>c\nACG\n' >bad.fasta
run kernel 'spectrum(k=2)' bad.fasta
bad 3 "bad.fasta:3: the record 'b' has no sequence"
printf 'ACGT\n' >bad.fasta
run kernel 'spectrum(k=2)' bad.fasta
bad 3 "bad.fasta:1: a record begins with '>'"
printf 'a good day\na bad day\nno "news" at all, really\n' >lines.txt
run kernel 'spectrum(k=1, over=words)' lines.txt --check
good
prints '3 rows'
run thin lines.txt -m 1 --kernel 'spectrum(k=1, over=words)'
good
prints 'text'

printf 'a,b,y\n1,2,3\n2,3,5\n' >table.txt
run fit table.txt -o m.gram
bad 3 'no column is left for the features' '--format csv reads a table'
run fit table.txt --target y -o m.gram
bad 3 "no column 'y'" '--format csv reads a table'
run fit table.txt --format csv --lambda 1 -o m.gram --quiet
good

# ---- cv, compare and explain of things ----

LC_ALL=C awk 'BEGIN {
    srand(3)
    print "bag,u,y"
    for (i = 0; i < 24; i++) {
        m = 4 * rand()
        for (k = 0; k < 5; k++) printf "b%d,%.4f,%.4f\n", i, m + rand(), m
    }
}' >few.csv
run cv few.csv --bag bag --folds 4 --kernel 'mean(linear(c=1))' --lambda 0.01 -o left.csv --quiet
good
if [ "$(wc -l <left.csv)" != 25 ]; then wrong 'cv should write a line for each bag'; fi
if [ "$(sed -n 3p left.csv | cut -d, -f1)" != 6 ]; then wrong 'a bag is at its first row'; fi
run compare few.csv --bag bag --methods krr,svm,spline,baselines --folds 3 --json
good
for word in '"method":"krr"' '"method":"svm"' '"name":"mean"' 'takes numbers only'; do
    if ! tr -d ' \n' <out | grep -qF "$(echo "$word" | tr -d ' ')"; then wrong "compare of bags should say $word"; fi
done
if grep -q nearest out; then wrong 'places of bags have no neighbours'; fi
run compare mixed.csv --text review --features review --kernel 'spectrum(k=1, over=words)' --methods krr,baselines --folds 3
good
run fit few.csv --bag bag --kernel 'mean(linear(c=1))' --lambda 0.01 --estimate folds:4 -o few.gram
prints 'error on new rows'
if grep -q 'Importance' out; then wrong 'a bag has no columns to permute'; fi
run explain few.gram few.csv
bad 2 'the model is one of bags' 'gram cv'

# ---- scipy's .npz ----

if "${PYTHON:-python3}" -c 'import scipy.sparse' 2>/dev/null; then
    "${PYTHON:-python3}" - <<'EOF'
import numpy as np
import scipy.sparse as sp

rows, y = [], []
for line in open("sparse.svm"):
    label, *pairs = line.split()
    row = np.zeros(90)
    for pair in pairs:
        index, value = pair.split(":")
        row[int(index) - 1] = float(value)
    rows.append(row)
    y.append(float(label))
X = sp.csr_matrix(np.array(rows))
sp.save_npz("plain.npz", X)
np.savez("stored.npz", y=np.array(y), format="csr", shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr)
X.indices[[0, 1]] = X.indices[[1, 0]]
sp.save_npz("unsorted.npz", X)
sp.save_npz("columns.npz", sp.csc_matrix(X))
EOF
    run fit stored.npz --method krr --kernel 'rbf(ell=2)' --lambda 0.01 --no-scale -o npz.gram --quiet
    good
    run predict npz.gram plain.npz -o a.csv --quiet
    good
    run fit sparse.svm --method krr --kernel 'rbf(ell=2)' --lambda 0.01 --no-scale -o svm.gram --quiet
    good
    run predict svm.gram sparse.svm -o b.csv --quiet
    good
    near a.csv b.csv
    run pca plain.npz -k 2 --kernel 'rbf(ell=2)' --quiet
    good
    run fit unsorted.npz --target x -o m.gram
    bad 3 'unsorted.npz: row 1: index' 'indices must ascend'
    run fit columns.npz -o m.gram
    bad 3 "columns.npz: the format is 'csc'"
    head -c 300 plain.npz >cut.npz
    run fit cut.npz -o m.gram
    bad 3 'cut.npz: this is not a .npz file'
fi
