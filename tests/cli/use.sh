# Help, version, and wrong use: exit code 2, the name, the nearest one.
. "$SOURCE/tests/cli/helper"

run help
good
prints 'Usage: gram VERB' 'kernel' 'help VERB'
cp out usage
run --help
good
cmp -s out usage || wrong 'should be the same as help'
run help kernel
good
prints 'Usage: gram kernel EXPRESSION [DATA]' '--gram' '--features LIST' '-o, --out FILE' '--memory SIZE' 'Examples:' \
    'matern(nu=2.5, ell)' 'exp(-|x - y|^2 / (2 ell^2))'
cp out usage
run kernel --help
good
cmp -s out usage || wrong 'should be the same as help kernel'
run --version
good
prints 'gram ' 'instructions' 'OpenBLAS' 'threads'

run
[ "$code" = 2 ] || wrong 'should exit with 2'
grep -q '^Usage: gram VERB' err || wrong 'should print its use'
[ ! -s out ] || wrong 'should print no result'

run kernl rbf
bad 2 "no verb 'kernl', did you mean 'kernel'?"
run frobnicate
bad 2 "no verb 'frobnicate'" 'gram help'
run --frobnicate
bad 2 "no option '--frobnicate'"
run help kernle
bad 2 "did you mean 'kernel'?"

run kernel rbf --jsom
bad 2 "no option '--jsom', did you mean '--json'?"
run kernel rbf --zzzzzz=3
bad 2 "no option '--zzzzzz'"
run kernel rbf -Z
bad 2 "no option '-Z'"
run kernel rbf --json=1
bad 2 '--json takes no value'
run kernel rbf --threads
bad 2 '--threads needs a value: N'
for value in 0 -1 1025 two 1.5 ''; do
    run kernel rbf --threads "$value"
    bad 2 "--threads cannot be '$value'" 'from 1 to 1024'
done
for value in 0 -8G 8X G 1e99 ''; do
    run kernel rbf --memory "$value"
    bad 2 "--memory cannot be '$value'"
done
for value in 8G 500m 1.5GiB 1000000B 2T; do
    run kernel rbf --memory "$value"
    good
done
run kernel rbf --seed -3
bad 2 "--seed cannot be '-3'"
run kernel rbf --seed 18446744073709551615
good
run kernel rbf --format xls
bad 2 "--format cannot be 'xls'" 'csv, tsv, npy'
run kernel
bad 2 'too few arguments' 'Usage: gram kernel EXPRESSION [DATA]'
run kernel rbf a.csv b.csv
bad 2 "one argument too many: 'b.csv'"
for option in --gram=K.npy --check --spectrum=3 --lambda=0.1 --features=1 --ignore=1 --scale --format=csv; do
    run kernel rbf "$option"
    bad 2 'needs DATA'
done
run kernel rbf a.csv --dimension 2
bad 2 '--dimension is for a kernel without DATA'
for value in 0 -1 x inf nan 1e999 ''; do
    run kernel rbf a.csv --lambda "$value"
    bad 2 "--lambda cannot be '$value'"
done
run kernel rbf a.csv --spectrum 0
bad 2 "--spectrum cannot be '0'"
run kernel rbf a.csv --plot plot.svg
bad 2 '--plot needs --spectrum K'
run kernel rbf a.csv --spectrum 3 --plot plot.jpg
bad 2 "--plot cannot draw 'plot.jpg'" '.svg, .png or .pdf'
run kernel rbf a.csv --gram -
bad 2 '--gram cannot write to standard output'

run kernel 'rbf(el=1)'
bad 2 "no parameter 'el', did you mean 'ell'?"
run kernel 'rbg(ell=1)'
bad 2 "no kernel 'rbg', did you mean 'rbf'?"
run kernel 'rbf(ell=-1)'
bad 2 'ell'
run kernel 'rbf('
bad 2 'kernel: column'
run kernel ''
bad 2 'kernel'
run kernel 'on(3, rbf)' --dimension 2
bad 2 'column 3'
run kernel 'on(70000, rbf)'
good
prints 'Properties on R^70000'
run kernel 'rbf(ell=[1,2]) + on(3, rbf)'
bad 2 'ell has 2 numbers, but the kernel sees 3 columns' 'different numbers of columns'

# an option given twice is an error, every one of every verb, in long and in short
options_of()
{
    "$GRAM" $1 --help | sed -n 's/^  \(-., \)\{0,1\}--\([a-zA-Z-]*\)\( [^ ]\)\{0,1\}.*/\2\3/p'
}

