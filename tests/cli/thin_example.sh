# examples/thin_chain.sh: runs to its end, and the thinned chain is better than the whole.
. "$SOURCE/tests/cli/helper"

sh "$SOURCE/examples/thin_chain.sh" . >said 2>err || {
    cat said err
    exit 1
}
grep -q '^"discrepancy": ' said
[ "$(wc -l <thinned.csv)" = 41 ]
grep -q 'Test of fit' said
