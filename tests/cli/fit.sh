# gram fit: defaults on raw data, options, JSON keys, and what is refused.
. "$SOURCE/tests/cli/helper"

# near FILE KEY VALUE TOLERANCE: the number of a key in a line of JSON
near()
{
    LC_ALL=C awk -v key="\"$2\": " -v want="$3" -v tolerance="$4" '
        { at = index($0, key); got = substr($0, at + length(key)) + 0; d = got - want }
        at == 0 || d > tolerance || d < -tolerance { print key got ", not " want; exit 1 }' "$1" || wrong "wrong $2"
}

# a header with blanks, commas and quotes, a text column, CR LF; the price depends on size and colour, not on the number
LC_ALL=C awk 'BEGIN {
    printf "\"size, m2\",number,colour,\"the \"\"price\"\"\"\r\n"
    split("red green blue", colours, " ")
    for (i = 0; i < 120; i++) {
        size = 20 + i * 37 % 101; c = i * 7 % 3
        printf "%d,%d,\"%s\",%.6f\r\n", size, i * 71 % 113, colours[c + 1], sin(size / 15) + c * c / 2 + (i * 53 % 97 - 48) / 2000
    }
}' >houses.csv
run fit houses.csv -o houses.gram --quiet --estimate auto
good
head -n 1 out | grep -qF 'Regression: the "price" on 3 features, 1 of them text with 3 levels; 120 rows' || wrong 'first line'
prints 'kernel              rbf(ell=' 'tuned               by loo on 120 rows' 'solver              exact' \
    'training error      rmse ' 'leave-one-out       rmse ' 'Importance of the features' 'houses.gram'
grep -Eq '^colour +[0-9.]+ +[0-9.]+ +#{30}$' out || wrong 'the colour should matter most'
grep -Eq '^number +[-0-9.e]+ +[0-9.e-]+ +$' out || wrong 'the number should not matter'
grep -Eq '^number +[0-9.e-]+ ' out || wrong 'should list the number'
[ -s houses.gram ] || wrong 'should write a model'
run fit houses.csv --json --quiet
good
[ "$(wc -l <out)" = 1 ] || wrong 'should be one line'
prints '"method": "krr"' '"task": "regression"' '"kernel": "rbf(ell=' '"n": 120' '"d": 5' '"lambda": ' '"noise": ' \
    '"solver": "exact"' '"precision": "' '"residual": ' '"backward_error": ' '"jitter": 0' '"condition": ' '"rank": ' \
    '"iterations": ' '"train_rmse": ' '"loo_rmse": ' '"loo_r2": 0.9' '"gcv": ' '"norm": ' '"effective_dimension": ' \
    '"log_marginal_likelihood": ' '"seconds": ' '"peak_bytes": ' '"model": null' '"tune": "loo"' '"tuned_rows": 120' \
    '"targets": ["the \"price\""]' '"features": ["size, m2", "number", "colour"]' '"relevance": [{"feature": "'
run fit houses.csv --quiet
good
prints 'not kept; -o FILE writes it'

# the plan is printed before the work, not with --quiet
run fit houses.csv --json
[ "$code" = 0 ] || wrong 'should succeed'
grep -q '^plan: 120 rows, 5 columns; exact' err || wrong 'should tell the plan'

# the same bytes for any number of threads
run fit houses.csv -o one.gram --quiet --threads 1
good
run fit houses.csv -o two.gram --quiet --threads 2
good
cmp one.gram two.gram || wrong 'should write the same bytes'

# a parabola without noise, solved in exact arithmetic: tests/reference/make_textbook.py
textbook()
{
    awk -v name="$1" 'BEGIN { print "x,y" } $1 == name && $2 != "norm" { print $2 "," $3 }' \
        "$SOURCE/tests/reference/textbook.txt" >book.csv
    run fit book.csv --kernel "$2" --lambda 0.1 --no-intercept --no-scale -o book.gram --json --quiet
    good
    prints '"tune": "none"' '"lambda": 0.1' '"n": 11' '"d": 1'
    near out norm "$(awk -v name="$1" '$1 == name && $2 == "norm" { print $3 }' "$SOURCE/tests/reference/textbook.txt")" 1e-12
    run predict book.gram book.csv --quiet
    good
    awk -v name="$1" '$1 == name && $2 != "norm" { print $5 }' "$SOURCE/tests/reference/textbook.txt" >want
    sed 1d out | paste -d ' ' - want | LC_ALL=C awk '
        { d = $1 - $2 } d > 1e-12 || d < -1e-12 { print $1 " is not " $2; bad = 1 } END { exit bad || NR != 11 }' ||
        wrong 'should agree with exact arithmetic'
}
textbook poly 'poly(m=2, c=1)'
textbook min '0.5 + min()'
run fit book.csv --kernel 'rbf(ell=1)' --lambda 10 --no-intercept --no-scale --quiet
good

