# Runs the unittest $TEST, or its $CASES alone, of the package in PYTHONPATH, as the interpreter's developers would.
# shellcheck disable=SC2086
exec "$PYTHON" -X dev -W ignore::ResourceWarning -W ignore::DeprecationWarning -W ignore::UserWarning "$TEST" ${CASES:-}
