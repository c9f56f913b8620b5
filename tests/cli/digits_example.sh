# examples/digits.sh: runs to its end, and the coupled embedding recognises more digits than pixels do.
. "$SOURCE/tests/cli/helper"

IMAGES=600 sh "$SOURCE/examples/digits.sh" . >said 2>err || {
    cat said err
    exit 1
}
LC_ALL=C awk '/by pixels/ { pixels = $NF } /coupled embedding/ { coupled = $NF }
    END { exit !(pixels > 0.7 && coupled > pixels + 0.1) }' said || {
    cat said
    exit 1
}
[ "$(head -n 1 probes.csv)" = a1,a2,a3,a4,a5,a6,a7,a8,a9,a10 ]
[ "$(wc -l <gallery.csv)" = 301 ]