# a value that the option takes
value_of()
{
    case $1 in
    method) case $2 in thin) echo greedy ;; "test fit") echo wild ;; *) echo gamma ;; esac ;;
    format) echo csv ;;
    missing) echo drop ;;
    precondition) echo med ;;
    interval | level | flip) echo 0.5 ;;
    count | draws | lag | every | permutations | dimension | spectrum | along | threads | seed | memory | time | lambda) echo 5 ;;
    block) echo 5 ;;
    *) echo x ;;
    esac
}

known=0
for verb in fit predict info convert kernel sample thin 'test two-sample' 'test independence' 'test fit'; do
    options_of "$verb" >options
    [ -s options ] || wrong "$verb --help should list options"
    while read -r name argument; do
        [ "$name" != help ] || continue
        if [ -n "$argument" ]; then
            value=$(value_of "$name" "$verb")
            run $verb "--$name" "$value" "--$name=$value"
        else
            run $verb "--$name" "--$name"
        fi
        bad 2 "--$name is given twice"
        known=$((known + 1))
    done <options
done
[ "$known" -gt 120 ] || wrong "should know more than $known options"
run kernel rbf -o a --out b
bad 2 '--out is given twice'
run thin a.csv -m 3 --count 4
bad 2 '--count is given twice'

# the process is called by the command's name
if [ -r /proc/self/comm ]; then
    mkfifo pipe
    "$GRAM" kernel rbf - <pipe >out 2>err &
    child=$!
    exec 3>pipe
    tries=0
    while [ "$(cat /proc/$child/comm)" != "$(basename "$GRAM" | cut -c1-15)" ] && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    last="the process of $GRAM"
    code=$(cat /proc/$child/comm)
    [ "$code" = "$(basename "$GRAM" | cut -c1-15)" ] || wrong 'should be called by its name'
    printf 'x\n1\n2\n' >&3
    exec 3>&-
    wait $child || wrong 'should succeed'
fi

# What is used, done and taken goes to standard error, and the result stays what it is.
run kernel rbf --json
good
cp out plain
run kernel rbf --json --verbose
[ "$code" = 0 ] || wrong 'should be done'
grep -q 'gram .* thread.*OpenBLAS.*memory budget.*seed 0' err || wrong 'should tell what it uses'
grep -q ' s  done, peak memory ' err || wrong 'should tell what it took'
sed 's/"\(seconds\|peak_bytes\)": *[0-9.e+-]*//g' plain >a
sed 's/"\(seconds\|peak_bytes\)": *[0-9.e+-]*//g' out >b
cmp -s a b || wrong 'should give the same result'

# near misses of verbs, options, methods, solvers, kernels, parameters, columns, pictures and words
run make sine -n 20 -o sine.csv
good
while read -r meant words; do
    # shellcheck disable=SC2086
    run $words --quiet
    if [ "$code" = 0 ]; then wrong "should fail"; fi
    if ! grep -qE "did you mean '$meant'|is it '$meant'" err; then wrong "should suggest $meant"; fi
done <<'END'
fit fti sine.csv
--method fit sine.csv --metod krr
krr fit sine.csv --method kr
exact fit sine.csv --solver exat
nystrom fit sine.csv --solver nystorm:20
rbf fit sine.csv --kernel rfb
ell fit sine.csv --kernel rbf(el=1)
x fit sine.csv --features xx
y fit sine.csv --target yy
x fit sine.csv --weights xx
loo fit sine.csv --tune lo
cv fit sine.csv --tune vc:5
regression fit sine.csv --task regresion
huber fit sine.csv --loss hubr
poisson fit sine.csv --method gp --likelihood poison
linear fit sine.csv --method gp --mean linera
mean fit sine.csv --missing men
csv fit sine.csv --format cvs
folds fit sine.csv --estimate fold
two-sample test twosample sine.csv sine.csv
permutation test two-sample sine.csv sine.csv --method permutatoin
gaussian test fit sine.csv --density gausian
scatter pca sine.csv --show scater --plot p.svg
kmeans cluster sine.csv -k 2 --method kmean
herding thin sine.csv -m 3 --method hearding
ask optimize aks s.json
ei optimize --var x=0:1 --acquisition eii --budget 3 -- true
sine make sin
uniform features sine.csv --nystrom 10 --landmarks unifrom
orthogonal features sine.csv --fourier 10 --frequencies orthogonl
relu net sine.csv --act rleu
fit help fitt
END
