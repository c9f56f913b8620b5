# Limits of the system: address space, stacks, threads. gram ends by itself, with a result or with exit code 5.
. "$SOURCE/tests/cli/helper"

# the address sanitizer reserves more address space than any limit leaves
if nm -D "$GRAM" 2>/dev/null | grep -q __asan_init || ldd "$GRAM" 2>/dev/null | grep -q libasan; then exit 77; fi

LC_ALL=C awk 'BEGIN { srand(3); print "x,z,y"
    for (i = 0; i < 200; i++) { x = rand(); z = rand(); print x "," z "," sin(6 * x) + z * z + 0.1 * rand() } }' >data.csv
fit="fit data.csv --kernel rbf(ell=1) --noise 0.1"
run $fit -o free.gram
[ "$code" = 0 ] || wrong 'should succeed'

# ulimit -v, in kB: OpenBLAS maps 128 MiB for each thread, and waits without end where there is no room
folders=$(ls -d /usr/lib/*/openblas-pthread /usr/lib/*/openblas-openmp 2>/dev/null || echo none)
for folder in $folders; do
    for threads in 1 2 4 8 16; do
        for limit in 100000 150000 220000 300000 600000 1000000 2000000; do
            last="gram fit --threads $threads with $limit kB of address space and $folder"
            code=0
            (
                ulimit -v $limit
                LD_LIBRARY_PATH=$folder
                export LD_LIBRARY_PATH
                exec timeout -s KILL 120 "$GRAM" $fit --threads $threads -o m.gram
            ) >out 2>err || code=$?
            case $limit-$code in
            100000-5 | 150000-5) bad 5 'address space' ;;
            220000-5 | 300000-5) grep -q 'address space\|memory' err || wrong 'should say what is lacking' ;;
            *-0) ;;
            *) wrong 'should end with a result, or with 5 where there is no room' ;;
            esac
        done
    done
done

# a name stays the same when gram starts itself anew, and so does the number of threads that the environment asks for
code=0
(
    ulimit -v 4000000
    OMP_NUM_THREADS=3 exec "$GRAM" --version
) >out 2>err || code=$?
last='gram --version under a limit'
good
prints 'threads       3'
OMP_NUM_THREADS=3 run --version
prints 'threads       3'
(
    unset OMP_NUM_THREADS GRAM_THREADS
    "$GRAM" --version >free
    ulimit -v 4000000
    exec "$GRAM" --version >out
)
cmp -s free out || wrong 'should use as many threads as without the limit'

# more threads than there is memory for
run $fit --threads 1024 -o m.gram
[ "$code" = 0 ] || wrong 'should use fewer threads'
grep -q '^gram: --threads 1024: [0-9]* are used' err || wrong 'should say so'
cmp -s m.gram free.gram || wrong 'should learn the same'

# a plan is within a budget that is kept
for method in krr gp svm logistic; do
    for budget in 1M 6M; do
        run fit data.csv --method $method --task $([ $method = logistic ] && echo classification || echo regression) \
            --memory $budget -o m.gram
        [ "$code" = 0 ] || continue
        planned=$(sed -n 's/^plan:.*about \([0-9.]* [KMG]iB\).*/\1/p' err)
        echo "$planned" | LC_ALL=C awk -v most=${budget%M} '{
            bytes = $1 * ($2 == "KiB" ? 1 / 1024 : $2 == "MiB" ? 1 : 1024)
            exit !(bytes > 0 && bytes <= most)
        }' || wrong "should plan for $budget at most"
    done
done
run fit data.csv --method krr --kernel 'rbf(ell=1)' --lambda 0.1 --memory 1M -o m.gram
bad 5 'needs about' '--memory'

# small stacks, of the process and of OpenMP's threads, change nothing
for method in krr gp svm; do
    fit="fit data.csv --method $method --threads 3"
    run $fit -o free.gram
    [ "$code" = 0 ] || wrong 'should succeed'
    code=0
    (
        ulimit -s 128
        OMP_STACKSIZE=64K exec "$GRAM" $fit -o m.gram
    ) >out 2>err || code=$?
    last="gram $fit with small stacks"
    [ "$code" = 0 ] || wrong 'should succeed'
    cmp -s m.gram free.gram || wrong 'should learn the same'
done

# draws have the same bits whatever OpenBLAS's own number of threads is
for threads in 1 3; do
    OPENBLAS_NUM_THREADS=$threads run sample 'rbf(ell=0.2)' --grid 0:1:400 --draws 2 --threads $threads
    [ "$code" = 0 ] || wrong 'should succeed'
    cp out draws.$threads
done
cmp -s draws.1 draws.3 || wrong 'should draw the same'
