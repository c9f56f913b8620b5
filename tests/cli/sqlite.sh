# Tables of SQLite databases by a query: the same as from CSV, read-only, hostile files and queries refused.
. "$SOURCE/tests/cli/helper"
python=/usr/bin/python3
[ -x $python ] && $python -c 'import sqlite3' 2>/dev/null || exit 77

$python - <<'END'
import math, sqlite3
rows = [(i, i / 10, ("red", "blue, or \"navy\"", "line\nend")[i % 3], math.sin(i / 10) + 0.01 * (i * 37 % 11)) for i in range(60)]
base = sqlite3.connect("base.sqlite")
base.execute("create table flats (id integer primary key, x real, colour text, y real)")
base.executemany("insert into flats values (?, ?, ?, ?)", rows)
base.execute("create table holes (x, y)")
base.executemany("insert into holes values (?, ?)", [(i, None if i == 3 else i * i) for i in range(8)])
base.execute("create table odd (x, y)")
base.executemany("insert into odd values (?, ?)", [(1, 2), (2, b"\x00\x01"), (3, 4)])
base.execute("create view tall as select x, y from flats where x > 2")
base.execute("create table days (day text, y real)")
base.executemany("insert into days values (?, ?)", [(f"2024-03-{i + 1:02d}", i * 0.5) for i in range(20)])
base.commit()
one = sqlite3.connect("one.db")
one.execute('create table "a ""table""" (x real, y real)')
one.executemany('insert into "a ""table""" values (?, ?)', [(i / 10, math.cos(i / 10)) for i in range(40)])
one.commit()
with open("flats.csv", "w", newline="") as out:
    import csv
    writer = csv.writer(out)
    writer.writerow(["x", "colour", "y"])
    writer.writerows([(repr(x), c, repr(y)) for _, x, c, y in rows])
empty = sqlite3.connect("empty.db")
empty.execute("create table bare (x, y)")
empty.commit()
loop = sqlite3.connect("loop.db")
loop.execute("create view x as with recursive n(i) as (select 1 union all select i + 1 from n) select i as a, i as b from n")
loop.commit()
END
run fit base.sqlite --query 'select 1'
if grep -q 'built without SQLite' err; then exit 77; fi
cp base.sqlite before

# the same model and predictions as from the rows as CSV
run fit flats.csv --kernel 'rbf(ell=1)' --lambda 0.01 --quiet -o csv.gram
good
run fit base.sqlite --query 'select x, colour, y from flats' --kernel 'rbf(ell=1)' --lambda 0.01 --quiet -o sql.gram
good
prints '1 of them text with 3 levels' '60 rows'
run predict sql.gram base.sqlite --query 'select id, y, colour, x from flats where id < 10;' --keep id -o p.csv
good
run predict csv.gram flats.csv -o q.csv
good
[ "$(sed 's/.*,//' p.csv | sed 1d)" = "$(sed 1d q.csv | head -n 10)" ] || wrong "should predict the same"

# one table needs no query; views, expressions, dates; other verbs
run fit one.db --kernel 'rbf(ell=1)' --lambda 0.01 --quiet
good
prints '40 rows'
run kernel 'rbf(ell=1)' base.sqlite --query 'select x, y from tall' --quiet
good
prints '39 rows, 2 columns'
run test two-sample base.sqlite flats.csv --query 'select x, y from flats' --features x --quiet
good
run pca base.sqlite --query 'select x, y, x * y as z from flats' -k 2 --quiet -o c.csv
good
run fit base.sqlite --query 'select * from days' --kernel 'rbf(ell=1)' --lambda 0.1 --quiet
good
prints 'dates'

# what is missing is said, as elsewhere
run fit base.sqlite --query 'select * from holes' --kernel 'rbf(ell=1)' --lambda 0.1
bad 3 "base.sqlite:5: column 'y': missing value"
run fit base.sqlite --query 'select * from holes' --kernel 'rbf(ell=1)' --lambda 0.1 --missing drop --quiet
good
prints '7 rows, 1 dropped'
run fit base.sqlite --query 'select x from holes where y is null or x = 3' --quiet
if [ "$code" = 0 ]; then wrong "should not fit one row"; fi
run fit base.sqlite --query 'select * from odd'
bad 3 "row 2: column 'y': a BLOB"
run fit base.sqlite --query 'select x, x from flats'
bad 3 "'x'"

# queries that are none, or that do more than read
run fit base.sqlite --query 'selct x from flats'
bad 2 'syntax error'
run fit base.sqlite --query 'select x, z from flats'
bad 2 'no such column: z'
run fit base.sqlite --query 'select * from flat'
bad 2 'no such table: flat' 'flats'
run fit base.sqlite
bad 2 'several tables' 'days, flats'
run fit empty.db
if [ "$code" != 3 ]; then wrong "should find no rows"; fi
for query in 'delete from flats' 'drop table flats' 'attach "other.db" as o' 'pragma journal_mode=delete' 'create table z (a)' 'vacuum into "copy.db"' \
    'select load_extension("x.so")' 'select x, y from flats; delete from flats' '' 'insert into flats values (99, 1, 2, 3)' 'begin'; do
    run fit base.sqlite --query "$query"
    if [ "$code" != 2 ]; then wrong "should refuse the query '$query'"; fi
done
cmp base.sqlite before || wrong "should leave the database as it is"
[ ! -e other.db ] && [ ! -e copy.db ] || wrong "should write no other file"
run fit flats.csv --query 'select 1'
bad 2 '--query is for a SQLite database'

# files that are none, cut or damaged
printf 'x,y\n1,2\n' >text.db
run fit text.db
bad 3 'not a SQLite database'
run fit missing.db
bad 3 'cannot be opened'
head -c 5000 base.sqlite >cut.db
run fit cut.db --query 'select x, y from flats'
if [ "$code" != 3 ]; then wrong "should say that it is damaged"; fi
for at in 20 100 120 1000 4100 8200; do
    cp base.sqlite damaged.db
    printf '\377\376\001\200\377\377' | dd of=damaged.db bs=1 seek=$at conv=notrunc 2>/dev/null
    run fit damaged.db --query 'select x, y from flats' --kernel 'rbf(ell=1)' --lambda 0.1 --quiet
    case $code in 0 | 2 | 3) ;; *) wrong "should be refused or read, not crash" ;; esac
done

# rows without an end stop at the memory budget or at a signal
code=0
timeout -s INT 3 "$GRAM" fit loop.db --quiet >out 2>err || code=$?
last='gram fit loop.db'
case $code in 5 | 124 | 130) ;; *) wrong "should stop" ;; esac
