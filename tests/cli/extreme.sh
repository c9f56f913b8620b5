# Finite but extreme numbers, in data, options, kernels and models: a fit, or an error that names the place; never an internal
# message, and no infinity or NaN in what is printed.
. "$SOURCE/tests/cli/helper"

# table FILE FACTOR-OF-X1 FACTOR-OF-W FACTOR-OF-Y: twelve rows
table()
{
    LC_ALL=C awk -v x="$2" -v w="$3" -v y="$4" 'BEGIN {
        print "x1,x2,w,y"
        for (i = 1; i <= 12; i++) {
            a = sin(7 * i); b = cos(3 * i)
            printf "%.6fe%s,%.6f,%.6fe%s,%.6fe%s\n", a, x, b, 1 + i / 12, w, a + b * b, y
        }
    }' >"$1"
}

# sound: what was printed has no infinity, no NaN and no name of an inner function
sound()
{
    if grep -qiE '(^|[^a-z])-?(inf|nan)([^a-z]|$)' out; then wrong 'prints a number that is not finite'; fi
    if grep -qE '[a-z]+_[a-z_]+: |[a-z]\[[0-9]+\]' err; then wrong 'speaks of inner functions'; fi
}

# fits OPTIONS...: it learns and predicts, or says that it is numerically impossible
fits()
{
    run fit "$@" -o m.gram --json --quiet
    sound
    case $code in
    0)
        run predict m.gram "$1" --quiet
        sound
        if [ "$code" != 0 ]; then wrong 'should predict'; fi
        ;;
    4) ;;
    *) wrong 'should fit, or exit with 4' ;;
    esac
}

# refuses TEXT OPTIONS...: bad data, with the file and this text in the message
refuses()
{
    text=$1
    shift
    run fit "$@" --quiet
    bad 3 "$1: " "$text"
    sound
}

methods='krr gp svm'

# the target
for factor in -320 -200 155 200 300; do
    table y.csv +0 +0 $factor
    for method in $methods; do refuses "column 'y'" y.csv --task regression --ignore w --method $method; done
done
for factor in -140 140; do
    table y.csv +0 +0 $factor
    for method in $methods; do fits y.csv --task regression --ignore w --method $method; done
done

# features: standardised they are of order 1, as they are they are refused
for factor in -300 -200 200 300; do
    table x.csv $factor +0 +0
    for method in $methods; do fits x.csv --task regression --ignore w --method $method; done
    refuses "column 'x1'" x.csv --task regression --ignore w --no-scale
done

# weights and known noises of the rows
for factor in -300 -60 60 300; do
    table w.csv +0 $factor +0
    refuses "column 'w'" w.csv --task regression --weights w
    refuses "column 'w'" w.csv --task regression --weights w --method gp
done
for factor in -40 40; do
    table w.csv +0 $factor +0
    fits w.csv --task regression --weights w --solver cg --kernel 'rbf(ell=1)' --lambda 0.1
    fits w.csv --task regression --row-noise w --method gp
done
printf 'x,w,y\n1,1,1\n2,1e40,2\n3,2,3\n4,1,3\n' >w.csv
refuses "1e+30 times" w.csv --task regression --weights w

# options and kernels
table d.csv +0 +0 +0
for number in 1e-320 1e-200 1e200 1e300; do
    run fit d.csv --ignore w --task regression --lambda $number --quiet
    bad 2 "--lambda" "$number"
    run fit d.csv --ignore w --task regression --method gp --noise $number --quiet
    bad 2 "--noise" "$number"
    run fit d.csv --ignore w --task regression --method svm --C $number --quiet
    bad 2 "--C" "$number"
    run fit d.csv --ignore w --task regression --kernel "rbf(ell=$number)" --quiet
    bad 2 'rbf.ell'
    run fit d.csv --ignore w --task regression --method gp --kernel "$number*rbf(ell=1)" --quiet
    bad 2 'const'
done
for number in 1e-140 1e-40 1e40 1e140; do
    for solver in exact cg nystrom:5; do
        fits d.csv --ignore w --task regression --lambda $number --kernel 'rbf(ell=1)' --solver $solver
    done
    fits d.csv --ignore w --task regression --method gp --noise $number
done
run fit d.csv --ignore w --task regression --method gp --noise 0 --solver cg --quiet
bad 2 'needs noise in every row'
sound
run fit d.csv --ignore w --task regression --loss huber --lambda 0 --quiet
bad 2 "--lambda '0'"

# a model whose coefficients overflow: exit 4, and the row
printf 'x,y\n0,1e149\n1,1e149\n2,-1e149\n' >big.csv
printf 'x\n0.5\n1e150\n' >far.csv
run fit big.csv --task regression --kernel 'poly(m=3,c=1)' --lambda 1e-3 --no-scale -o big.gram --quiet
good
run predict big.gram far.csv --quiet
bad 4 'far.csv: row 2: the prediction is not a finite number'
