# A method of two views: from one table or two, each view with its columns, preparation and kernel, and predictions from either.
. "$SOURCE/tests/cli/helper"

LC_ALL=C awk 'BEGIN { print "a,b,c,kind"
    for (i = 0; i < 30; i++) printf "%g,%g,%g,%s\n", i / 8, i * 37 % 11, i * i % 7, i % 2 ? "odd" : "even" }' >both.csv
cut -d, -f1,2,4 both.csv >first.csv
cut -d, -f3 both.csv >second.csv
kernels="--kernel-x rbf(ell=0.7) --kernel-y laplace(ell=0.2)"

# one table, two lists of columns
run paired both.csv --x a,b --y c $kernels -o one.csv --model one.gram --quiet
good
prints 'Coordinates of the rows on 2 features and on c; 30 rows' 'kernel              rbf(ell=0.7)' 'second kernel       laplace(ell=0.2)'
[ "$(head -n 1 one.csv)" = 'x1,y1' ] || wrong 'should name the columns after the views'
[ "$(wc -l <one.csv)" = 31 ] || wrong 'should have one row for each row'
run info one.gram
good
prints 'Features of the second view' 'second kernel'
run info one.gram --json
good
prints '"features": ["a", "b"]' '"second_features": ["c"]' '"second_kernel": "laplace(ell=0.2)"'

# both views of new rows, and each alone: the same numbers
run predict one.gram both.csv -o again.csv
good
cmp one.csv again.csv || wrong 'should predict what the fit said of its rows'
run predict one.gram first.csv --view x --quiet
good
cut -d, -f1 one.csv | cmp - out || wrong 'should predict from the first view alone'
run predict one.gram second.csv --view y --quiet
good
cut -d, -f2 one.csv | cmp - out || wrong 'should predict from the second view alone'

# two tables, with a column of labels that is no feature
run paired first.csv second.csv $kernels --label kind -o two.csv --model two.gram --json --quiet
good
prints '"labels": 1' '"targets": ["kind"]' '"second_features": ["c"]'
cmp one.csv two.csv || wrong 'two tables should be as one'
run paired both.csv both.csv --x a,b --y c $kernels --label kind -o two.csv --quiet
good
cmp one.csv two.csv || wrong 'two tables should be as one, with the columns that were chosen'

# a row that one view drops is dropped from both
sed '5s/[^,]*,/NA,/' first.csv >gap.csv
sed '9s/.*/NA/' second.csv >hole.csv
run paired gap.csv hole.csv $kernels --label kind --missing drop -o gaps.csv --quiet
good
prints '28 rows, 2 dropped'
[ "$(sed -n 5p gaps.csv)$(sed -n 9p gaps.csv)" = ,, ] || wrong 'should leave both rows empty'
sed '5d;9d' first.csv >fewer_first.csv
sed '5d;9d' second.csv >fewer_second.csv
run paired fewer_first.csv fewer_second.csv $kernels --label kind --no-scale -o fewer.csv --quiet
good
run paired gap.csv hole.csv $kernels --label kind --missing drop --no-scale -o gaps.csv --quiet
good
sed '5d;9d' gaps.csv | cmp - fewer.csv || wrong 'rows should stay together'

# two tables with columns of one name: a table of both cannot be
sed 's/a,b/c,b/' first.csv >named.csv
run paired named.csv second.csv --label kind --model named.gram --quiet
good
run predict named.gram named.csv
bad 2 'two views with columns of one name' '--view x or --view y'
run predict named.gram named.csv --view z
bad 2 "--view cannot be 'z'" 'x or y'
run predict named.gram named.csv --view x --quiet
good

run paired both.csv --x a
bad 2 'paired needs the columns of both views: give --x and --y'
run paired both.csv --x a,b --y b
bad 2 "column 'b' is in both --x and --y"
run paired both.csv --x a --y b --features c
bad 2 '--features is not for the two views'
run paired both.csv --x a --y zebra
bad 3 'zebra'
head -n 20 second.csv >short.csv
run paired first.csv short.csv --label kind
bad 3 'first.csv: 30 rows, and 19 in short.csv'
run paired first.csv second.csv --label colour
bad 3 'colour'
run pca both.csv second.csv
bad 2 'pca'
run pca both.csv --ignore kind --model pca.gram --quiet
good
run predict pca.gram both.csv --view x
bad 2 '--view is not for a model of one view'
run help paired
good
prints '--kernel-x E' '--y LIST' 'DATA [DATA]'
