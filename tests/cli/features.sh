# gram features: explicit, random and landmark features of rows and of new ones, as CSV and as an array of NumPy, and refusals.
. "$SOURCE/tests/cli/helper"

printf 'x,y\n1,2\n3,-1\n0.5,0.25\n-2,1\n' >data.csv

# (x.y + 1)^2: the inner products of the features are the kernel's, exactly; the example of docs/features.md
run features data.csv --kernel 'poly(m=2,c=1)' -o z.csv --model z.gram --quiet
good
for row in 'features' 'error'; do
    line=$(grep "^$row " out) || wrong "should print '$row'"
    grep -qF -- "    $line" "$SOURCE/docs/features.md" || wrong "docs/features.md should have '$line'"
done
[ "$(head -n 1 z.csv)" = 'z1,z2,z3,z4,z5,z6' ] || wrong 'should have 6 columns'
while read -r line; do
    grep -qF -- "    $line" "$SOURCE/docs/features.md" || wrong "docs/features.md should have '$line'"
done <z.csv
LC_ALL=C awk -F, 'FNR == 1 { next } NR == FNR { x[FNR] = $1; y[FNR] = $2; next } { for (j = 1; j <= 6; j++) z[FNR, j] = $j }
    END { for (a = 2; a <= 5; a++) for (b = 2; b <= 5; b++) { s = 0; for (j = 1; j <= 6; j++) s += z[a, j] * z[b, j]
        d = s - (x[a] * x[b] + y[a] * y[b] + 1)^2; if (d > 1e-12 || d < -1e-12) exit 1 } }' data.csv z.csv || wrong 'should be the kernel'
run predict z.gram data.csv -o again.csv
good
cmp z.csv again.csv || wrong 'a model should say the same'
run info z.gram
good
prints 'feature-map, transform on 2 features' '6 explicit features'

run features data.csv --kernel 'rbf(ell=2)' --tolerance 1e-3 --json --quiet -o z.npy
good
prints '"kernel": "rbf(ell=2)"' '"n": 4' '"d": 2' '"dimension": ' '"error_estimate": ' '"degree": ' '"out": "z.npy"' '"scaled": false'
[ "$(head -c 6 z.npy | tail -c 5)" = NUMPY ] || wrong 'should be an array of NumPy'
run kernel linear z.npy --json --quiet # a table like others
good
prints '"n": 4'
run features data.csv --kernel 'rbf(ell=2)' --degree 3 --json --quiet
good
prints '"degree": 3' '"dimension": 10'
run features data.csv --kernel 'matern(nu=1.5,ell=1)' --fourier 50 --json --quiet -o a.csv --seed 3
good
prints '"dimension": 50' '"map": "fourier"'
run features data.csv --kernel 'matern(nu=1.5,ell=1)' --fourier 50 --quiet -o b.csv --seed 3
cmp a.csv b.csv || wrong 'the same seed should give the same features'
run features data.csv --kernel 'matern(nu=1.5,ell=1)' --fourier 50 --quiet -o b.csv --seed 4
! cmp -s a.csv b.csv || wrong 'another seed should give others'
run features data.csv --kernel 'laplace1(ell=1)' --binning 30 --json --quiet -o z.npz
good
prints '"dimension": 30720' '"map": "binning"' '"error_estimate"'
[ "$(unzip -Z1 z.npz 2>/dev/null | tr '\n' ' ' || true)" = 'data.npy indices.npy indptr.npy shape.npy format.npy ' ] || ! command -v unzip >/dev/null ||
    wrong 'should have the arrays of scipy'
run features data.csv --kernel 'laplace1(ell=1)' --binning 3 --width 4 --quiet -o z.csv
good
[ "$(LC_ALL=C awk -F, 'NR == 2 { for (i = 1; i <= NF; i++) n += $i != 0; print NF, n }' z.csv)" = '12 3' ] || wrong 'should have one number for each grid'
run features data.csv --kernel 'laplace1(ell=1)' --binning 30 -o z.csv --quiet
bad 2 '30720 columns, nearly all of them 0' '.npz'
run features data.csv --kernel 'rbf(ell=1)' --binning 30 --quiet
bad 2 'no bins can be drawn of rbf' 'laplace1'
run features data.csv --kernel 'laplace1(ell=1)' --binning 30 --width 12
bad 2 '--width 12 is not a power of two'
run features data.csv --kernel 'rbf(ell=1)' --fourier 20 --frequencies orthogonal --quiet -o b.csv
good
run features data.csv --kernel 'rbf(ell=1)' --frequencies qmc
bad 2 '--frequencies is for --fourier'
run features data.csv --kernel 'rbf(ell=1)' --error 0.5 --json --quiet
good
prints '"map": "fourier"' '"dimension": '
run features data.csv --kernel 'laplace(ell=1)' --error 0.5 --quiet
bad 2 'no uniform bound'
run features data.csv --kernel 'nngp(sb=1)' --neural 20 --json --quiet
good
prints '"dimension": 21' '"map": "neural"'
run features data.csv --kernel 'rbf(ell=1)' --neural 20 --quiet
bad 2 'nngp(depth=1)'
run features data.csv --kernel 'min(o=-3)' --nystrom 3 --json --quiet
good
prints '"dimension": 3' '"map": "nystrom"'
printf 'x\n1\nNA\n3\n' >gaps.csv
run features gaps.csv --kernel linear --missing drop -o z.npy --quiet
good
run kernel linear z.npy --quiet
bad 3 'z.npy'

run features data.csv --kernel 'matern(nu=1.5,ell=1)' --quiet
bad 2 'matern has no explicit features' '--fourier D'
run features data.csv --kernel 'rbf(ell=0.001)' --quiet
bad 2 'are not made' '--tolerance'
run features data.csv --kernel linear --fourier 10 --quiet
bad 2 'no frequencies can be drawn of linear' '--nystrom'
run features data.csv --kernel 'rbf(ell=1)' --fourier 7
bad 2 '--fourier 7 is odd'
run features data.csv --kernel 'rbf(ell=1)' --fourier 8 --degree 3
bad 2 '--degree is for explicit features, not for --fourier'
run features data.csv --fourier 8 --nystrom 3
bad 2 '--nystrom'
run features data.csv --kernel 'const(0)' --nystrom 3 --quiet
bad 3 '0 to rounding'
printf 'x\n' >empty.csv
run features empty.csv
bad 3 'empty.csv'
run features data.csv --weights x
bad 2 '--weights is not for'
run help features
good
prints '--explicit' '--fourier D' '--nystrom M' '--binning P' '--neural D' '--error E' '.npy, .npz'
