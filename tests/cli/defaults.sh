# What gram fit chooses by itself: the family of the kernel, logarithms of features; what it says of them, keeps and refuses.
. "$SOURCE/tests/cli/helper"

# kinks, hardly any noise: matern is far better than rbf
LC_ALL=C awk 'BEGIN {
    srand(7); print "a,b,y"
    for (i = 0; i < 150; i++) {
        a = 2 * rand() - 1; b = 2 * rand() - 1; f = a < 0 ? -a : a; g = b < 0.3 ? 0.3 - b : b - 0.3
        printf "%.6f,%.6f,%.6f\n", a, b, f + g + 0.01 * (rand() - 0.5)
    }
}' >kinks.csv
run fit kinks.csv --quiet -o kinks.gram
good
prints 'kernel              matern(nu=' '  families          squared error of rows left out: matern(nu=2.5) 0.' ' of that of rbf'
cp out itself
run fit kinks.csv --quiet --kernel auto -o again.gram
good
[ "$(grep ^kernel out)" = "$(grep ^kernel itself)" ] || wrong '--kernel auto should be the default'
run info kinks.gram
good
prints 'matern(nu=' '  families '
run fit kinks.csv --quiet --kernel rbf --json
good
prints '"kernel": "rbf(ell='
grep -qF kernel_choice out && wrong 'a kernel that was asked for is compared with none'
run fit kinks.csv --quiet --method gp --json
good
prints '"kernel_choice": "minus the log density of rows left out: const*matern(nu=2.5) -' '*matern(nu='
run fit kinks.csv --quiet --tune none
good
grep -q families out && wrong 'nothing is compared where nothing is tuned'

# numbers like counts of words
LC_ALL=C awk 'BEGIN {
    srand(3); print "w1,w2,x,y"
    for (i = 0; i < 160; i++) {
        a = rand() < 0.4 ? 0 : exp(4 * rand() + 3 * rand() - 2); b = rand() < 0.5 ? 0 : exp(5 * rand()); x = rand()
        printf "%.6f,%.6f,%.6f,%.6f\n", a, b, x, log(1 + a) - log(1 + b) / 2 + x + 0.1 * rand()
    }
}' >words.csv
run fit words.csv --quiet --estimate folds:3 -o words.gram
good
prints 'transform           logarithms of ' ' with heavy tails: the loss of'
run predict words.gram words.csv -o p.csv --json
good
LC_ALL=C awk '{ at = index($0, "\"rmse\": "); if (substr($0, at + 8) + 0 > 0.2) exit 1 }' out || wrong 'should predict well'
run info words.gram
good
prints 'transform           logarithms of '
run fit words.csv --quiet --estimate folds:3 --transform none --json
good
grep -qF '"transform"' out && wrong 'should not think of logarithms'
run fit words.csv --quiet --transform log --json
good
prints '"transform": "logarithms of '
run fit words.csv --quiet --transform log --no-scale --json
good
grep -qF '"transform"' out && wrong '--no-scale should leave features as they are'
run fit words.csv --transform rank
bad 2 "--transform cannot be 'rank'" 'It may be auto, none or log.'
run fit words.csv --quiet --transform log --method svm --task regression -o machine.gram
good
run convert machine.gram machine.txt
bad 2 'is taken as a logarithm'
printf 'w1,w2,x,kind\n1,2,0.5,d:x\n' >slopes.csv
run predict words.gram slopes.csv --kind kind
bad 2 'as a logarithm'

# the plan says what all of it takes
run fit kinks.csv -o kinks.gram
grep -qE '^plan: 150 rows, 2 columns; exact, f64, about .* s with tuning' err || wrong 'the plan should have tuning in it'
