# $FAULTS: the arguments of faults.py, such as "kills 4"
# shellcheck disable=SC2086
exec "$PYTHON" "$SOURCE/tests/faults/faults.py" $FAULTS
