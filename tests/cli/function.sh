# gram function: norms, inner products, sums and gradients of models; --terms of krr; unpenalised features.
. "$SOURCE/tests/cli/helper"

number() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d < t && -d < t) }' || wrong "$1 should be within $3 of $2"; }

LC_ALL=C awk 'BEGIN { print "x,z,c,y"
    for (i = 0; i < 40; i++) { x = (i * 17 % 40) / 8; z = (i * 7 % 40) / 10; printf "%g,%g,%s,%.12f\n", x, z, i % 3 ? "a" : "b", sin(x) + 2 * z } }' >f.csv
LC_ALL=C awk 'BEGIN { print "x,z,c,y"
    for (i = 0; i < 30; i++) { x = (i * 13 % 30) / 6; z = (i * 11 % 30) / 8; printf "%g,%g,%s,%.12f\n", x, z, i % 3 ? "a" : "b", cos(x) - z } }' >g.csv
printf 'x,z,c\n1,2,a\n2.5,1,b\n' >at.csv

kernel='rbf(ell=1) + on(2, matern(nu=2.5, ell=2))'
for name in f g; do
    run fit $name.csv --no-scale --kernel "$kernel" --lambda 1e-3 -o $name.gram --quiet
    good
    run predict $name.gram at.csv -o $name.out --quiet
    good
done

run function f.gram g.gram --json
good
prints '"norm": ' '"norm_g": ' '"inner": ' '"distance": ' '"cosine": '
near "$(LC_ALL=C awk -v a="$(number norm)" -v b="$(number norm_g)" -v i="$(number inner)" 'BEGIN { print a * a + b * b - 2 * i }')" \
    "$(LC_ALL=C awk -v d="$(number distance)" 'BEGIN { print d * d }')" 1e-3

# sums are models: values add up
run function f.gram g.gram --combine 2,-1 -o s.gram
good
prints 'inner product' 'distance' 's.gram'
run predict s.gram at.csv -o s.out --quiet
good
near "$(sed -n 3p s.out)" "$(paste -d' ' f.out g.out | LC_ALL=C awk 'NR == 3 { printf "%.15g", 2 * $1 - $2 }')" 1e-9
run info s.gram
good
prints 'combination, regression' 'norm'

# values and gradients, in the features' own units, which predictions by kinds have too
run fit f.csv --features x,z --target y --kernel 'rbf(ell=1)' --lambda 1e-3 -o k.gram --quiet
good
run function k.gram --at at.csv
good
prints 'value,d_x,d_z'
slope=$(sed -n 3p out | cut -d, -f3)
printf 'x,z,what\n2.5,0.9999,value\n2.5,1.0001,value\n' >ends.csv
run predict k.gram ends.csv -o ends.out --quiet
good
near "$slope" "$(LC_ALL=C awk 'NR == 2 { a = $1 } NR == 3 { printf "%.10g", ($1 - a) / 0.0002 }' ends.out)" 1e-4
run function k.gram --combine 0.5 --at at.csv --values half.csv --json
good
prints '"values": "half.csv"'
near "$(sed -n 3p half.csv | cut -d, -f3)" "$(LC_ALL=C awk -v s="$slope" 'BEGIN { printf "%.12g", s / 2 }')" 1e-9

# what is no function of the same space
run fit g.csv --no-scale --kernel 'rbf(ell=2)' --lambda 1e-3 -o other.gram --quiet
good
run function f.gram other.gram
bad 2 'the kernels differ'
run fit g.csv --kernel "$kernel" --lambda 1e-3 -o scaled.gram --quiet
good
run function f.gram scaled.gram
bad 2 "feature 'x' is scaled by other numbers"
run function f.gram --combine 1,2
bad 2 "--combine '1,2'"
run function f.gram --values v.csv
bad 2 '--values is where'

# the terms of a sum add up to it, less the constant
run fit f.csv --no-scale --kernel "$kernel" --lambda 1e-3 --no-intercept -o t.gram
if [ "$code" != 0 ]; then wrong "should succeed"; fi
prints 'norms of terms'
run predict t.gram at.csv --terms -o terms.csv --quiet
good
head -n 1 terms.csv | grep -q '^mean,term_1,term_2$' || wrong "should have the columns of the terms"
LC_ALL=C awk -F, 'NR > 1 { d = $1 - $2 - $3; if (d > 1e-9 || d < -1e-9) exit 1 }' terms.csv || wrong "terms should add up"
run predict t.gram at.csv --terms --std -o terms.csv
bad 2 '--std is not for'

# unpenalised features: lines go on beyond the data
printf 'x,z,c\n1,100,a\n1,101,a\n' >far.csv
for how in '--unpenalised z' '--mean linear' '--unpenalised z,c --loss absolute'; do
    run fit f.csv --no-scale --kernel 'on(1, rbf(ell=1))' --lambda 1e-4 $how -o u.gram --quiet
    good
    run predict u.gram far.csv -o far.out --quiet
    good
    near "$(LC_ALL=C awk 'NR == 2 { a = $1 } NR == 3 { printf "%.10g", $1 - a }' far.out)" 2 0.05
done
run info u.gram --json
good
prints '"unpenalised": "z, c=a, c=b"'
run fit f.csv --unpenalised w -o u.gram --quiet
bad 2 "there is no feature 'w'"
run fit f.csv --unpenalised z --mean linear -o u.gram --quiet
bad 2 'Leave one out.'
run fit f.csv --mean linear --no-intercept -o u.gram --quiet
bad 2 '--no-intercept means --mean zero'