# one ridge by three names: n = 120
run fit houses.csv --kernel 'rbf(ell=1)' --lambda 0.01 --json --quiet
good
prints '"noise": 1.2,' '"tune": "none"'
norm=$(sed 's/.*"norm": \([^,]*\),.*/\1/' out)
run fit houses.csv --kernel 'rbf(ell=1)' --noise 1.2 --json --quiet
good
prints '"lambda": 0.01,'
near out norm "$norm" 1e-10
run fit houses.csv --kernel 'rbf(ell=1)' --alpha 1.2 --json --quiet
good
prints '"lambda": 0.01,'

# what is given is kept with !, and by --tune none; what is free is chosen
run fit houses.csv --kernel 'rbf(ell=0.7!)' --json --quiet
good
prints '"kernel": "rbf(ell=0.7!)"' '"tune": "loo"'
run fit houses.csv --kernel rbf --lambda 0.003 --json --quiet
good
prints '"tune": "loo"' '"lambda": 0.003,'
run fit houses.csv --kernel rbf --tune none --json --quiet
good
prints '"tune": "none"' '"lambda": 0.001,'
for how in loo gcv cv:4 ml; do
    run fit houses.csv --kernel rbf --tune "$how" --json --quiet
    good
    prints "\"tune\": \"$how\"" '"tuned_rows": 120'
done

# solvers and precisions agree
run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 --json --quiet --solver exact --precision f64
good
norm=$(sed 's/.*"norm": \([^,]*\),.*/\1/' out)
for way in '--solver cg' '--solver exact --precision mixed' '--solver auto'; do
    run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 --json --quiet $way
    good
    near out norm "$norm" 1e-8
done
run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 --json --quiet --solver nystrom:40
good
prints '"solver": "nystrom"' '"rank": 40' '"landmarks": "rpcholesky"' '"gap_exact": 1'
run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 -o landmarks.gram --quiet --solver nystrom:40 --landmarks houses.csv --certify
good
prints 'exact fit on these rows within' 'anywhere'
run fit houses.csv --solver nystrom:100000 --quiet
bad 2 '--solver nystrom:100000 is more than the'
run fit houses.csv --solver nystrom:5 --landmarks kmaens --quiet
bad 2 "--landmarks cannot be 'kmaens'" 'rpcholesky, uniform, kmeans++, leverage, or the name of a file'
printf 'a,b\n1,2\n' >two.csv
run fit houses.csv --solver nystrom:5 --landmarks two.csv --quiet
bad 3 two.csv
run fit houses.csv --landmarks uniform --quiet
bad 2 '--landmarks is for --solver nystrom'
run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 --json --quiet --precision f32
good
prints '"precision": "f32"' '"loo_rmse": null'
run fit houses.csv --kernel 'rbf(ell=1)' --noise 0.5 --loo --quiet --precision f32
bad 2 'f32' '--precision'

# several targets, weights, columns by place, rows that lack something
LC_ALL=C awk 'BEGIN { print "a,b,w,u,v"; for (i = 0; i < 60; i++)
    printf "%g,%g,%d,%g,%g\n", i / 10, i % 7, i % 3, sin(i / 10), cos(i / 10) + i % 7 }' >two.csv
run fit two.csv --target u,v --weights w --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet -o two.gram
good
prints '"n": 40' '"rows": 60' '"targets": ["u", "v"]' '"features": ["a", "b"]'
run fit two.csv --target 4 --features 1 --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet
good
prints '"targets": ["u"]' '"features": ["a"]'
run fit two.csv --target u --ignore b:w,v --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet
good
prints '"features": ["a"]'
sed '5s/^[^,]*/NA/' two.csv >holes.csv
run fit holes.csv --kernel 'rbf(ell=1)' --noise 0.1 --quiet
bad 3 'holes.csv:5:' "column 'a'" '--missing'
run fit holes.csv --kernel 'rbf(ell=1)' --noise 0.1 --quiet --missing drop
good
head -n 1 out | grep -qF '59 rows, 1 dropped' || wrong 'should tell what it dropped'
run fit holes.csv --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet --missing mean
good
prints '"n": 60'

# from standard input
run fit - --kernel 'rbf(ell=1)' --noise 0.1 --json --quiet <two.csv
good
prints '"data": "standard input"'

