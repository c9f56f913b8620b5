#!/bin/sh
# Carbon dioxide at Mauna Loa, weekly from 1958 to 2001, as a sum of a trend, a season and irregularities, and its forecast
# to 2021: a Gaussian process with one kernel for each, taken apart again.
#
#     examples/co2.sh [FOLDER]        needs gram in the PATH (or in $GRAM) and awk; writes to FOLDER, . by default
#
# The numbers of the kernel were learnt from these data: `TUNE=ml examples/co2.sh` learns them again, from 10 to 20 seconds.
set -eu
gram=${GRAM:-gram}
data=$(cd "$(dirname "$0")" && pwd)/co2_weekly.csv
cd "${1:-.}"

trend='1869.4*rbf(ell=51.4)'
season='6.935*rbf(ell=169.6)*periodic(p=1!, ell=1.278)'
irregular='0.2388*matern(nu=1.5, ell=0.3578)'
if [ "${TUNE:-none}" = none ]; then set -- --noise 0.1043; else set --; fi
"$gram" fit "$data" --method gp --no-scale --kernel "$trend + $season + $irregular" "$@" -o co2.gram

LC_ALL=C awk 'BEGIN { print "year"; for (i = 0; i <= 756; i++) printf "%.4f\n", 1958 + i / 12 }' >months.csv
if command -v gnuplot >/dev/null 2>&1; then set -- --plot co2.svg; else set --; fi
"$gram" predict co2.gram months.csv --std --interval 0.95 --terms "$@" -o forecast.csv

echo
echo "Forecast (ppm), with intervals that hold 95 % of new observations:"
paste -d, months.csv forecast.csv | LC_ALL=C awk -F, '$1 ~ /^(2002|2005|2010|2020)\.0000$/ {
    printf "January %d: %.1f, between %.1f and %.1f\n", $1, $2, $4, $5 }'
