# Ctrl-C: exit code 130 within a second or so, no half-written file, the old one kept.
. "$SOURCE/tests/cli/helper"

# interrupted PROCESS SIGNAL CODE
interrupted()
{
    start=$(date +%s)
    kill -s "$2" "$1"
    code=0
    wait "$1" || code=$?
    last="gram after $2"
    [ "$code" = "$3" ] || wrong "should exit with $3"
    [ $(($(date +%s) - start)) -le 3 ] || wrong 'should stop at once'
    grep -q '^gram: interrupted' err || wrong 'should say so'
    [ ! -s out ] || wrong 'should print no result'
}

# waiting for standard input
mkfifo pipe
"$GRAM" kernel rbf - <pipe >out 2>err &
process=$!
exec 3>pipe
printf '1,2\n' >&3
sleep 0.3
interrupted $process INT 130
exec 3>&-

# in the middle of a Gram matrix
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,%d\n", i * 37 % 1009, i * 53 % 997 }' >data.csv
kernel=$(awk 'BEGIN { for (i = 1; i <= 400; i++) printf "%smatern(nu=2.5, ell=%d)", (i > 1 ? " + " : ""), i }')
for signal in INT TERM; do
    printf 'old' >K.npy
    "$GRAM" kernel "$kernel" data.csv --gram K.npy >out 2>err &
    process=$!
    tries=0
    while [ -z "$(ls -A | grep '^\.K\.npy')" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || wrong 'should make a temporary file'
        sleep 0.05
    done
    sleep 0.1
    interrupted $process "$signal" "$([ "$signal" = INT ] && echo 130 || echo 143)"
    [ "$(cat K.npy)" = old ] || wrong 'should keep the old file'
    [ -z "$(ls -A | grep '^\.')" ] || wrong 'should leave no temporary file'
done
