# --kind: rows that are derivatives, operators, sums and integrals; gram solve, gram integrate.
. "$SOURCE/tests/cli/helper"

number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
below() { LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || wrong "$1 should be below $2"; }
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d < t && -d < t) }' || wrong "$1 should be within $3 of $2"; }

# f = sin(3x) + x/2, six values and six slopes
LC_ALL=C awk 'BEGIN { print "x,what,y"
    for (i = 0; i < 6; i++) printf "%g,value,%.12f\n", i * 0.4, sin(1.2 * i) + 0.2 * i
    for (i = 0; i < 6; i++) { x = 0.2 + 0.4 * i; printf "%g,d:x,%.12f\n", x, 3 * cos(3 * x) + 0.5 } }' >mixed.csv
LC_ALL=C awk 'BEGIN { print "x,what,y"
    for (i = 0; i < 5; i++) { x = 0.3 + 0.35 * i
        printf "%g,value,%.12f\n%g,d:x,%.12f\n%g,d:x:x,%.12f\n", x, sin(3 * x) + x / 2, x, 3 * cos(3 * x) + 0.5, x, -9 * sin(3 * x) } }' >new.csv
printf 'x\n0.3\n0.65\n' >plain.csv

for method in gp krr; do
    run fit mixed.csv --kind what --target y --method $method --kernel 'rbf(ell=0.7)' --noise 1e-6 -o m.gram --json --quiet
    good
    prints '"kind": "what"' '"n": 12' '"scaled": false'
    run predict m.gram new.csv -o p.csv --json --quiet
    good
    below "$(number rmse)" 0.05
    # the file decides: without the column, values
    run predict m.gram plain.csv -o plain.out --quiet
    good
    near "$(sed -n 2p plain.out)" "$(sed -n 2p p.csv)" 1e-12
done
run fit mixed.csv --kind what --target y --method gp -o m.gram --json --quiet
good
run predict m.gram new.csv --std -o p.csv --json --quiet
good
below "$(number rmse)" 0.2

# scaled features: the same function
for scale in --scale --no-scale; do
    ell=1
    [ $scale = --no-scale ] && ell=0.6904105059069327 # the deviation of x
    run fit mixed.csv --kind what --target y --method krr --kernel "rbf(ell=$ell)" --lambda 1e-8 --no-intercept $scale -o m.gram --quiet
    good
    run predict m.gram new.csv -o p$scale.csv --quiet
    good
done
near "$(sed -n 3p p--scale.csv)" "$(sed -n 3p p--no-scale.csv)" 1e-5

# integrals of boxes, a value and a contrast: sum:a is f(0.1) - f(1.3)
LC_ALL=C awk 'function F(x) { return -cos(3 * x) / 3 + x * x / 4 } function f(x) { return sin(3 * x) + x / 2 }
    BEGIN { print "x,x_to,what,c,y"; print "0,,value,1,0"
    for (i = 0; i < 8; i++) printf "%g,%g,box,1,%.12f\n", i / 4, i / 4 + 0.25, F(i / 4 + 0.25) - F(i / 4)
    printf "0.1,,sum:a,1,%.12f\n1.3,,sum:a,-1,%.12f\n", f(0.1) - f(1.3), f(0.1) - f(1.3) }' >boxes.csv
run fit boxes.csv --kind what --coefficient c --target y --kernel 'rbf(ell=0.7)' --noise 1e-9 -o m.gram --json --quiet
good
prints '"n": 10' '"rows": 11'
run predict m.gram new.csv -o p.csv --quiet
good
near "$(sed -n 2p p.csv)" "$(sed -n 2p new.csv | cut -d, -f3)" 0.02
run predict m.gram boxes.csv -o p.csv --json --quiet
good
below "$(number rmse)" 1e-3
[ "$(sed -n 11p p.csv)" = "$(sed -n 12p p.csv)" ] || wrong "rows of one sum have one prediction"

# the heat equation u_t = 0.1 u_xx, u = exp(-0.1 pi^2 t) sin(pi x)
LC_ALL=C awk 'BEGIN { pi = 3.14159265358979; print "x,t,kind,u"
    for (i = 0; i <= 10; i++) for (j = 0; j <= 10; j++) { x = i / 10; t = j / 10
        if (j == 0 || i == 0 || i == 10) printf "%g,%g,value,%.12f\n", x, t, exp(-0.1 * pi * pi * t) * sin(pi * x)
        else printf "%g,%g,heat,0\n", x, t } }' >heat.csv
