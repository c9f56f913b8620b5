# gram kernel --density: values on a grid, atoms, JSON, pictures, refusals.
. "$SOURCE/tests/cli/helper"

# exp(-|t|) has 1/(pi (1 + w^2))
run kernel 'laplace(ell=1)' --density --grid 0:3:4 --quiet
good
prints 'Spectral density' 'k(t) = int S(w) cos(w t) dw' '0.318' '0.0318'
run kernel 'laplace(ell=1)' --density --grid 0:3:4 --json --quiet
good
prints '"density": {' '"frequencies": [0, 1, 2, 3]' '"values": [0.3183098861837907, 0.15915494309189535, 0.06366197723675814' '"atoms": []' \
    '"numeric": false' '"height": 1'
run kernel 'cosine(p=2) + 3' --density --quiet
good
prints 'atom at' '3.14159'
run kernel 'on(2,cosine(p=2))*on(1,rbf(ell=1))' --density --along 2 --json --quiet
good
prints '"atoms": [{"frequency": 3.14159' '"column": 2'
run kernel 'rbf(ell=1)*laplace(ell=1)' --density --json --quiet
good
prints '"numeric": true'
printf 'x\n1\n2\n4\n' >x.csv
run kernel rbf x.csv --density --json --quiet
good
prints '"density": {' '"kernel": "rbf(ell=2)"'
if command -v gnuplot >/dev/null; then
    run kernel 'rbf(ell=1)*cosine(p=1) + periodic(p=3,ell=1)' --density --plot density.svg --quiet
    good
    grep -q '<svg' density.svg || wrong 'should draw'
fi

run kernel min --density
bad 2 'min is not stationary'
run kernel rbf --density
bad 2 'ell' 'Give all numbers of the kernel, or DATA'
run kernel 'rbf(ell=1)' --density --grid 3:1:4
bad 2 "--grid cannot be '3:1:4'"
run kernel 'rbf(ell=1)' --grid 0:1:4
bad 2 '--grid needs --density'
run kernel 'rbf(ell=1)' --density --along 2
bad 2 '--along 2 of 1 columns'
run kernel 'rbf(ell=1)*laplace(ell=1)' --density --grid 0:1e9:3
bad 4 'too high'
