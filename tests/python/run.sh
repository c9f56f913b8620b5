# Runs the unittest $TEST, of the package in PYTHONPATH, as the interpreter's developers would.
exec "$PYTHON" -X dev -W ignore::ResourceWarning -W ignore::DeprecationWarning -W ignore::UserWarning "$TEST"
