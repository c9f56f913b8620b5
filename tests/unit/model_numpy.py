"""Reads a model of gram with NumPy and zipfile alone, and makes from it the files that test_model_numpy.c reads.

usage: model_numpy.py MODEL POINTS VALUES, in the folder where the new files are to be. POINTS and VALUES are .npy files
with points and with what gram says the function is there.
"""
import io
import json
import sys
import zipfile

import numpy

model, points, values = sys.argv[1:]

archive = zipfile.ZipFile(model)
assert archive.testzip() is None
assert all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())

arrays = numpy.load(model)
about = json.loads(archive.read("model.json"))
assert about["format"] == "gram-model" and about["version"] == 1
for name, shape in about["arrays"].items():
    assert arrays[name].shape == (shape["rows"], shape["columns"]), name
    assert arrays[name].dtype == numpy.dtype(shape["dtype"]), name
assert about["facts"]["unknown"] is None
assert about["facts"]["n"] == 2**63 - 1 and isinstance(about["facts"]["whole"], float)
assert about["facts"]["condition"] == {"number": "inf"}
assert about["preparation"]["targets"][1]["name"] == "z \u20ac"

# f(x) = sum_i a_i k(x_i, x) + b
x, centres = numpy.load(points), arrays["centres"].astype(float)
ell = numpy.array([0.1, 0.2, 0.3, 1e-10, 3])
assert about["kernel"] == "0.1*rbf(ell=[0.1,0.2,0.3!,1e-10,3]) + white()", about["kernel"]
squares = (((x[:, None, :] - centres[None]) / ell) ** 2).sum(axis=2)
mine = 0.1 * numpy.exp(-squares / 2) @ arrays["coefficients"] + arrays["constant"]
numpy.testing.assert_allclose(mine, numpy.load(values), rtol=1e-12, atol=1e-12)


def rewrite(path, change=None, compression=zipfile.ZIP_STORED, comment=b"", force=False):
    """The same entries in a zip of Python's making; change may replace the bytes of one."""
    with zipfile.ZipFile(path, "w", compression) as out:
        for entry in archive.infolist():
            data = archive.read(entry.filename)
            if change:
                data = change(entry.filename, data)
            with out.open(entry.filename, "w", force_zip64=force) as file:
                file.write(data)
        out.comment = comment


def by_numpy(name, data):
    """The same array, saved by NumPy."""
    if not name.endswith(".npy"):
        return data
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.load(io.BytesIO(data)))
    return buffer.getvalue()


def later(name, data):
    return data.replace(b'"version": 1', b'"version": 2') if name == "model.json" else data


rewrite("python.gram")
rewrite("zip64.gram", force=True)
rewrite("numpy.gram", by_numpy)
rewrite("deflated.gram", compression=zipfile.ZIP_DEFLATED)
rewrite("comment.gram", comment=b"hello")
rewrite("later.gram", later)
numpy.savez("other.npz", a=numpy.arange(3.0))
numpy.savez_compressed("packed.npz", a=numpy.arange(3.0))
