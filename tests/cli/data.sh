# Bad data: exit code 3, file, line and column.
. "$SOURCE/tests/cli/helper"

# refuse CONTENT TEXT...
refuse()
{
    printf "$1" >data.csv
    shift
    run kernel rbf data.csv
    bad 3 "$@"
}

run kernel rbf nowhere.csv
bad 3 'gram: nowhere.csv: cannot be opened'
run kernel rbf .
bad 3 'its ending'
mkdir folder.csv
run kernel rbf folder.csv
bad 3 'gram: folder.csv: cannot be read'
printf '1,2\n' >data.xyz
run kernel rbf data.xyz
bad 3 'gram: data.xyz: its ending' '--format'

refuse 'x1,x2,x3\n1,2,3\n4,5,abc\n' "gram: data.csv:3: column 'x3': not a number: 'abc'"
refuse 'x,y\n1,2\n3,\n' "gram: data.csv:3: column 'y': missing value"
refuse 'x,y\n1,NA\n' "gram: data.csv:2: column 'y': missing value"
refuse '1,nan\n' "gram: data.csv:1: column 'x2': missing value"
refuse '1,2\n3\n' 'gram: data.csv:2: 1 field, expected 2'
refuse 'a,a\n1,2\n' "gram: data.csv: columns 1 and 2 are both named 'a'"
refuse '' 'gram: data.csv: the file is empty'
refuse 'x,y\n' 'gram: data.csv: no rows after the header'
refuse 'x;y\n1,5;2.5\n' "gram: data.csv:2: column 'x': not a number: '1,5'"
refuse 'day,x\n2024-01-05,1\n20,2\n2024-01-07,2\n' "gram: data.csv:3: column 'day': not a date, as 2024-03-01: '20'"
printf '1,2\n3,x\n' >input
run kernel rbf - <input
bad 3 "gram: standard input:2: column 'x2': not a number: 'x'"
printf 'no numpy at all' >bad.npy
run kernel rbf bad.npy
bad 3 'gram: bad.npy: this is not an .npy file'

printf 'alpha,beta\n1,2\n3,-4\n' >data.csv
run kernel rbf data.csv --features alpah
bad 3 "gram: data.csv: no column 'alpah', did you mean 'alpha'?"
run kernel rbf data.csv --features 3
bad 3 'gram: data.csv: no column 3, there are 2'
run kernel rbf data.csv --ignore 1:2
bad 3 'no column is left'
run kernel rbf data.csv --features 1,,2
bad 2 'an item is empty'
run kernel 'on(3, rbf)' data.csv
bad 3 'column 3'
run kernel 'rbf(ell=[1,2,3])' data.csv
bad 3 'ell'
run kernel min data.csv
bad 3 "gram: data.csv: row 2, column 'beta': min: -4 is below the kernel's origin"
run kernel 'on(2, min)' data.csv --gram K.npy
bad 3 "gram: data.csv: row 2, column 'beta': min: -4 is below"
[ ! -e K.npy ] || wrong 'should leave no file'

# other formats, and a first row that is data
printf '+1 1:0.5 3:2\n-1 2:1\n' >data.libsvm
run kernel 'rbf(ell=1)' data.libsvm
good
prints 'data.libsvm, 2 rows, 4 columns'
gzip -c data.csv >data.csv.gz
run kernel 'rbf(ell=1)' data.csv.gz
good
prints 'data.csv.gz, 2 rows, 2 columns'
run kernel 'rbf(ell=1)' - --format libsvm <data.libsvm
good
prints 'standard input, 2 rows, 4 columns'
printf '+1 1:0.5 1:2\n' >data.libsvm
run kernel rbf data.libsvm
bad 3 "gram: data.libsvm:1: the indices do not ascend: '1:2'"
refuse 'red,1\nblue,2\n' "gram: data.csv:1: column 'x1': not a number: 'red'"
printf 'red,1\nblue,2\n' >data.csv
run kernel 'rbf(ell=1)' data.csv --ignore 1
good
prints 'data.csv, 2 rows, 1 column'
