#!/bin/sh
# Drift between two tables: did what the sensors report change from March to April?
#
#     examples/drift.sh [REFERENCE.csv NEW.csv]
#
# Ends with 10 when the new table differs from the reference (level 0.01), so that a pipeline can stop there.
set -eu
folder=$(dirname "$0")
gram=${GRAM:-gram}
exec "$gram" test two-sample "${1:-$folder/sensors_march.csv}" "${2:-$folder/sensors_april.csv}" --level 0.01 --gate