# a target that looks like classes is taken for them, unless the method or --task says otherwise
awk 'BEGIN { print "x,class"; for (i = 0; i < 30; i++) print i "," i % 3 }' >classes.csv
run fit classes.csv --kernel 'rbf(ell=1)' --C 1 --quiet
good
head -n 1 out | grep -qF -e 'Classification (--task regression' || wrong 'should say that these are classes, and name --task'
run fit classes.csv --kernel 'rbf(ell=1)' --noise 0.1 --quiet
bad 2 '--noise is an option of krr, gp and logistic, not of svm'
run fit classes.csv --method krr --kernel 'rbf(ell=1)' --noise 0.1 --quiet
good
head -n 1 out | grep -qF -e '--task regression' || wrong 'should say that these could be classes'
run fit classes.csv --kernel 'rbf(ell=1)' --noise 0.1 --quiet --task regression
good
! head -n 1 out | grep -qF -e '--task' || wrong 'should not ask again'
run fit houses.csv --target colour --method krr --quiet
bad 2 '--method krr is not for classification'
run fit houses.csv --target colour --task regression --quiet
bad 3 "column 'colour'" 'regression needs a target of numbers'

# wrong use
run fit
bad 2 'too few arguments'
run fit houses.csv --method ridge
bad 2 "--method cannot be 'ridge'" 'auto, krr, gp, bayes, sgd, flow, spline, svm or logistic'
run fit houses.csv --solver furier:100
bad 2 "--solver cannot be 'furier:100'"
run fit houses.csv --solver fourier:101
bad 2 'fourier:101 is odd' 'Give an even number'
run fit houses.csv --solver fourier:0
bad 2 "--solver cannot be 'fourier:0'"
run fit houses.csv --solver fourier:100 --kernel 'poly(m=2)' --lambda 0.1 --quiet
bad 2 'no frequencies can be drawn of poly' '--solver nystrom:M, which is for any kernel'
run fit houses.csv --solver exakt
bad 2 "did you mean 'exact'?"
run fit houses.csv --solver nystrom:0
bad 2 "--solver cannot be 'nystrom:0'" 'M is a whole number'
run fit houses.csv --task clasification
bad 2 "did you mean 'classification'?"
run fit houses.csv --tune cv:1
bad 2 "--tune cannot be 'cv:1'" 'K is a whole number from 2'
run fit houses.csv --lambda -1
bad 2 "--lambda cannot be '-1'" '0 or more'
run fit houses.csv --lambda 1 --noise 2
bad 2 'give one of --lambda and --noise'
run fit houses.csv --kernel 'rfb'
bad 2 "did you mean 'rbf'?"
run fit houses.csv --plot picture.gif
bad 2 '.svg, .png or .pdf'
run fit houses.csv -o -
bad 2 'standard output'

# bad data
run fit nowhere.csv
bad 3 'nowhere.csv: cannot be opened'
run fit houses.csv --target prise
bad 3 "no column 'prise'"
run fit houses.csv --kernel 'on(6, rbf)'
bad 3 'column 6'
run fit two.csv --target u --ignore v,w --kernel min --quiet --noise 0.1
bad 3 'two.csv: row ' "column 'a'" '--no-scale'

# over a limit: said before the work
run fit houses.csv -o nowhere/m.gram
bad 5 'nowhere/m.gram: cannot be written'
run fit houses.csv -o .
bad 5 'it is a folder'
LC_ALL=C awk 'BEGIN { for (i = 0; i < 4000; i++) print i % 61 "," i % 53 "," i % 47 "," sin(i) }' >many.csv
run fit many.csv --kernel 'rbf(ell=1)' --noise 1 --solver exact --memory 30M --quiet
bad 5 'memory' '--memory'
run fit many.csv --kernel 'rbf(ell=1)' --noise 1 --memory 30M --quiet --json
good
[ ! -e m.gram ] || wrong 'should leave no file'

# pictures, whatever the columns are called
if command -v gnuplot >/dev/null 2>&1; then
    printf '"x\047; set output \047hacked\047; `touch hacked`","y"\n1,1\n2,3\n3,2\n4,5\n' >names.csv
    for ending in svg png pdf; do
        run fit names.csv --kernel 'rbf(ell=1)' --noise 0.1 --quiet --plot "one.$ending"
        good
        [ -s "one.$ending" ] || wrong "should draw one.$ending"
    done
    [ ! -e hacked ] || wrong 'a name should be no command'
    grep -qF 'touch hacked' one.svg || wrong 'should write the name'
    run fit houses.csv --kernel 'rbf(ell=[1,9,1,1,1])' --noise 0.1 --quiet --plot panels.svg -o panels.gram --json
    good
    prints '"plot": "panels.svg"'
    grep -qF 'leave-one-out prediction' panels.svg || wrong 'should say what is drawn'
    grep -qF 'relevance' panels.svg || wrong 'should draw the relevances'
    run predict panels.gram houses.csv -o p.csv --plot p.svg
    good
    [ -s p.svg ] || wrong 'should draw p.svg'
    run fit houses.csv --plot nowhere/p.svg
    bad 5 'nowhere/p.svg: cannot be written'
fi
mkdir empty
code=0
PATH=$PWD/empty "$GRAM" fit houses.csv --plot p.svg >out 2>err || code=$?
last='gram fit --plot without gnuplot'
bad 5 'gnuplot was not found'
