"""The examples in docstrings and in docs/python.md say what happens."""

import doctest
import importlib
import os
import pkgutil
import subprocess
import sys
import unittest

import gram


class Stubs(unittest.TestCase):
    def test_every_class_is_in_them(self):
        folder = os.path.dirname(gram.__file__)
        with open(os.path.join(folder, "__init__.pyi")) as file:
            text = file.read()
        compile(text, "__init__.pyi", "exec")
        for name in gram.__all__:
            self.assertRegex(text, rf"\b(as|class|def) {name}\b", "`make stubs` writes the stubs anew")


class Tour(unittest.TestCase):
    def test_it_says_what_the_page_shows(self):
        script = os.path.join(os.environ.get("SOURCE", ""), "scripts", "python-tour")
        if not os.path.exists(script):
            self.skipTest("the sources are not there")
        done = subprocess.run([sys.executable, "-W", "ignore", script, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


def load_tests(loader, tests, pattern):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for module in pkgutil.iter_modules(gram.__path__):
        if module.name not in ("__main__", "_core"):
            tests.addTests(doctest.DocTestSuite(importlib.import_module(f"gram.{module.name}"), optionflags=flags))
    tests.addTests(doctest.DocTestSuite(gram, optionflags=flags))
    for page in ["README.md", os.path.join("docs", "python.md")]:
        page = os.path.join(os.environ.get("SOURCE", ""), page)
        if os.path.exists(page):
            tests.addTests(doctest.DocFileSuite(page, module_relative=False, optionflags=flags))
    return tests


if __name__ == "__main__":
    unittest.main()
