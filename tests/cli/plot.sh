# Pictures: whole or not at all, with names as they are, whatever the user's own gnuplot settings say.
. "$SOURCE/tests/cli/helper"

if ! command -v gnuplot >/dev/null 2>&1; then
    echo 'gnuplot is not installed: nothing to test'
    exit 0
fi

LC_ALL=C awk 'BEGIN { srand(1); print "income % of total,100%,a{b}_c^d @e `date` $f,y"
    for (i = 0; i < 60; i++) { a = rand(); b = rand(); c = rand(); printf "%.4f,%.4f,%.4f,%.4f\n", a, b, c, sin(6 * a) + b } }' >names.csv
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 400; i++) printf "%g,%.4f\n", i / 40, sin(i / 40) + (i * 37 % 11) / 30 }' >sine.csv

# nothing in a name is a command or a format to gnuplot: tics, labels, titles
run fit names.csv --kernel 'rbf(ell=[0.5,1,2])' --lambda 0.01 --plot names.svg --quiet
good
for name in 'income % of total' '100%' 'a{b}_c^d @e `date` $f'; do
    grep -qF ">$name<" names.svg || wrong "should draw the name $name"
done
run test two-sample names.csv names.csv --method gamma --plot pair.svg
good
grep -qF '>income % of total<' pair.svg || wrong 'should draw the name of a column'
printf 'gr\303\266\303\237e \377,y\n' >other.csv
sed 1d sine.csv >>other.csv
for name in other.svg other.png other.pdf; do
    LC_ALL=C run fit other.csv --kernel 'rbf(ell=1)' --lambda 0.01 --plot $name --quiet
    good
done
grep -qF "$(printf '>gr\303\266\303\237e \357\277\275<')" other.svg || wrong 'should draw UTF-8, and U+FFFD for other bytes'

# the user's own settings are not run
printf 'set print "ran"\nprint "here"\nset title "mine"\n' >.gnuplot
HOME=$PWD run fit sine.csv --kernel 'rbf(ell=1)' --lambda 0.01 --plot sine.svg --quiet
good
[ ! -e ran ] || wrong 'should not run ~/.gnuplot'

# a disk that is full, or a limit of files: exit code 5, and the old picture stays
for name in p.svg p.png p.pdf; do
    echo old >$name
    code=0
    (ulimit -f 8 && exec "$GRAM" fit sine.csv --kernel 'rbf(ell=1)' --lambda 0.01 --plot $name --quiet) >out 2>err || code=$?
    last="gram fit --plot $name under ulimit -f 8"
    [ "$code" = 5 ] || wrong 'should exit with 5'
    grep -q "$name: cannot be written: File too large" err || wrong 'should say why'
    [ "$(cat $name)" = old ] || wrong 'should keep the old picture'
    prints 'lambda'
    if grep -q '^plot' out; then wrong 'should not say that there is a picture'; fi
    [ "$(ls -A | grep -c "^\.$name")" = 0 ] || wrong 'should leave nothing behind'
done

# a gnuplot that stops in the middle, or complains
mkdir -p broken
printf '#!/bin/sh\ncat >/dev/null\necho "<svg>"\n' >broken/gnuplot
chmod +x broken/gnuplot
echo old >p.svg
PATH=$PWD/broken:$PATH run fit sine.csv --kernel 'rbf(ell=1)' --lambda 0.01 --plot p.svg --quiet
[ "$code" = 5 ] || wrong 'should exit with 5'
grep -q 'p.svg: gnuplot could not draw it: it ended too early' err || wrong 'should see that the end is missing'
[ "$(cat p.svg)" = old ] || wrong 'should keep the old picture'
printf '#!/bin/sh\ncat >/dev/null\necho "gnuplot> plot" >&2\necho "  line 3: all points y value undefined!" >&2\necho >&2\nexit 1\n' >broken/gnuplot
PATH=$PWD/broken:$PATH run fit sine.csv --kernel 'rbf(ell=1)' --lambda 0.01 --plot p.svg --json --quiet
[ "$code" = 5 ] || wrong 'should exit with 5'
grep -q 'p.svg: gnuplot could not draw it: line 3: all points y value undefined!' err || wrong 'should have its words'
if grep -q '"plot"' out; then wrong 'should not say that there is a picture'; fi

# one value of x is no picture, and the report does not say that there is one
run fit sine.csv --method gp --kernel 'rbf(ell=1)' --noise 0.1 --quiet -o gp.gram
good
head -n 2 sine.csv >one.csv
run predict gp.gram one.csv -o one.out --plot one.svg
[ "$code" = 3 ] || wrong 'should exit with 3'
grep -q 'at least two different values' err || wrong 'should say why'
if grep -q '^plot' out; then wrong 'should not say that there is a picture'; fi
[ ! -e one.svg ] || wrong 'should draw nothing'

# three classes of a Gaussian process: averages over 25,600 places, in well under the ten seconds that they took
LC_ALL=C awk 'BEGIN { srand(3); print "a,b,c"; for (i = 0; i < 40; i++) { a = rand(); b = rand(); printf "%.3f,%.3f,%s\n", a, b, (a > b ? "u" : a + b > 1 ? "v" : "w") } }' >three.csv
run fit three.csv --method gp --kernel '4*rbf(ell=1)' --tune none --quiet -o three.gram
good
run predict three.gram three.csv -o three.out --plot three.svg --json
good
prints '"plot": "three.svg"' '"accuracy"'