LC_ALL=C awk 'BEGIN { pi = 3.14159265358979; print "x,t,u"
    for (i = 0; i < 9; i++) for (j = 0; j < 9; j++) { x = (i + 0.5) / 9; t = (j + 0.5) / 9
        printf "%g,%g,%.12f\n", x, t, exp(-0.1 * pi * pi * t) * sin(pi * x) } }' >heat_new.csv
run solve heat.csv --kind kind --operator 'heat=d:t - 0.1*d:x:x' --kernel 'rbf(ell=0.5)' -o u.gram --json --quiet
good
prints '"operator": "heat=d:t - 0.1*d:x:x"' '"noise": 0'
run predict u.gram heat_new.csv --std -o p.csv --json --quiet
good
below "$(number rmse)" 1e-5
run info u.gram
good
prints 'variance 0'

# a disc: Laplacian u = 4, u = 1 on the circle, hence u = x^2 + y^2; a spiral of places
LC_ALL=C awk 'BEGIN { print "x,y,kind,u"
    for (i = 0; i < 24; i++) printf "%.15f,%.15f,value,1\n", cos(i * 6.283185307 / 24), sin(i * 6.283185307 / 24)
    for (i = 1; i < 60; i++) { r = sqrt(i / 60) * 0.97; printf "%.15f,%.15f,laplacian,4\n", r * cos(2.4 * i), r * sin(2.4 * i) } }' >disc.csv
printf 'x,y,u\n0,0,0\n0.5,0.5,0.5\n-0.3,0.6,0.45\n' >disc_new.csv
run solve disc.csv --kind kind -o u.gram --quiet
good
run predict u.gram disc_new.csv -o p.csv --json --quiet
good
below "$(number rmse)" 1e-3

# an unknown coefficient: k = 0.1, from the boundary and some values inside; the model then predicts rows of that kind
LC_ALL=C awk 'BEGIN { pi = 3.14159265358979; print "x,t,kind,s,u"
    for (i = 0; i <= 6; i++) for (j = 0; j <= 5; j++) { x = i / 6; t = j / 5
        if (j == 0 || i == 0 || i == 6) printf "%g,%g,value,0,%.12f\n", x, t, exp(-0.1 * pi * pi * t) * sin(pi * x)
        else printf "%g,%g,heat,0,0\n", x, t }
    for (i = 1; i < 6; i++) { x = i * 37 % 10 / 10 + 0.05; t = i * 23 % 10 / 10 + 0.03
        printf "%g,%g,value,1e-4,%.12f\n", x, t, exp(-0.1 * pi * pi * t) * sin(pi * x) + 0.01 * (i % 2 ? 1 : -1) } }' >inverse.csv
run solve inverse.csv --kind kind --target u --row-noise s --operator 'heat=d:t - k*d:x:x' --unknown k=0.01:10 \
    --kernel 'matern(nu=4.5, ell=1)' -o k.gram --json --quiet
good
prints '"unknown": "k=0.' '"unknown_value": [' '"unknown_std": [0.0' '"unknown_at_bound": 0'
near "$(sed 's/.*"unknown_value": .\([^]]*\).*/\1/' out)" 0.1 0.03
printf 'x,t,kind\n0.35,0.4,heat\n' >zero.csv
run predict k.gram zero.csv -o p.csv --quiet
good
near "$(sed -n 2p p.csv)" 0 0.02
run info k.gram
good
prints 'unknown             k=0.1'
run solve inverse.csv --kind kind --target u --operator 'heat=d:t - k*d:x:x' -o k.gram
bad 3 "'k' in 'k*d:x:x' is not a number"
run solve inverse.csv --kind kind --target u --operator 'heat=d:t - k*d:x:x' --unknown k=10:0.01 -o k.gram
bad 2 '--unknown' 'LOW below HIGH'

# pictures
if command -v gnuplot >/dev/null 2>&1; then
    run solve disc.csv --kind kind -o u.gram --plot disc.svg --quiet
    good
    grep -q '>deviation<' disc.svg || wrong 'should draw the deviation'
fi

