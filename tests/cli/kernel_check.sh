# gram kernel --check, --spectrum, --lambda, --plot, and the words of other tools, against numbers known beforehand.
. "$SOURCE/tests/cli/helper"

# poly(m=1, c=0) on 3, 4 and 0: K has rank 1, its one eigenvalue is 9 + 16
printf 'x\n3\n4\n0\n' >line.csv
run kernel 'poly(m=1, c=0)' line.csv --check --spectrum 2 --lambda 0.5 --json
good
prints '"rows_checked": 3' '"psd": true' '"symmetric": true' '"certificate": null' '"cauchy_schwarz": {"holds": true' \
    '"kernel_metric": {"min": 1, "median": 3, "max": 4, "rows": 3}' '"lambda": 0.5'
grep -Eq '"max_eigenvalue": (25|24\.99999999|25\.0000000)' out || wrong 'the largest eigenvalue should be 25'
grep -Eq '"min_eigenvalue": (0|-?[0-9.]+e-[123][0-9]),' out || wrong 'the smallest eigenvalue should be 0'
grep -Eq '"spectrum": \[(25|24\.99999999|25\.0000000)[0-9]*, [^],]+\]' out || wrong 'should print two eigenvalues'
grep -Eq '"spectrum_shares": \[(1|0\.99999999|1\.0000000)' out || wrong 'should print shares'
# 25/(25 + 3 * 0.5)
grep -Eq '"effective_dimension": 0\.943396226' out || wrong 'the effective dimension should be 0.943396'
run kernel 'poly(m=1, c=0)' line.csv --check --spectrum 9 --lambda 0.5
good
prints 'all 3' 'yes, bit for bit' 'effective dim.      0.943396 at lambda = 0.5' '1 to 4, median 3, over pairs of 3 rows'
grep -Eq '^positive semidef\. +yes, the smallest eigenvalue is ' out || wrong 'should say that K is positive semi-definite'
grep -Eq '^1 +25 +1 +1$' out || wrong 'should list the largest eigenvalue'
[ "$(grep -Ec '^[0-9] +[-0-9.e]+ +[-0-9.e]+ +[-0-9.e]+$' out)" = 3 ] || wrong 'should list three eigenvalues'
run kernel rbf line.csv --json # not asked for: no such keys
good
! grep -Eq 'eigenvalue|psd|spectrum|effective' out || wrong 'should not look at the spectrum'

# Cauchy-Schwarz is tight for the pair of parallel points; rows count from 1
printf '0,1\n1,0\n2,0\n' >plane.csv
run kernel 'poly(m=1, c=0)' plane.csv --check --json
good
prints '"cauchy_schwarz": {"holds": true, "largest_ratio": 1, "rows": [2, 3]}'

# one row
printf 'x\n7\n' >one.csv
run kernel 'rbf(ell=1)' one.csv --check --spectrum 3 --json
good
prints '"rows_checked": 1' '"min_eigenvalue": 1,' '"spectrum": [1]' '"largest_ratio": null, "rows": []' \
    '"kernel_metric": {"min": null, "median": null, "max": null, "rows": 1}'
run kernel 'rbf(ell=1)' one.csv --check
good

# the kernel metric of near points has all its digits: |x - y|/ell, where 1 - k is 0
printf '0\n1e-9\n' >near.csv
run kernel 'rbf(ell=1)' near.csv --check --json
good
prints '"kernel_metric": {"min": 1e-09,'

# an indefinite kernel: K = [tanh(-1), tanh(-1); tanh(-1), tanh(0)], det < 0
printf '0\n1\n' >two.csv
run kernel 'sigmoid(a=1, c=-1)' two.csv --check --json
good
prints '"psd": false' '"certificate": {"quadratic_form": -1.2' '"entries": [{"row": 1, "weight": 0.85' \
    '"min_eigenvalue": -1.2' '"holds": false' '"rows": [1, 2]'
run kernel 'sigmoid(a=1, c=-1)' two.csv --check
good
prints "v'Kv = -1.2" 'largest at row 1 (0.85' ', row 2 (0.52'
grep -Eq '^positive semidef\. +no, ' out || wrong 'should say no'
grep -Eq '^Cauchy-Schwarz +no, ' out || wrong 'should say no'

