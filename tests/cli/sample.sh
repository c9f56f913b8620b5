# gram sample: draws from priors and posteriors, the same for the same seed, with the right moments.
. "$SOURCE/tests/cli/helper"

# shape, names, seeds and threads
run sample 'rbf(ell=1)' --grid 0:10:21 --draws 3 --quiet
good
[ "$(head -n 1 out)" = x,draw_1,draw_2,draw_3 ] || wrong 'should name the columns'
[ "$(wc -l <out)" = 22 ] || wrong 'should have a row for each point'
[ "$(tail -n 1 out | cut -d, -f1)" = 10 ] || wrong 'should end at 10'
cp out want
run sample 'rbf(ell=1)' --grid 0:10:21 --draws 3 --quiet --threads 1
cmp out want || wrong 'should not depend on the threads'
run sample 'rbf(ell=1)' --grid 0:10:21 --draws 3 --quiet --seed 1
if cmp -s out want; then wrong 'another seed should give other draws'; fi

# Brownian motion: increments over 0.1 are independent normal numbers of variance 0.1
run sample 'min()' --grid 0:10:101 --draws 200 --quiet
good
LC_ALL=C awk -F, 'NR > 2 { for (j = 2; j <= NF; j++) { d = $j - last[j]; s += d * d; c += d * before[j]; before[j] = d; n++ } }
    { for (j = 2; j <= NF; j++) last[j] = $j }
    END { v = s / n; r = c / s; exit !(v > 0.0973 && v < 0.1027 && r > -0.028 && r < 0.028) }' out ||
    wrong 'increments should be independent with variance 0.1'

# two dimensions: the last runs fastest; variance 2 and correlation exp(-1/2) between neighbours
run sample '2*rbf(ell=1)' --grid 0:3:4,0:2:3 --draws 2000 --quiet
good
[ "$(head -n 1 out | cut -d, -f1-3)" = x1,x2,draw_1 ] || wrong 'should name two dimensions'
[ "$(sed -n 3p out | cut -d, -f1,2)" = 0,1 ] || wrong 'the last dimension should run fastest'
LC_ALL=C awk -F, 'NR == 2 { for (j = 3; j <= NF; j++) a[j] = $j } NR == 3 { for (j = 3; j <= NF; j++) { s += $j * $j; c += $j * a[j]; n++ } }
    END { exit !(s / n > 1.8 && s / n < 2.2 && c / n > 1.05 && c / n < 1.38) }' out || wrong 'should have the covariance of the kernel'

# a posterior: at a point that was observed without noise, all draws are what was seen
printf 'time,y\n0,1\n1,3\n2,2\n' >data.csv
run fit data.csv --method gp --kernel 'rbf(ell=1)' --noise 1e-8 -o m.gram --quiet
good
run sample m.gram --grid 0:2:3 --draws 4 --quiet
good
[ "$(head -n 1 out)" = time,draw_1,draw_2,draw_3,draw_4 ] || wrong 'should name the feature'
LC_ALL=C awk -F, 'NR == 3 { for (j = 2; j <= NF; j++) if ($j < 2.99 || $j > 3.01) exit 1 }' out || wrong 'should pass through the data'
run sample m.gram --at data.csv --draws 2 --quiet
good
[ "$(head -n 1 out)" = row,draw_1,draw_2 ] || wrong 'should name the rows'
run fit data.csv --method gp --kernel 'matern(nu=1.5, ell=1)' --noise 0.5 --solver markov -o k.gram --quiet
run sample k.gram --grid 0:2:5 --draws 300 --json
good
prints '"from": "posterior"' '"method": "markov"' '"draws": 300' '"jitter": 0' '"values": [['
run sample k.gram --grid 1:2:2 --draws 4000 --quiet
cp out latent
run sample k.gram --grid 1:2:2 --draws 4000 --observed --quiet
good
# an observation has the noise more
paste -d, latent out | LC_ALL=C awk -F, 'NR == 2 { h = NF / 2; for (j = 2; j <= h; j++) { a += $j; aa += $j * $j; b += $(j + h); bb += $(j + h) ^ 2; n++ }
    d = bb / n - (b / n) ^ 2 - aa / n + (a / n) ^ 2; exit !(d > 0.43 && d < 0.57) }' || wrong 'should add the noise 0.5'

run sample 'min()' --grid 0:1:5 -o b.csv --json
good
prints '"samples": "b.csv"'
[ "$(wc -l <b.csv)" = 6 ] || wrong 'should write the draws'

# many points: as sums of cosines, with the same moments: variance 1, correlation exp(-1/2) at a distance of 1
run sample 'rbf(ell=1)' --grid 0:10:5001 --draws 40 -o many.csv --json
good
prints '"method": "path"'
LC_ALL=C awk -F, 'NR % 500 == 2 { for (j = 2; j <= NF; j++) { s += $j * $j; n++; if (NR > 2) { c += $j * a[j]; m++ }; a[j] = $j } }
    END { exit !(s / n > 0.6 && s / n < 1.4 && c / m > 0.3 && c / m < 0.92) }' many.csv || wrong 'should have the covariance of the kernel'

# what is refused
run sample 'rbf(ell=1)'
bad 2 '--grid a:b:n or --at FILE'
run sample 'rbf(ell=1)' --grid 0:1
bad 2 "the grid '0:1'"
run sample 'rbf(ell=1)' --grid 1:0:5
bad 2 "a < b"
run sample 'rbf(ell=[1,2])' --grid 0:1:5
bad 3 ''
run sample m.gram --grid 0:1:5,0:1:5
bad 2 '2 dimensions' '1 feature'
run sample 'min()' --grid -1:1:5
bad 3 ''
run sample 'white()' --grid 0:1,0:1 --quiet
bad 2 '--grid'
run fit data.csv --kernel 'rbf(ell=1)' --noise 0.1 -o krr.gram --quiet
run sample krr.gram --grid 0:1:5
bad 2 'method krr'
run sample 'rbf(ell=1)' --grid 0:1:5 --observed
bad 2 '--observed'

if command -v gnuplot >/dev/null 2>&1; then
    run sample m.gram --grid -1:3:50 --plot p.svg -o d.csv --quiet
    good
    grep -q 'band of f' p.svg || wrong 'should draw the band'
    run sample 'rbf(ell=1)' --grid 0:1:9,0:1:9 --draws 2 --plot q.svg -o d.csv --quiet
    good
fi
