# gram convert: models of LIBSVM in and out; with LIBSVM's own tools, if they are installed, as the judge.
. "$SOURCE/tests/cli/helper"

# a model of LIBSVM: f = 0.5 exp(-|x - (1, 0)|^2/2) - 0.5 exp(-|x - (0, 1)|^2/2) + 0.125 speaks for 2, the label that came first
cat >small.model <<'END'
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho -0.125
label 2 -1
probA -2
probB 0.25
nr_sv 1 1
SV
0.5 1:1 
-0.5 2:1 
END
cat >small.svm <<'END'
2 1:1
-1 2:1
2 1:0.5 2:0.5
-1 1:-1 2:3
END
run convert small.model small.gram
good
prints 'model of LIBSVM     small.model' 'model of gram       small.gram' 'classification, 2 classes (-1, 2), with probabilities' \
    'rbf(ell=1)' '2 in 2 columns'
run convert small.model small.gram --json
good
prints '"from": "small.model"' '"model": "small.gram"' '"format": "gram"' '"task": "classification"' '"kernel": "rbf(ell=1)"' \
    '"classes": ["-1", "2"]' '"n_support": 2' '"d": 2' '"probabilities": true'
run predict small.gram small.svm --prob --quiet
[ "$code" = 0 ] || wrong 'should predict'
[ "$(head -n 1 out)" = 'label,p_-1,p_2' ] || wrong 'should name the classes'
sed 1d out | paste -d' ' - small.svm | LC_ALL=C awk -F'[ ,]' '
    { x = y = 0
      for (i = 5; i <= NF; i++) { split($i, c, ":"); if (c[1] == 1) x = c[2]; else y = c[2] }
      f = 0.5 * exp(-((x - 1)^2 + y^2) / 2) - 0.5 * exp(-(x^2 + (y - 1)^2) / 2) + 0.125
      p = 1 / (1 + exp(-2 * f + 0.25)); e = p - $3
      if (e > 1e-14 || e < -1e-14 || $1 != (p > 0.5 ? 2 : -1)) { print f, p; exit 1 } }' || wrong 'should be the function of the file'
run info small.gram
good
prints 'support vectors 2'
run info small.gram --json
good
prints '"origin": "LIBSVM"'

# there and back: the same text, also by --out, by standard output and from standard input
run convert small.gram back.model
good
prints 'model of gram       small.gram' 'model of LIBSVM     back.model'
sed 's/ *$//' small.model | cmp - back.model || wrong 'should be the same model again'
run convert small.gram -o out.model --json
good
prints '"format": "libsvm"'
cmp back.model out.model || wrong '--out should do the same'
run convert small.gram -
good
cmp out back.model || wrong 'should be written to standard output and nothing else'
"$GRAM" convert - piped.gram <small.model >out || wrong 'should be read from standard input'
cmp small.gram piped.gram || wrong 'should be the same model'
[ "$(ls -A | grep -c '~\|^\.')" = 0 ] || wrong 'should leave nothing behind'

# wrong use
run convert
bad 2 'M1 M2'
run convert small.model
bad 2 'M2 is missing'
run convert small.gram a.model -o b.model
bad 2 'both M2 and --out'
run convert small.model -
bad 2 'not written to standard output'
run convert small.gram other.gram
bad 2 'small.gram is a model of gram already'
run convert absent.model x.gram
bad 3 'absent.model: cannot be opened'
run convert . x.gram
bad 3 '.: cannot be read'
run convert small.model absent/x.gram
bad 5 'absent/x.gram'
run convert small.gram absent/x.model
bad 5 'absent/x.model: cannot be written'

# bad files: line and reason; an older file stays
cp small.gram kept.gram
sed 's/total_sv 2/total_sv 3/' small.model >bad.model
run convert bad.model kept.gram
bad 3 'bad.model:10: nr_sv adds up to 2 support vectors, total_sv is 3'
cmp small.gram kept.gram || wrong 'should leave the old model'
sed 's/^0.5 1:1/0.5 1:x/' small.model >bad.model
run convert bad.model x.gram
bad 3 "bad.model:12: not a number: 'x'"
head -c 130 small.model >bad.model
run convert bad.model x.gram
bad 3 'bad.model'
run convert small.svm x.gram
bad 3 "small.svm:1: this is not a model of LIBSVM: '2'"
sed 's/kernel_type rbf/kernel_type precomputed/' small.model >bad.model
run convert bad.model x.gram
bad 2 'bad.model:2: a precomputed kernel'
: >empty.model
run convert empty.model x.gram
bad 3 'empty.model: the file is empty'
head -c 300 small.gram >cut.gram
run convert cut.gram x.model
bad 3 'cut.gram'
[ ! -e x.gram ] && [ ! -e x.model ] || wrong 'should write nothing'

