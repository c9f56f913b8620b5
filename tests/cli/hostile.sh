# What a file from a stranger may hold and must not do (SECURITY.md): names that a terminal, a shell or gnuplot would obey,
# a little file that unpacks to much, numbers that are none, models that are not what they say.
. "$SOURCE/tests/cli/helper"

# clean FILE...: no control character but tab and line end, and none of UTF-8's
clean()
{
    for file; do
        if LC_ALL=C tr -d '\t\n -~\200-\377' <"$file" | grep -q . || LC_ALL=C grep -q "$(printf '\302\233')" "$file"; then
            wrong "should not pass control characters on in $file"
        fi
    done
}

escape=$(printf '\033]0;owned\007\302\233m')
{
    printf '"`touch pwned`","$(touch pwned)'"'"'; system('"'"'touch pwned'"'"'); '"'"'","a%sb"\n' "$escape"
    for i in 1 2 3 4 5 6 7 8 9; do echo "$i,$((i * i % 7)),$((i * 5 % 11))"; done
} >names.csv
printf 'a,b%s\n1,2\n3,\n5,6\n' "$escape" >missing.csv

# messages are one line of text and one that helps, whatever a name holds
run fit missing.csv
bad 3 'missing.csv:3'
clean err
run fit names.csv --target nothere
bad 3 'nothere'
clean err
printf 'a,"b\nc"\n1,2\n3,\n5,6\n' >lines.csv
run fit lines.csv
bad 3 "column 'b?c'"

# names in a picture are text
run fit names.csv --kernel 'rbf(ell=1)' --lambda 0.1 -o names.gram --plot names.svg --quiet
[ "$code" = 0 ] || wrong 'should draw it'
[ ! -e pwned ] || wrong 'should not run what a column is called'

# reports on a terminal; to a file the bytes are what they are
if command -v script >/dev/null; then
    for verb in 'info names.gram' 'predict names.gram names.csv' 'thin names.csv -m 2'; do
        last="gram $verb on a terminal" code=0
        NO_COLOR=1 script -qec "'$GRAM' $verb" shown >/dev/null </dev/null || code=$?
        [ "$code" = 0 ] || wrong 'should succeed'
        sed -e '1d' -e '$d' shown | tr -d '\r' >text
        [ -s text ] || wrong 'should show something'
        clean text
    done
fi
run thin names.csv -m 2
LC_ALL=C grep -q "$(printf '\033')" out || wrong 'should keep the names in a file as they are'

# 70 MB of one line in 70 KB; many rows in a budget that is small: refused
head -c 70000000 /dev/zero | tr '\0' 1 | gzip -1 >line.csv.gz
run fit line.csv.gz --memory 300M
bad 3 'line.csv.gz' 'MiB'
yes 1,2,3 | head -c 12000000 | gzip -1 >many.csv.gz
run fit many.csv.gz --memory 30M --no-stream
bad 5 'many.csv.gz'

# a header that asks for more columns than there can be, a table that says it has 10^18 rows
{ printf '\223NUMPY\1\0v\0'; printf "%-117s\n" "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 2), }"; } >huge.npy
run fit huge.npy
bad 5 'huge.npy'
printf '1 99999999999999999999:1\n0 1:2\n' >index.svm
run fit index.svm
bad 3 'index.svm:1'

# a model is data: cut off, changed, or of another kind it is refused
run info names.csv
bad 3 'names.csv: this is not a model of gram'
head -c 1000 names.gram >cut.gram
run predict cut.gram names.csv
bad 3 'cut.gram'
sed 's/rbf(ell=1)/rbf(ell=0)/' names.gram >changed.gram
run predict changed.gram names.csv
bad 3 'changed.gram'
