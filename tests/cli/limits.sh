# Over a limit: exit code 5, and what was there stays whole.
. "$SOURCE/tests/cli/helper"

awk 'BEGIN { for (i = 0; i < 4000; i++) print i "," i % 7 }' >data.csv
run kernel rbf data.csv --memory 200K
bad 5 'memory budget of 200 KiB' '--memory'
run kernel rbf data.csv --gram nowhere/K.npy
bad 5 'gram: nowhere/K.npy: cannot be written'
run kernel rbf data.csv --gram /dev/null
bad 5 'gram: /dev/null: cannot be written: it is not a regular file'
[ -c /dev/null ] || wrong '/dev/null should stay a device'
run kernel rbf data.csv --gram .
bad 5 'it is a folder'
run kernel rbf data.csv -o nowhere/report
bad 5 'gram: nowhere/report: cannot be written'

# a limit on the size of files plays the full disk; the old file stays
printf 'old' >K.npy
code=0
(
    trap '' XFSZ
    ulimit -f 2000
    exec "$GRAM" kernel rbf data.csv --gram K.npy
) >out 2>err || code=$?
last='gram kernel with a limit on the size of files'
bad 5 'gram: K.npy: no room for its 122.1 MiB'
[ "$(cat K.npy)" = old ] || wrong 'should keep the old file'
[ -z "$(ls -A | grep '^\.')" ] || wrong 'should leave no temporary file'

if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    run kernel rbf data.csv --gram closed/K.npy
    chmod u+w closed
    bad 5 'gram: closed/K.npy: cannot be written'
fi

# standard output that is full, and one that nobody reads
if [ -c /dev/full ]; then
    code=0
    "$GRAM" kernel rbf >/dev/full 2>err || code=$?
    : >out
    bad 5 'standard output: cannot be written'
fi
{
    sleep 0.2
    code=0
    "$GRAM" help kernel 2>err || code=$?
    echo "$code" >code
} | :
[ "$(cat code)" = 0 ] || wrong 'a reader that goes away is no failure'
[ ! -s err ] || wrong 'a reader that goes away is no failure'

# columns that no model file can hold are refused before the fit, not after it; without a model there is nothing to refuse
{
    head -c 12000000 /dev/zero | tr '\0' '\1'
    printf ',y\n1,2\n2,3\n3,1\n4,2\n5,7\n'
} >wide.csv
run fit wide.csv --method gp --kernel 'rbf(ell=1)' --noise 0.1 -o wide.gram
bad 2 'take more than the 64 MiB of a model file'
! grep -q '^plan' err || wrong 'should refuse before the plan'
[ ! -e wide.gram ] || wrong 'should write no model'
run fit wide.csv --method gp --kernel 'rbf(ell=1)' --noise 0.1 --quiet --json
[ "$code" = 0 ] || wrong 'should fit without a model'
