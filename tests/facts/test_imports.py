"""What imports mean, where they are of other files: each case a folder of files."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tfmemlint.project import Project
from tfmemlint.source import File

MODEL = "def make():\n    pass\n\n\nclass Net:\n    def make(self):\n        pass\n"

Open = Callable[[Mapping[str, str], str], File]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.chdir(tmp_path)
    projects: list[Project] = []

    def make(files: Mapping[str, str], name: str) -> File:
        for each, text in files.items():
            path = tmp_path / each
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        projects.append(Project())
        return projects[-1].file(str(tmp_path / name), files[name], None, ())

    return make


def last_called(file: File) -> ast.expr:
    last = file.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    return last.value.func


@pytest.mark.parametrize(
    ("files", "source", "line"),
    [
        ({}, "from model import make\nmake()", 1),
        ({}, "from model import make as m\nm()", 1),
        ({}, "import model\nmodel.make()", 1),
        ({}, "import model as other\nother.make()", 1),
        ({}, "from model import *\nmake()", 1),
        ({}, "from model import Net\nnet = Net()\nnet.make()", 6),
        ({}, "from model import Net\nNet.make(1)", 6),
        ({}, "import model\nmodel.Net().make()", 6),
        ({}, "from model import Net\nclass Own(Net):\n    pass\nOwn().make()", 6),
        ({"a.py": "from model import make"}, "from a import make\nmake()", 1),
        ({"a.py": "import model"}, "import a\na.model.make()", 1),
        ({"a.py": "from model import *"}, "from a import make\nmake()", 1),
        ({"a.py": "from b import *", "b.py": "from a import *"}, "from a import make\nmake()", 0),
        ({"a.py": "from model import make\nmake = 1"}, "from a import make\nmake()", 0),
        ({"pkg/__init__.py": "", "pkg/net.py": MODEL}, "import pkg.net\npkg.net.make()", 1),
        ({"pkg/net.py": MODEL}, "from pkg.net import make\nmake()", 1),
        ({"pkg/net.py": MODEL}, "import pkg.net\npkg.net.make()", 1),
        (
            {"pkg/__init__.py": "from .net import make", "pkg/net.py": MODEL},
            "from pkg import make\nmake()",
            1,
        ),
        *(
            ({"pkg/__init__.py": init, "pkg/net.py": MODEL}, f"{statement}\n{callee}()", line)
            for init, line in (
                ("from . import net", 1),
                ("from pkg import net", 1),
                ("import pkg.net", 1),
                ("from .else_where import net", 0),
                ("from . import net\nnet = 1", 0),
            )
            for statement, callee in (
                ("from pkg.net import make", "make"),
                ("import pkg.net", "pkg.net.make"),
                ("from pkg import net", "net.make"),
            )
        ),
        ({"src/net.py": MODEL}, "from net import make\nmake()", 1),
        ({}, "try:\n    from a import make\nexcept ImportError:\n    make = 1\nmake()", 0),
        ({}, "make()", 0),
        ({}, "from model import other\nother()", 0),
        ({}, "from model import make\nmake = 1\nmake()", 0),
        ({"numpy.py": MODEL}, "from numpy import make\nmake()", 0),
    ],
)
def test_a_call_leads_to_what_another_file_defines(
    opened: Open, files: Mapping[str, str], source: str, line: int
) -> None:
    file = opened({"model.py": MODEL, **files, "train.py": source}, "train.py")
    found = file.tf.functions.definition(last_called(file))

    assert (found.lineno if found is not None else 0) == line


@pytest.mark.parametrize(
    ("where", "source", "line"),
    [
        ("pkg/train.py", "from .model import make\nmake()", 1),
        ("pkg/train.py", "from . import model\nmodel.make()", 1),
        ("pkg/sub/train.py", "from ..model import make\nmake()", 1),
        ("pkg/sub/train.py", "from pkg.model import make\nmake()", 1),
        ("pkg/sub/train.py", "from .model import make\nmake()", 0),
    ],
)
def test_imports_are_relative_to_the_package(
    opened: Open, where: str, source: str, line: int
) -> None:
    packages = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/model.py": MODEL}
    file = opened({**packages, where: source}, where)
    found = file.tf.functions.definition(last_called(file))

    assert (found.lineno if found is not None else 0) == line


def test_what_other_files_call_is_known(opened: Open) -> None:
    files = {"model.py": MODEL, "train.py": "from model import make\nfor _ in x:\n    make()"}
    file = opened(files, "model.py")
    make = next(file.tf.tree.all(ast.FunctionDef))

    (call,) = file.tf.callers.calls_of(make)

    assert ast.unparse(call) == "make()"
    assert [type(each) for each in file.tf.tree.loops(call)] == [ast.For]


@pytest.mark.parametrize(
    ("files", "imported"),
    [
        ({"common.py": "import tensorflow as tf"}, "from common import tf"),
        ({"common.py": "import tensorflow as tf"}, "from common import *"),
        ({"a.py": "import tensorflow as tf", "b.py": "from a import *"}, "from b import *"),
        (
            {"a.py": "import tensorflow as tf\nfrom b import *", "b.py": "from a import *"},
            "from b import *",
        ),
    ],
)
def test_a_name_of_a_library_is_known_where_another_file_hands_it_on(
    opened: Open, files: Mapping[str, str], imported: str
) -> None:
    file = opened({**files, "train.py": f"{imported}\ntf.cast"}, "train.py")
    (attribute,) = file.tf.tree.all(ast.Attribute)

    assert file.tf.names.qualified(attribute) == "tensorflow.cast"
