# fit --groups and --ordered: an estimate by folds is honest only if rows that belong together stay together.
. "$SOURCE/tests/cli/helper"

# thirty patients of five near rows each, whose level the features do not tell
LC_ALL=C awk 'BEGIN {
    seed = 7
    print "x,z,patient,y"
    for (p = 0; p < 30; p++) {
        level = 3 * (next_random() - 0.5); a = next_random(); b = next_random()
        for (i = 0; i < 5; i++)
            printf "%.5f,%.5f,p%d,%.5f\n", a + 0.01 * (next_random() - 0.5), b + 0.01 * (next_random() - 0.5), p, level + 0.1 * (next_random() - 0.5)
    }
}
function next_random() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >patients.csv

# number KEY: of the JSON object in out
number()
{
    sed -n "s/.*\"$1\": \([-0-9.e]*\).*/\1/p" out
}

run fit patients.csv --ignore patient --tune cv:5 --quiet --json
good
alone=$(number criterion)
run fit patients.csv --groups patient --quiet --json -o model.gram
good
together=$(number criterion)
LC_ALL=C awk -v a="$alone" -v t="$together" 'BEGIN { exit !(a < 0.05 && t > 0.3) }' || wrong "rows alone $alone, groups together $together"
prints '"tune": "cv:5"' '"features": ["x", "z"]'

# the model needs no groups
printf 'x,z\n0.5,0.5\n' >new.csv
run predict model.gram new.csv --quiet
good

for method in svm logistic; do
    sed 's/-.*$/low/; s/,[0-9.]*$/,high/' patients.csv | sed '1s/.*/x,z,patient,y/' >classes.csv
    run fit classes.csv --method $method --groups patient --kernel rbf --quiet --json
    good
    prints '"features": ["x", "z"]'
done

run fit patients.csv --ignore patient --ordered --quiet --json
good
prints '"tune": "cv:5"'

run fit patients.csv --groups patient --ordered
bad 2 '--groups and --ordered'
run fit patients.csv --groups patient --tune loo
bad 2 '--tune loo' '--tune cv:K'
run fit patients.csv --groups patient --method gp --kernel 'rbf(ell=0.3)' --noise 0.1 --estimate auto --quiet --json
good
prints '"kind": "folds"' '"by": "groups"'
run fit patients.csv --groups patient --method gp --estimate no
bad 2 '--groups' '--estimate'
run fit patients.csv --groups nobody
bad 3 "'nobody'"
sed '5s/p0/NA/' patients.csv >hole.csv
run fit hole.csv --groups patient --quiet
bad 3 'hole.csv' 'row 4' "'patient'"

# -0 and 0 are one group
printf 'x,g,y\n1,0,2\n2,-0,3\n3,0,1\n4,-0,2\n5,0,7\n6,-0,2\n' >zeros.csv
run fit zeros.csv --groups g --tune cv:2 --kernel rbf --quiet
bad 3 'group'