# four classes that overlap, in no order, with a sparse column; two of them; a curve
LC_ALL=C awk 'BEGIN { split("7 -1 4 0", label, " "); s = 1
    for (i = 0; i < 160; i++) { k = i % 4
        for (j = 1; j <= 3; j++) { s = (s * 16807) % 2147483647; u[j] = s / 2147483647 - 0.5 }
        printf "%d 1:%.5f 2:%.5f", label[k + 1], cos(2 * k) + 2.4 * u[1], sin(2 * k) + 2.4 * u[2]
        if (u[3] > 0) printf " 4:%.5f", u[3]
        print "" } }' >four.svm
grep '^[7-]' four.svm >two.svm
LC_ALL=C awk 'BEGIN { for (i = 0; i < 90; i++) { x = i / 15 - 3; y = ((i * i * 7919) % 101) / 101
    printf "%.5f 1:%.4f 2:%.4f\n", sin(2 * x) + y + ((i * 37) % 11) / 50, x, y } }' >curve.svm

# models of gram that LIBSVM cannot have
run fit two.svm --kernel 'rbf(ell=1)' --C 1 -o scaled.gram --quiet
good
run convert scaled.gram x.model
bad 2 'its features are scaled' 'fit it with --no-scale'
run fit two.svm --method svm --kernel 'laplace(ell=1)' --C 1 --no-scale -o other.gram --quiet
good
run convert other.gram x.model
bad 2 'its kernel is laplace(ell=1)'
run fit two.svm --method logistic --kernel 'rbf(ell=1)' --lambda 0.1 --no-scale -o other.gram --quiet
good
run convert other.gram x.model
bad 2 "its method is 'logistic'" '--method svm'
printf 'u,v,kind\n0,1,a\n1,0,b\n0,2,a\n2,0,b\n0,3,a\n3,0,b\n' >text.csv
run fit text.csv --method svm --kernel 'rbf(ell=1)' --C 1 --no-scale -o text.gram --quiet
good
run convert text.gram x.model
bad 2 'its classes are text'
[ ! -e x.model ] || wrong 'should write nothing'

# near A B TOLERANCE: two files of numbers, line by line and word by word, with or without commas
near()
{
    tr ',' ' ' <"$1" >first
    tr ',' ' ' <"$2" >second
    paste -d' ' first second | LC_ALL=C awk -v t="$3" '{ for (i = 1; i <= NF / 2; i++) { e = $i - $(i + NF / 2)
        if (!(e <= t && e >= -t)) { print NR ": " $0; exit 1 } } }' || wrong "$1 and $2 should agree to $3 ($compared)"
    [ "$(wc -l <first)" = "$(wc -l <second)" ] || wrong "$1 and $2 should have as many lines ($compared)"
}

# there and back by gram alone: the same function
for data in four two curve; do
    run fit $data.svm --method svm --kernel 'rbf(ell=0.8)' --C 2 --no-scale -o a.gram --quiet
    good
    compared="$data there and back"
    "$GRAM" convert a.gram a.model --quiet >out || wrong "should convert $data"
    "$GRAM" convert a.model b.gram --quiet >out || wrong "should convert $data back"
    "$GRAM" predict a.gram $data.svm --quiet -o a.csv >out
    "$GRAM" predict b.gram $data.svm --quiet -o b.csv >out
    sed 1d a.csv >a; sed 1d b.csv >b
    near a b 1e-14
done

if ! command -v svm-train >/dev/null 2>&1 || ! command -v svm-predict >/dev/null 2>&1; then
    echo 'svm-train and svm-predict are not installed: the comparison with them is left out'
    exit 0
fi

# theirs DATA OPTIONS...: a model of svm-train predicts the same here, and after it was converted there and back
theirs()
{
    data=$1
    shift
    compared="$data $*"
    svm-train -q "$@" $data.svm t.model || wrong 'svm-train should train'
    run convert t.model t.gram
    good
    run convert t.gram u.model
    good
    svm-predict $data.svm t.model t.out >out
    svm-predict $data.svm u.model u.out >out
    near t.out u.out 1e-9
    "$GRAM" predict t.gram $data.svm --quiet -o t.csv >out || wrong "should predict ($compared)"
    sed 1d t.csv | cut -d, -f1 >t
    near t t.out 1e-9
}

