# What a fit that is stopped, killed or out of room leaves behind: the old model whole, nothing else.
. "$SOURCE/tests/cli/helper"

# whole: m.gram is the old model, and nothing lies beside it
whole()
{
    cmp -s m.gram old.gram || wrong 'should keep the old model'
    [ -z "$(ls -A | grep 'm\.gram.')" ] || wrong "should leave nothing: $(ls -A)"
}

LC_ALL=C awk 'BEGIN { print "a,b,y"; for (i = 0; i < 2500; i++) print i * 37 % 1009 / 100 "," i * 53 % 997 / 100 "," sin(i * 37 % 1009 / 100) }' >data.csv
run fit data.csv --kernel 'rbf(ell=1)' --noise 0.1 --solver nystrom:50 --no-keep-factor -o m.gram --quiet
good
cp m.gram old.gram

# Ctrl-C in the middle of tuning
"$GRAM" fit data.csv -o m.gram --quiet >out 2>err &
process=$!
sleep 0.7
start=$(date +%s)
kill -s INT $process
code=0
wait $process || code=$?
last='gram fit after INT'
[ "$code" = 130 ] || wrong 'should exit with 130'
[ $(($(date +%s) - start)) -le 3 ] || wrong 'should stop at once'
grep -q '^gram: interrupted' err || wrong 'should say so'
whole

# kill -9 at any time: either the old model or the new one, never a part
"$GRAM" fit data.csv --kernel 'rbf(ell=1)' --noise 0.2 --solver nystrom:50 -o n.gram --quiet >out 2>err
cp n.gram new.gram
for wait in 0.02 0.05 0.08 0.11 0.14 0.17 0.2 0.24 0.28 0.32; do
    "$GRAM" fit data.csv --kernel 'rbf(ell=1)' --noise 0.2 --solver nystrom:50 -o m.gram --quiet >out 2>err &
    process=$!
    sleep "$wait"
    kill -s KILL $process 2>/dev/null || :
    wait $process 2>/dev/null || :
    last="gram fit killed after $wait s"
    cmp -s m.gram old.gram || cmp -s m.gram new.gram || wrong 'should leave a whole model'
done
cp old.gram m.gram
rm -f m.gram.* .m.gram*

# no room: a limit on the size of files plays the full disk
code=0
(
    trap '' XFSZ
    ulimit -f 8
    exec "$GRAM" fit data.csv --kernel 'rbf(ell=1)' --noise 0.2 --solver nystrom:500 -o m.gram --quiet
) >out 2>err || code=$?
last='gram fit with a limit on the size of files'
bad 5 'm.gram'
whole

# a disk that is full, where we may mount one
mkdir disk
if mount -t tmpfs -o size=40k none disk 2>/dev/null; then
    cp old.gram disk/m.gram
    code=0
    "$GRAM" fit data.csv --kernel 'rbf(ell=1)' --noise 0.2 --solver exact -o disk/m.gram --quiet >out 2>err || code=$?
    cmp -s disk/m.gram old.gram || code="$code, and the old model is damaged"
    [ "$(ls -A disk)" = m.gram ] || code="$code, and something is left: $(ls -A disk)"
    umount disk
    last='gram fit to a full disk'
    bad 5 'disk/m.gram'
fi

# a folder that is closed (root may write everywhere)
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    cp old.gram closed/m.gram
    chmod a-w closed
    run fit data.csv --kernel 'rbf(ell=1)' --noise 0.2 -o closed/m.gram --quiet
    chmod u+w closed
    bad 5 'closed/m.gram: cannot be written'
    cmp -s closed/m.gram old.gram || wrong 'should keep the old model'
fi
