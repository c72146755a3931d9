"""The examples in Python that need no MPI: they run, and a notebook's outputs equal its stored outputs.

test_examples.py --write    keeps the outputs of today
"""

import ast
import contextlib
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"
NOTEBOOK = EXAMPLES / "placement.ipynb"
PICTURE = "image/svg+xml"


def read():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(source, names):
    """The output of a cell, and the value of its last line, which Jupyter displays."""
    statements = ast.parse(source)
    last = statements.body.pop() if isinstance(statements.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(statements, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_svg_"):
            data = {PICTURE: value._repr_svg_().splitlines(True), **data}
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed():
    """The notebook, with the outputs of its cells."""
    notebook, names = read(), {}
    for number, cell in enumerate(code(notebook), 1):
        cell["execution_count"] = number
        cell["outputs"] = run("".join(cell["source"]), names)
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
    return notebook


def seen(notebook):
    """The visible output of each cell: pictures, if any, and text."""
    for cell in code(notebook):
        for output in cell["outputs"]:
            data = output.get("data", {})
            shown = data.get(PICTURE) or data.get("text/plain") or output["text"]
            yield PICTURE in data, "".join(shown).strip()


class Examples(unittest.TestCase):
    maxDiff = None

    def test_the_mesh(self):
        with tempfile.TemporaryDirectory() as directory:
            picture = Path(directory, "mesh.svg")
            said = subprocess.run(
                [sys.executable, EXAMPLES / "mesh.py", picture], check=True, capture_output=True, text=True
            )
            before, after = map(int, said.stdout.split(" -> "))
            self.assertLess(2 * after, before)
            text = picture.read_text(encoding="utf-8")
            self.assertTrue(xml.etree.ElementTree.fromstring(text).tag.endswith("svg"))
            self.assertIn(f"between nodes {before} → {after}", text)

    def check(self, notebook):
        outputs = list(seen(notebook))
        self.assertEqual(outputs, list(seen(read())), "test_examples.py --write keeps what is new")
        pictures = [text for is_picture, text in outputs if is_picture]
        self.assertEqual(len(pictures), 2)
        for picture in pictures:
            self.assertTrue(xml.etree.ElementTree.fromstring(picture).tag.endswith("svg"))

    def test_the_notebook(self):
        self.check(executed())

    @unittest.skipUnless(importlib.util.find_spec("nbclient"), "there is no nbclient here")
    def test_the_notebook_in_jupyter(self):
        import nbclient
        import nbformat

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        for cell in code(notebook):
            cell["outputs"] = []
        nbclient.NotebookClient(notebook, timeout=60).execute()
        self.check(notebook)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        text = json.dumps(executed(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        NOTEBOOK.write_text(text, encoding="utf-8")
    else:
        unittest.main()