theirs two
theirs four
theirs four -s 1 -n 0.3
theirs four -s 1 -n 0.3 -t 1 -d 3 -g 0.7 -r 0.5
theirs four -t 0
theirs four -t 1 -d 2 -g 0.5 -r 1
theirs four -t 3 -g 0.1 -r -0.2
theirs four -s 2 -n 0.1
theirs curve -s 3 -c 10
theirs curve -s 3 -t 0
theirs curve -s 4 -n 0.4 -t 1 -d 3 -g 0.3 -r 1
theirs curve -s 3 -t 3 -g 0.05
theirs curve -s 3 -p 100
theirs curve -s 3 -b 1

# probabilities: of two classes to the digits that svm-predict prints; those of four it couples to a residual of 0.005/4 only,
# so labels may differ where two classes are as near as that
for data in two four; do
    compared="$data -b 1"
    svm-train -q -b 1 $data.svm t.model
    run convert t.model t.gram
    good
    "$GRAM" predict t.gram $data.svm --prob --quiet -o t.csv >out
    svm-predict -b 1 $data.svm t.model t.out >out
    # columns of theirs in our order
    LC_ALL=C awk -v head="$(head -n 1 t.csv)" 'NR == 1 { n = split(head, ours, ","); for (i = 2; i <= NF; i++) place["p_" $i] = i; next }
        { printf "%s", $1; for (i = 2; i <= n; i++) printf " %s", $place[ours[i]]; print "" }' t.out >theirs
    sed 1d t.csv >t
    if [ $data = two ]; then
        near t theirs 1e-6
    else
        cut -d, -f2- t >p
        cut -d' ' -f2- theirs >q
        near p q 5e-3
        paste -d' ' t theirs | tr ',' ' ' | LC_ALL=C awk '{ best = second = 0
            for (i = NF / 2 + 2; i <= NF; i++) if ($i > best) { second = best; best = $i } else if ($i > second) second = $i
            clear += best - second > 5e-3; if (best - second > 5e-3 && $1 != $(NF / 2 + 1)) exit 1 }
            END { exit !(clear > 0.9 * NR) }' || wrong "labels should agree ($compared)"
    fi
    run convert t.gram u.model
    good
    svm-predict -b 1 $data.svm u.model u.out >out
    sed 1d t.out >t; sed 1d u.out >u
    near t u 1e-9
done

# ours DATA OPTIONS...: a model of gram's predicts the same there
ours()
{
    data=$1
    shift
    compared="$data $*"
    run fit $data.svm --method svm --no-scale "$@" -o o.gram --quiet
    good
    run convert o.gram o.model
    good
    "$GRAM" predict o.gram $data.svm --quiet -o o.csv >out || wrong "should predict ($compared)"
    svm-predict $data.svm o.model o.out >out
    sed 1d o.csv | cut -d, -f1 >o
    near o o.out 1e-9
}

ours two --kernel 'rbf(ell=0.7)' --C 1
ours four --kernel 'rbf(ell=0.7)' --C 3
ours four --kernel '2*rbf(ell=0.7)' --C 3
ours four --kernel 'linear(c=0)' --C 1
ours four --kernel 'linear(c=1)' --C 1
ours four --kernel 'poly(m=3, c=0.5)' --C 1
ours four --kernel 'sigmoid(a=0.1, c=-0.2)' --C 1
ours two --svm nu --nu 0.3 --kernel 'rbf(ell=1)'
ours curve --kernel 'rbf(ell=0.7)' --C 10 --epsilon 0.05
ours curve --task regression --svm nu --nu 0.4 --kernel 'poly(m=2, c=1)' --C 1
ours four --features x1,x4 --kernel 'poly(m=2, c=1)' --C 3 # a column that is 0 in all vectors is nothing to inner products
# tuned, with probabilities
run fit two.svm --method svm --no-scale --kernel 'rbf(ell=0.7)' --C 1 --prob -o o.gram --quiet
good
run convert o.gram o.model
good
prints 'with probabilities'
compared='two, probabilities'
"$GRAM" predict o.gram two.svm --prob --quiet -o o.csv >out
svm-predict -b 1 two.svm o.model o.out >out
[ "$(head -n 1 o.csv)" = 'label,p_-1,p_7' ] && [ "$(head -n 1 o.out)" = 'labels -1 7' ] || wrong 'should name the classes alike'
sed 1d o.csv >o; sed 1d o.out >u
near o u 1e-6
# one class: the label is no feature
awk '{ $1 = 1; print }' four.svm >ones.svm
run fit ones.svm --svm one-class --nu 0.1 --no-scale --kernel 'rbf(ell=1)' --features x1:x4 -o o.gram --quiet
good
run convert o.gram o.model
good
compared='one class'
"$GRAM" predict o.gram ones.svm --quiet -o o.csv >out
svm-predict ones.svm o.model o.out >out
sed 1d o.csv | cut -d, -f1 >o
near o o.out 1e-9