# what is not right is named
run solve disc.csv -o u.gram
bad 2 'is not known' '--kind'
run fit mixed.csv --kind nothing --target y -o m.gram
bad 3 "nothing"
run fit mixed.csv --kind what --target y --method svm -o m.gram
bad 2 '--kind is not for svm'
run fit mixed.csv --operator 'a=d:x' --target y -o m.gram
bad 2 '--operator is for rows'
run fit mixed.csv --kind what --target y --kernel "laplace(ell=1)" --lambda 0.1 -o m.gram --quiet
bad 2 'takes 1 derivative, and functions of laplace have 0'
sed 's/d:x/d:z/' mixed.csv >wrong.csv
run fit wrong.csv --kind what --target y -o m.gram
bad 3 "wrong.csv" "'d:z': there is no feature of that name"
sed 's/d:x/gradient/' mixed.csv >wrong.csv
run fit wrong.csv --kind what --target y -o m.gram
bad 3 "'gradient' is not a kind of row" 'laplacian'
printf 'x,what,y\n0,value,1\n1,box,2\n' >wrong.csv
run fit wrong.csv --kind what --target y -o m.gram
bad 3 'row 2' 'NAME_to'
printf 'x,what,y\n0,sum:a,1\n1,sum:a,2\n2,value,1\n' >wrong.csv
run fit wrong.csv --kind what --target y -o m.gram
bad 3 'row 2' 'target 2, in a sum of target 1'
printf 'x,what,y\n0,value,1\n1,value,2\n' >wrong.csv
run solve wrong.csv --kind what -o m.gram
bad 3 'no row is an equation'
printf 'x,what,y\n0,value,1\n0,value,2\n1,laplacian,2\n' >wrong.csv
run solve wrong.csv --kind what -o m.gram
bad 3 'rows 1 and 2' 'values 1 and 2'
printf 'x,what,s,y\n0,value,0,1\n0,value,0,2\n1,laplacian,0.1,2\n' >wrong.csv
run solve wrong.csv --kind what --row-noise s --target y -o m.gram
bad 3 'rows 1 and 2' 'values 1 and 2'
sed '3s/,0,2/,0.1,2/' wrong.csv >nearly.csv
run solve nearly.csv --kind what --row-noise s --target y -o m.gram --quiet
good

# Bayesian quadrature: the functions of the span exactly
LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 12; i++) { x = i / 6 - 0.5; printf "%.15g,%.15f\n", x, exp(-x) * sin(2 * x) } }' >values.csv
run integrate values.csv --kernel 'rbf(ell=0.8)' --measure 'uniform(-0.5,1.5)' --json --quiet
good
prints '"measure": "uniform(-0.5,1.5)"' '"weights": ['
near "$(number mean)" 0.0804571 1e-4
below "$(number std)" 1e-3
run integrate values.csv --measure 'normal(0.5,0.04)' -o q.gram --json --quiet
good
run predict q.gram values.csv -o p.csv --json --quiet
good
below "$(number rmse)" 1e-3
run integrate values.csv --measure 'uniform(1,0)'
bad 2 "--measure cannot be 'uniform(1,0)'"
run integrate values.csv
bad 2 '--measure is missing'

# a linear mean and unpenalised features are seen by derivatives as what they are
printf 'x,what\n1,d:x\n0.999,value\n1.001,value\n' >slope.csv
for how in '--method gp --mean linear' '--method krr --unpenalised x' '--loss huber --mean linear'; do
    run fit mixed.csv --kind what --target y $how --kernel 'rbf(ell=0.7)' --noise 1e-4 -o m.gram --quiet
    good
    run predict m.gram slope.csv -o s.out --quiet
    good
    near "$(sed -n 2p s.out)" "$(LC_ALL=C awk 'NR == 3 { a = $1 } NR == 4 { printf "%.10g", ($1 - a) / 0.002 }' s.out)" 1e-4
done
# candidates for the next values, and the rows of a file as the measure
LC_ALL=C awk 'BEGIN { print "x"; for (i = 0; i <= 40; i++) print -0.5 + i / 20 }' >candidates.csv
run integrate values.csv --kernel 'rbf(ell=0.2)' --measure 'uniform(-0.5,1.5)' --candidates candidates.csv --next 3 --json --quiet
good
prints '"candidates": 41' '"next": [' '"next_std": ['
run integrate values.csv --kernel 'rbf(ell=0.5)' --measure 'sample(candidates.csv)' --json --quiet
good
near "$(number mean)" 0.0653 0.01
run integrate values.csv --measure 'sample(nothing.csv)'
bad 3 'nothing.csv' 'Check the name'
run integrate values.csv --measure 'uniform(0,1)' --next 3
bad 2 '--next'
run integrate values.csv --measure 'uniform(0,1)*normal(0,1)'
bad 2 'more factors than there are columns'

