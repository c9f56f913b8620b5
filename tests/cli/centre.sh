# centre(a) in the kernel language: its rows are in the model
. "$SOURCE/tests/cli/helper"

cat >a.csv <<'EOF'
u,v,y
0.1,2,1.3
0.4,-1,0.2
0.9,0.5,-0.4
1.3,1.1,0.9
1.7,-0.3,2.2
2.1,0.8,1.6
2.6,1.9,0.1
3,-0.7,-1
EOF
cat >b.csv <<'EOF'
u,v
0.2,1
1.5,-0.5
5,3
EOF

# with a constant the centred kernel fits the same function
for kernel in 'rbf(ell=1)' 'centre(rbf(ell=1))'; do
    run fit a.csv --no-scale --kernel "$kernel" --lambda 1e-2 -o m.gram --quiet
    good
    run predict m.gram b.csv --quiet
    good
    cut -c 1-12 out >"$(echo "$kernel" | cut -c 1)"
done
cmp r c

# without one it does not; the rows of the fit are kept, so that pieces of a table have the values of the whole
run fit a.csv --kernel 'on(2, centre(rbf)) + on(1, matern(nu=1.5))' --no-intercept -o m.gram --quiet
good
prints 'on(2, centre(rbf(ell='
run predict m.gram b.csv --quiet
good
cp out whole
head -n 3 b.csv >two.csv
run predict m.gram two.csv --quiet
good
head -n 3 whole | cmp - out

for method in gp svm; do
    run fit a.csv --method $method --kernel 'centre(rbf)' -o m.gram --quiet
    good
    prints 'centre(rbf(ell='
    run predict m.gram b.csv --quiet
    good
done

# functions about other rows are of another space
run fit a.csv --no-scale --kernel 'centre(rbf(ell=1))' --lambda 1e-2 -o f.gram --quiet
head -n 7 a.csv >fewer.csv
run fit fewer.csv --no-scale --kernel 'centre(rbf(ell=1))' --lambda 1e-2 -o g.gram --quiet
good
run function f.gram f.gram
good
run function f.gram g.gram
bad 2 'the kernels differ'

run kernel 'centre(rbf)' a.csv --check
good
prints 'centre(rbf(ell='
run kernel 'centre'
bad 2 "'centre' needs a kernel: centre(rbf)"
run kernel 'centre(2, rbf)'
bad 2