# many rows, or little memory: a sample, the same for the same seed, another for another
awk 'BEGIN { for (i = 0; i < 600; i++) print i * 37 % 101 }' >many.csv
run kernel 'rbf(ell=5)' many.csv --check --memory 3M --seed 1
good
grep -Eq '^rows +[1-4][0-9][0-9] of 600, a sample' out || wrong 'should say that it took a sample'
run kernel 'rbf(ell=5)' many.csv --spectrum 600 --memory 3M --seed 1 --threads 1 --json
good
sed 's/.*"spectrum": \([^]]*\).*/\1/' out >first
run kernel 'rbf(ell=5)' many.csv --spectrum 600 --memory 3M --seed 1 --threads 2 --json
good
sed 's/.*"spectrum": \([^]]*\).*/\1/' out >second
cmp -s first second || wrong 'should be the same for the same seed and any number of threads'
run kernel 'rbf(ell=5)' many.csv --spectrum 600 --memory 3M --seed 2 --json
good
sed 's/.*"spectrum": \([^]]*\).*/\1/' out >second
! cmp -s first second || wrong 'should be another sample for another seed'
run kernel 'rbf(ell=5)' many.csv --check
good
prints 'all 600'

# a Gram matrix that overflows
printf '1e10\n2e10\n' >huge.csv
run kernel 'poly(m=40, c=1)' huge.csv --check
bad 4 'is inf; every entry must be finite' '--scale'

# words
run kernel '2*rbf(ell=0.5)'
good
prints 'In other tools' 'ConstantKernel(2) * RBF(length_scale=0.5)'
! grep -q LIBSVM out || wrong 'LIBSVM has no such kernel'
run kernel 'rbf(gamma=2)' --json
good
prints '"equivalents": {"scikit-learn": "RBF(length_scale=0.5)", "scikit-learn SVC": "SVC(kernel='"'rbf'"', gamma=2)", "LIBSVM": "-t 2 -g 2", "GPyTorch": "RBFKernel().initialize(lengthscale=0.5)", "kernlab": "rbfdot(sigma=2)", "liquidSVM": "KERNEL=GAUSS_RBF gamma=0.7071067811865476"}'
run kernel 'rbf' --json
good
prints '"equivalents": {}'
run kernel min
good
! grep -q 'In other tools' out || wrong 'no other tool has min'

# plots
mkdir empty
code=0
PATH=$PWD/empty "$GRAM" kernel rbf line.csv --spectrum 3 --plot plot.svg >out 2>err || code=$?
last='gram kernel --plot without gnuplot'
bad 5 'plot.svg: cannot be drawn: gnuplot was not found' 'Install gnuplot'
[ -z "$(ls -A | grep plot)" ] || wrong 'should leave no file'
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >empty/gnuplot
chmod +x empty/gnuplot
printf old >plot.svg
code=0
PATH=$PWD/empty:$PATH "$GRAM" kernel rbf line.csv --spectrum 3 --plot plot.svg >out 2>err || code=$?
last='gram kernel --plot with a gnuplot that fails'
bad 5 'plot.svg: gnuplot could not draw it'
[ "$(cat plot.svg)" = old ] || wrong 'should keep the old file'
[ "$(ls -A | grep -c plot)" = 1 ] || wrong 'should leave no other file'

if command -v gnuplot >/dev/null 2>&1; then
    name="it's <b> & \`touch bad\` _{1}.csv"
    cp many.csv "$name"
    run kernel 'rbf(ell=5)' "$name" --spectrum 20 --plot plot.svg
    good
    prints 'plot                plot.svg'
    head -n 3 plot.svg | grep -q '<svg' || wrong 'should be SVG'
    tail -n 3 plot.svg | grep -q '</svg>' || wrong 'should be whole'
    grep -q "rbf(ell=5) on it's &lt;b> &amp; \`touch bad\` _{1}.csv<" plot.svg ||
        grep -q "rbf(ell=5) on it's &lt;b&gt; &amp; \`touch bad\` _{1}.csv<" plot.svg || wrong 'should quote its title'
    [ ! -e bad ] || wrong 'should not run what stands in a name'
    run kernel 'rbf(ell=5)' many.csv --spectrum 20 --plot plot.png --json
    good
    prints '"plot": "plot.png"'
    [ "$(head -c 4 plot.png | tail -c 3)" = PNG ] || wrong 'should be PNG'
    run kernel 'rbf(ell=5)' many.csv --spectrum 20 --plot plot.pdf
    good
    [ "$(head -c 5 plot.pdf)" = %PDF- ] || wrong 'should be PDF'
    run kernel 'rbf(ell=5)' many.csv --spectrum 20 --plot nowhere/plot.svg
    bad 5 'nowhere/plot.svg: cannot be written'
    mkdir folder.svg
    run kernel 'rbf(ell=5)' many.csv --spectrum 20 --plot folder.svg
    bad 5 'folder.svg: cannot be written: it is a folder'
    run kernel 0 many.csv --spectrum 20 --plot zero.svg
    bad 4 'no eigenvalue is positive'
    [ -z "$(ls -A | grep '~')" ] || wrong 'should leave no temporary file'
fi