# mean embeddings: of a law with its MMD from the rows, of the rows; kept as functions
printf 'a,b\n0,0.1\n0.5,0.9\n1,0.4\n-1.5,0.3\n0.2,0.6\n' >rows.csv
run embed rows.csv --kernel 'rbf(ell=0.7)' --measure 'normal(0,1)*uniform(0,1)' -o e.csv --model e.gram --json --quiet
good
prints '"measure": "normal(0,1)*uniform(0,1)"' '"mmd": 0.' '"mmd_squared_u": ' '"norm": 0.617'
[ "$(head -n 1 e.csv)" = embedding ] || wrong 'should name the column'
run predict e.gram rows.csv -o again.csv --quiet
good
cmp -s e.csv again.csv || wrong 'the model has the same values'
run embed rows.csv --kernel 'rbf(ell=0.7)' --at rows.csv -o - --quiet
good
near "$(sed -n 2p out)" 0.5436 0.15
run embed rows.csv --measure 'normal(0,1)' -o e.csv
bad 2 '--measure' 'has 1 factor'

# a test of fit by samples of the law, and rows that stand for it
run test fit rows.csv --measure 'normal(0,1)*uniform(0,1)' --json --quiet
good
prints '"method": "draws"' '"measure": "normal(0,1)*uniform(0,1)"' '"reject": false'
run test fit rows.csv --measure 'normal(9,1)*uniform(0,1)' --gate --quiet
[ "$code" = 10 ] || wrong 'should reject'
run test fit rows.csv --measure 'normal(0,1)*uniform(0,1)' --method chain
bad 2 '--measure'
run test fit rows.csv --measure 'normal(0,1)*uniform(0,1)' --density 'gaussian()'
bad 2 '--measure goes without'
run thin rows.csv -m 2 --method herding --measure 'normal(0,1)*uniform(0,1)' --json
good
prints '"target": "normal(0,1)*uniform(0,1)"' '"indices": ['
run thin rows.csv -m 2 --measure 'normal(0,1)*uniform(0,1)' --scale
bad 2 '--measure'

# what is wrong is said with its row and column, and what to do
cat >back.csv <<'EOF'
x,x_to,x_sd,what,y
0,-1,1,box,0
1,2,1,value,2
2,3,1,value,1
EOF
run fit back.csv --kind what --target y -o m.gram
bad 3 "back.csv: row 1: column 'x_to': -1 is below the beginning of the box, 0"
sed 's/^0,-1,1,box/0,1,-2,normal/' back.csv >spread.csv
run fit spread.csv --kind what --target y -o m.gram
bad 3 "spread.csv: row 1: column 'x_sd': -2 is below 0"
cat >small.csv <<'EOF'
x,what,y,zero
0,value,0,0
1,d:x,1,0
2,value,1,0
1.5,value,0,0
3,d:x,0,0
EOF
sed 's/^1,d:x/1,flow/' small.csv >flow.csv
run solve flow.csv --kind what --target y --operator 'flow=' -o m.gram
bad 3 "flow.csv: row 2: operator 'flow' has no expression"
run solve flow.csv --kind what --target y --operator 'flow=d:x - *d:x:x' -o m.gram
bad 3 "'*d:x:x' has nothing before *"
for solver in inducing:3 markov; do
    run fit small.csv --kind what --target y --ignore zero --method gp --solver $solver --kernel 'matern(nu=1.5, ell=1)' --noise 0.1 -o m.gram --quiet
    bad 2 'the rows are functionals' "${solver%:3}"
done
run fit small.csv --kind what --target y --ignore zero --solver nystrom:3 --kernel 'rbf(ell=1)' --lambda 0.1 -o m.gram --quiet
bad 2 'nystrom: the rows are functionals'
run fit small.csv --kind what --target y --ignore zero --method gp --kernel 'rbf + white' -o m.gram --quiet
bad 2 'white has no functionals but values'
run fit small.csv --kind what --target y --ignore zero --method gp --kernel ntk -o m.gram --quiet
bad 2 'functions of ntk have 0'
run fit small.csv --kind what --target y --ignore zero --method gp --kernel 'nngp(act=erf, sb=1)' --noise 0.1 -o m.gram --quiet
good
for kernel in 'normalize(poly(m=3, c=1))' 'centre(rbf)'; do
    run fit small.csv --kind what --target y --ignore zero --method gp --kernel "$kernel" --noise 0.1 -o m.gram --quiet
    good
    run predict m.gram small.csv --std --quiet
    good
done

# rows without any noise of their own are rows; weights that are all 0 are none
run fit small.csv --kind what --target y --row-noise zero --method gp --kernel 'rbf(ell=1)' --noise 0.1 -o m.gram --quiet
good
run fit small.csv --kind what --target y --weights zero --kernel 'rbf(ell=1)' --lambda 0.1 -o m.gram
bad 3 "column 'zero': all weights are 0"
