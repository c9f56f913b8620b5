#!/bin/sh
# Thinning of MCMC output: a random-walk Metropolis chain on a correlated Gaussian, started far away, that writes the
# gradient of the log density beside each draw; then 40 of its 1000 rows by Stein thinning, and a test of fit.
#
#     examples/thin_chain.sh [FOLDER]        needs gram in the PATH (or in $GRAM) and awk; writes to FOLDER, . by default
set -eu
gram=${GRAM:-gram}
cd "${1:-.}"

# log p(x) = -(x1^2 - 1.6 x1 x2 + x2^2)/0.72: variances 1, correlation 0.8
LC_ALL=C awk '
    function u() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    function logp(a, b) { return -(a * a - 1.6 * a * b + b * b) / 0.72 }
    BEGIN {
        seed = 2022; a = -6; b = 6
        print "x1,x2,score1,score2"
        for (i = 0; i < 1000; i++) {
            c = a + u() - 0.5; d = b + u() - 0.5
            if (log(u()) < logp(c, d) - logp(a, b)) { a = c; b = d }
            printf "%.7g,%.7g,%.7g,%.7g\n", a, b, -(a - 0.8 * b) / 0.36, -(b - 0.8 * a) / 0.36
        }
    }' >chain.csv

echo "40 rows of the chain that stand for the density:"
"$gram" thin chain.csv -m 40 --scores score1,score2 --json >thinned.json
sed 's/.*"indices": \[\([^]]*\)\].*/rows \1/' thinned.json
sed 's/.*\("discrepancy": [^,]*\), .*\("discrepancy_plain": [^,]*\), \("discrepancy_all": [^,]*\),.*/\1, \2, \3/' thinned.json
"$gram" thin chain.csv -m 40 --scores score1,score2 -q -o thinned.csv

echo
echo "The mean of x1^2 + x2^2 under the density is 2."
for file in chain.csv thinned.csv; do
    LC_ALL=C awk -F, -v file="$file" 'NR > 1 { sum += $1 * $1 + $2 * $2 }
        END { printf "%-12s %4d rows, mean %.2f\n", file, NR - 1, sum / (NR - 1) }' "$file"
done

echo
"$gram" test fit chain.csv --scores score1,score2 --method chain
