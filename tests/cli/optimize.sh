# gram optimize: running a command, by hand, rows of a table, resuming, sudden deaths, bad input.
. "$SOURCE/tests/cli/helper"

cat >bowl.sh <<'END'
#!/bin/sh
# bowl.sh X RATE: least 0 at (3, 0.001)
LC_ALL=C awk -v x="$1" -v r="$2" 'BEGIN { l = log(r) / log(10) + 3; print "words"; print (x - 3)^2 + l * l }'
END
chmod +x bowl.sh
number() # FILE KEY: a number of the last JSON
{
    sed -n 's/.*"'"$2"'": \([-0-9.e+]*\).*/\1/p' "$1"
}
under() # A B
{
    LC_ALL=C awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

# a command
run optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 18 --study s.json --json -- ./bowl.sh '{x}' '{rate}'
good
prints '"best": {"x": ' '"rate": ' '"evaluations": 18' '"failed": 0' '"study": "s.json"' '"importance": {' '"best_std": '
under "$(number out value)" 0.05 || wrong 'should find the bottom'

# an existing study is not written over; one over its budget is a report; --resume goes on
cp s.json before.json
run optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 18 --study s.json -- ./bowl.sh '{x}' '{rate}'
bad 2 's.json exists already'
cmp -s s.json before.json || wrong 'should leave the study alone'
run optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 18 --study s.json --resume -- false '{x}' '{rate}'
good
prints 'best value'
run optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 20 --study s.json --resume --json -- ./bowl.sh '{x}' '{rate}'
good
prints '"evaluations": 20'
run optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 3 --study new.json --resume --parallel 3 --json -- ./bowl.sh '{x}' '{rate}'
good
prints '"evaluations": 3'

# the user's point, whole numbers, words, the largest value, constraints
run optimize --var n=1:9:int --var w=oak,ash --point n=4,w=ash --budget 6 --maximize --study p.json --json -- \
    sh -c 'case $2 in ash) echo $((10 - $1));; *) echo 0;; esac' sh '{n}' '{w}'
good
grep -q '"trials": \[{"x": \[4.0, 1.0\]' p.json || wrong 'should begin with the point that was given'
prints '"w": "ash"'
run optimize --var x=0:1 --budget 12 --constraints 1 --json -- sh -c 'LC_ALL=C awk -v x="$1" "BEGIN { print x, 0.4 - x }"' sh '{x}'
good
under 0.3999 "$(number out x)" || wrong 'should keep the constraint'

# it stops by itself
run optimize --var x=0:10 --budget 60 --tolerance 0.01 --json -- sh -c 'LC_ALL=C awk -v x="$1" "BEGIN { print (x - 3)^2 }"' sh '{x}'
good
prints '"stopped": "the expected improvement is below the tolerance"'

run optimize --var x=0:10 --budget 60 --regret 0.1 --json -- sh -c 'LC_ALL=C awk -v x="$1" "BEGIN { print (x - 3)^2 }"' sh '{x}'
good
prints '"stopped": "the bound on the regret is reached"' '"recommended": {"x": '
under "$(number out value)" 0.1 || wrong 'should be as near as it says'
run optimize --var x=0:10 --budget 60 --regret 0.1 --constraints 1 -- echo '{x}' 1
bad 2 'no bound on the regret is known with constraints'

# by hand: values below 0 are values
run optimize --var h=20:90 --var t=1:60:int --study lab.json
good
run optimize ask lab.json
good
prints 'trial 1: h=' ' t='
run optimize ask lab.json --count 2 --json
good
prints '"trial": 2' '"trial": 3' '"point": {"h": ' '"expected_improvement": null'
run optimize tell lab.json -3.5 --json
good
prints '"value": -3.5' '"evaluations": 1' '"running": 2'
run optimize tell lab.json --trial 3 failed
good
prints '1 failed'
run optimize tell lab.json --point h=30,t=5 2
good
run optimize tell lab.json --trial 3 1
bad 2 'trial 3 was told already'
run optimize tell lab.json --trial 9 1
bad 2 'there is no trial 9'
run optimize tell lab.json 1 2
bad 2 '2 numbers for a value and 0 constraints'
run optimize tell lab.json --point h=30 2
bad 2 "'t' has no value"
run optimize tell lab.json --point h=30,t=5,q=1 2
bad 2 "'q=1' is not NAME=VALUE"
run optimize tell lab.json --point h=30,t=5.5 2
bad 2 't = 5.5 is not a whole number'
run optimize tell lab.json abc
bad 2 "'abc' is not a number"
run optimize report lab.json --json
good
prints '"evaluations": 3'

# what is recommended: nothing of one value, "values being noisy" once a point has had two of them
run optimize --var x=0:1 --study rough.json
good
run optimize tell rough.json --point x=0.5 1
good
! grep -q Recommended out || wrong 'should not know of noise after one value'
for pair in 0.5:1.3 0.1:2 0.9:2.2 0.3:1.4 0.7:1.1; do
    run optimize tell rough.json --point "x=${pair%:*}" "${pair#*:}"
    good
done
prints 'Recommended, values being noisy'

# rows of a table, each once
printf 'a,b,kind\n1,2,u\n2,3,v\n3,1,u\n4,4,v\n5,0,u\n' >t.csv
run optimize --candidates t.csv --budget 9 --maximize --json -- sh -c 'echo $1' sh '{a}'
good
prints '"evaluations": 5' '"best_row": 5' '"stopped": "all candidates were evaluated"'

# bad input
run optimize --var x=5:1 --budget 3 -- ./bowl.sh '{x}'
bad 2 "variable 'x': lower bound 5 is above upper bound 1"
run optimize --var x=0:1 --var x=0:2 --budget 3 -- ./bowl.sh '{x}'
bad 2 "two variables are named 'x'"
run optimize --var rate=0:1 --budget 3 -- ./bowl.sh '{rat}'
bad 2 '{rat} in the command is no variable, did you mean {rate}?'
run optimize --var x=0:1 --budget 3 -- ./bowl.sh 1
bad 2 "'x' appears nowhere"
run optimize --var x:0:1 --budget 3 -- ./bowl.sh '{x}'
bad 2 "'x:0:1' is not a variable"
run optimize --var x=1:10:lgo --budget 5 -- true '{x}'
bad 2 "did you mean ':log'"
run optimize --var x=0:1 --budget 3 --study none.json -- ./nosuch '{x}'
bad 2 "cannot run './nosuch'"
run optimize --var x=0:1 --budget 3
bad 2 'no --study'
run optimize --var x=0:1 -- ./bowl.sh '{x}'
bad 2 '--budget is missing'
run optimize --var x=0:1 --budget 2 --study failed.json -- echo 'no number {x}'
[ "$code" = 3 ] || wrong 'should exit with 3'
grep -q 'evaluation 1 failed: its last line is not a number' err || wrong 'should say why'
grep -q 'no evaluation of 2' err || wrong 'should say that nothing has a value'
run optimize report failed.json --json
good
prints '"evaluations": 2' '"failed": 2' '"best": null'
run optimize --var x=0:1 --budget 1 --timeout 0.2 -- sleep '5{x}'
[ "$code" = 3 ] || wrong 'should exit with 3'
grep -q 'longer than --timeout' err || wrong 'should say that it took too long'
run optimize --var x=0:2 --var rate=1e-5:1e-1:log --budget 30 --study s.json --resume -- ./bowl.sh '{x}' '{rate}'
bad 3 "another problem: its variable 1, 'x'"
echo garbage >g.json
run optimize ask g.json
bad 3 'g.json: this is not a study of gram'

cp s.json old.json
sed 's/"version": 1/"version": 99/' s.json >g.json
run optimize ask g.json
bad 3 'version 99 of the study format'
head -c 300 s.json >g.json
run optimize tell g.json 1
bad 3 'is not JSON'
run optimize ask missing.json
bad 3 'missing.json: cannot be opened'
[ ! -e missing.json.lock ] || wrong 'should leave no lock behind'
run optimize --var x=0:1 --budget 2 --study none/s.json -- ./bowl.sh '{x}' 1
bad 5 'none/s.json.lock: cannot be written'
run optimize --var x=0:1 --point x=3 --budget 2 -- ./bowl.sh '{x}' 1
bad 2 'x = 3 is not between 0 and 1'
run optimize --var rate=0:1:log --budget 2 -- ./bowl.sh 1 '{rate}'
bad 2 "'rate' has a log scale, but its lower bound 0 is not positive"
run optimize --var n=0.5:3:int --budget 2 -- ./bowl.sh '{n}' 1
bad 2 "'n' takes whole numbers"
run optimize --candidates nosuch.csv --budget 2 -- ./bowl.sh '{row}' 1
bad 3 'nosuch.csv'

# one process at a time: a second search is refused while the first runs, and nothing is lost
"$GRAM" optimize --var x=0:1 --budget 1 --study two.json --quiet -- sh -c 'sleep 2; echo 1' sh '{x}' >first.out 2>first.err &
first=$!
tries=0
while [ ! -e two.json ] && [ "$tries" -lt 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
run optimize --var x=0:1 --budget 9 --study two.json --resume -- ./bowl.sh '{x}' 1
bad 2 'two.json: another process works on this study'
run optimize tell two.json --point x=0.25 7 # waits for it
good
wait "$first" || wrong 'should end well'
prints 'evaluations         2'
[ ! -e two.json.lock ] || wrong 'should leave no lock behind'

# killed 50 times at any moment: what the study had been told is in it afterwards, and what was running is run again. The command notes each
# value that it prints, so that every value in the study can be checked against its own.
cat >slow.sh <<'END'
#!/bin/sh
value=$(LC_ALL=C awk -v x="$1" 'BEGIN { print (x - 0.3)^2 }')
echo "$1 $value" >>log
echo "$value"
END
chmod +x slow.sh
: >log
told=0
turn=0
while [ "$turn" -lt 50 ]; do
    turn=$((turn + 1))
    "$GRAM" optimize --var x=0:1 --budget 20000 --study k.json --resume --parallel 2 --start 5000 --quiet -- ./slow.sh '{x}' >out 2>err &
    victim=$!
    sleep "0.$((turn % 3))$((turn * 7 % 10))"
    kill -9 "$victim" 2>/dev/null || :
    wait "$victim" 2>/dev/null || :
    [ -e k.json ] || continue
    last="death $turn"
    now=$(grep -o '"state": "done"' k.json | wc -l)
    [ "$now" -ge "$told" ] || wrong "should not lose an evaluation: $told, then $now"
    told=$now
done
code=0
[ -z "$(find . -name '.k.json.*' ! -name ".k.json.$victim-*")" ] || wrong 'should sweep what earlier deaths left'
[ "$told" -gt 0 ] || wrong 'should have got somewhere'
run optimize report k.json --json
good
prints "\"evaluations\": $told"
# every evaluation that ended is in the study, but for those that were running at a death
ended=$(sort -u log | wc -l)
[ "$ended" -le $((told + 2)) ] || wrong "should know what ended: $ended in the log, $told in the study"
