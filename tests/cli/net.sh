# gram net: a network beside its tangent kernel, what it says, keeps and refuses.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) { x = i / 8 - 2.5; printf "%.9f,%.9f\n", x, sin(2 * x) + 0.3 * x } }' >wave.csv
LC_ALL=C awk 'BEGIN { print "u,v,kind"; for (i = 0; i < 60; i++) { u = i % 10 - 4.5; v = int(i / 10) - 2.5
    print u "," v "," (u * v > 0 ? "same" : "other") } }' >two.csv

run net wave.csv --width 64 --steps 200 -o net.gram --quiet
good
prints 'width 64, depth 1, relu' 'its tangent kernel predicts' '1*ntk(depth=1, act=relu' 'of the tangent kernel'
run net wave.csv --width 64 --steps 200 --json --quiet
good
prints '"loss": ' '"ntk_loss": ' '"drift": ' '"losses": ['
run predict net.gram wave.csv -o predicted.csv
good
[ "$(wc -l <predicted.csv)" = 41 ] || wrong 'should have one row for each row'
run info net.gram
good
prints 'its tangent kernel predicts'

# number KEY: its value in the JSON of out
number()
{
    LC_ALL=C sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" out | head -n 1
}

# the wider, the nearer to what the kernel says
run net wave.csv --width 4096 --act tanh --steps 100 --centred --json --quiet
good
LC_ALL=C awk "BEGIN { l = $(number loss); k = $(number ntk_loss); d = $(number drift)
    exit !(k > 0 && l - k < 0.05 * k && k - l < 0.05 * k && d < 0.05) }" || wrong 'a wide network should do what its kernel says'
run net wave.csv --width 64 --mean-field --steps 300 --json --quiet
good
LC_ALL=C awk "BEGIN { exit !($(number drift) > 0.2) }" || wrong 'with mean fields the kernel should drift'

# layers of their own widths: (1 + 1) 48 + (48 + 1) 16 + (16 + 1) numbers; equal ones are what one width for all is
run net wave.csv --widths 48,16 --steps 50 -o layers.gram --quiet
good
prints 'depth 2' 'widths            48, 16' 'parameters 897'
run predict layers.gram wave.csv -o predicted.csv
good
run net wave.csv --widths 24,24 --steps 50 -o same.gram --quiet
good
run predict same.gram wave.csv -o same.csv
good
run net wave.csv --width 24 --depth 2 --steps 50 -o one.gram --quiet
good
run predict one.gram wave.csv -o one.csv
good
cmp -s same.csv one.csv || wrong 'equal widths should be one width'

# several, and classes
run net wave.csv --width 32 --depth 2 --act erf --members 4 --steps 100 -o many.gram --quiet
good
run predict many.gram wave.csv --std -o spread.csv
good
[ "$(head -n 1 spread.csv)" = 'mean,std' ] || wrong 'should have mean and std'
run predict net.gram wave.csv --std
bad 2 'a single network' '--members'
run net two.csv --width 64 --steps 300 --batch 20 --momentum 0.9 -o classes.gram --quiet
good
prints 'Classification'
run predict classes.gram two.csv --prob -o p.csv
good
[ "$(head -n 1 p.csv)" = 'label,p_other,p_same' ] || wrong 'should have probabilities'

# what is refused
for depth in 0 -1 65; do
    run net wave.csv --depth=$depth
    bad 2 '--depth'
done
run net wave.csv --width 0
bad 2 '--width'
for widths in '' 64,,32 64,0 64,x 64,32, 1048577; do
    run net wave.csv --widths="$widths"
    bad 2 '--widths'
done
run net wave.csv --widths 64,32 --depth 3
bad 2 'has 2 layers, but --depth is 3'
run net wave.csv --widths 64,32 --width 8
bad 2 'give one of --width and --widths' 'takes the place'
run net wave.csv --output-scale=-1
bad 2 '--output-scale'
run net wave.csv --sb=-1
bad 2 '--sb'
run net wave.csv --act sigmoid
bad 2 '--act'
run net wave.csv --batch 41 --quiet
bad 2 '--batch 41 is more than the 40 rows'
run net wave.csv --kernel rbf
bad 2 '--kernel'
run net wave.csv --rate 100 -o never.gram --quiet
bad 4 'diverges' 'shorter --rate'
[ ! -e never.gram ] || wrong 'should leave no model'
head -n 1 wave.csv >none.csv
run net none.csv
bad 3 'none.csv'

# pictures, of one feature with functions
if command -v gnuplot >/dev/null; then
    for file in wave two; do
        run net $file.csv --width 16 --steps 30 --plot $file.svg --quiet
        good
        grep -q 'tangent kernel predicts' $file.svg || wrong 'should draw losses'
    done
    grep -q 'infinite width' wave.svg || wrong 'should draw functions'
fi
