"""The TensorFlow that a project's requirements ask for."""

from pathlib import Path

import pytest

from tfmemlint import registry
from tfmemlint.cli import main
from tfmemlint.config import Config, Configs
from tfmemlint.declared import specifiers
from tfmemlint.linting import lint


def oldest(folder: Path) -> tuple[int, ...] | None:
    return Configs(lambda config: config).oldest_tensorflow(str(folder))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy\ntensorflow>=2.12,<3  # for now\n", (">=2.12,<3",)),
        ("tensorflow-gpu == 2.4.1\r\n", ("== 2.4.1",)),
        ("tensorflow[and-cuda]~=2.16.1; python_version > '3.9'\n", ("~=2.16.1",)),
        ("TensorFlow>=2\ntensorflow-macos>=2.13\n", (">=2", ">=2.13")),
        ("tensorflow\n", ()),
        ("tensorflow\nKeras==2.2.4\n", (">=1",)),
        ("keras<2.4\n", (">=1",)),
        ("keras==2.10.0\nkeras-rl==1.0\n", ()),
        ("keras>=2.2\n", ()),
        ("tensorflow-datasets>=4\ntensorflow_hub>=0.12\n", ()),
        ("# tensorflow>=2.12\nkeras>=3\n", ()),
    ],
)
def test_requirements_are_read(tmp_path: Path, text: str, expected: tuple[str, ...]) -> None:
    (tmp_path / "requirements.txt").write_bytes(text.encode())

    assert specifiers(str(tmp_path)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[project]\ndependencies = ["numpy", "tensorflow>=2.12"]\n', (">=2.12",)),
        ('[project]\ndependencies = [\n  "tensorflow-cpu ~= 2.9",\n]\n', ("~= 2.9",)),
        ('[tool.poetry.dependencies]\ntensorflow = "^2.12"\n', (">=2.12",)),
        ('[tool.poetry.dependencies]\ntensorflow = "2.10.0"\n', ("==2.10.0",)),
        (
            '[tool.poetry.dependencies]\ntensorflow = { version = "~2.8", optional = true }\n',
            (">=2.8",),
        ),
        ('[project]\nname = "tensorflow-tools"\nversion = "2.12"\n', ()),
        ('[project]\ndescription = "needs tensorflow >= 2.12"\n', ()),
    ],
)
def test_a_pyproject_is_read(tmp_path: Path, text: str, expected: tuple[str, ...]) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    assert specifiers(str(tmp_path)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    numpy\n    tensorflow>=2.12\n",
            (">=2.12",),
        ),
        ("setup.py", 'setup(install_requires=["numpy", "tensorflow>=2.13,<3"])\n', (">=2.13,<3",)),
        ("Pipfile", '[packages]\nnumpy = "*"\ntensorflow = "~=2.14"\n', ("~=2.14",)),
        ("Pipfile", '[packages]\ntensorflow = {version = "==2.9.1"}\n', ("==2.9.1",)),
        ("environment.yml", "dependencies:\n  - tensorflow=2.12\n", ("==2.12",)),
        ("environment.yaml", "dependencies:\n- tensorflow-gpu=2.1.0=h0d30ee6_0\n", ("==2.1.0",)),
        (
            "environment-dev.yml",
            "dependencies:\n  - python=3.10\n  - pip:\n    - tensorflow>=2.15 # new\n",
            (">=2.15",),
        ),
        ("environment.yml", "dependencies:\n  - tensorflow\n  - tensorflow-hub=0.16\n", ()),
        ("docker-compose.yml", "services:\n  - tensorflow=2.12\n", ()),
    ],
)
def test_what_else_declares_a_version_is_read(
    tmp_path: Path, name: str, text: str, expected: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)

    assert specifiers(str(tmp_path)) == expected


def test_a_folder_of_requirements_is_read(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text("tensorflow>=2.13\n")

    assert specifiers(str(tmp_path)) == (">=2.13",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("poetry.lock", '[[package]]\nname = "tensorflow"\nversion = "2.15.0"\ndescription = ""\n'),
        ("uv.lock", '[[package]]\nname = "tensorflow"\nversion = "2.15.0"\nsource = {}\n'),
        (
            "Pipfile.lock",
            '{"default": {"tensorflow": {"hashes": ["sha256:0"], "index": "pypi",\n'
            ' "version": "==2.15.0"}}}\n',
        ),
    ],
)
def test_a_lock_file_decides(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["tensorflow>=2.4"]\n')

    assert specifiers(str(tmp_path)) == ("==2.15.0",)


def test_a_lock_file_without_tensorflow_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "poetry.lock").write_text(
        '[[package]]\nname = "tensorflow-hub"\nversion = "0.16"\n'
    )
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.4\n")

    assert specifiers(str(tmp_path)) == (">=2.4",)


def test_the_nearest_requirements_decide(tmp_path: Path) -> None:
    inner = tmp_path / "examples" / "images"
    inner.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.12\n")
    assert oldest(inner) == (2, 12)

    (tmp_path / "examples" / "requirements-old.txt").write_text("tensorflow==2.4\n")
    assert oldest(inner) == (2, 4)


def test_requirements_outside_the_repository_are_others(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.12\n")
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)

    assert oldest(repository) is None


def test_of_several_floors_the_lowest_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.12\n")
    (tmp_path / "requirements-gpu.txt").write_text("tensorflow-gpu>=2.4\n")

    assert oldest(tmp_path) == (2, 4)


def test_settings_come_before_requirements(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.4\n")
    (tmp_path / "tfmemlint.toml").write_text('tensorflow = ">=2.16"\n')

    assert oldest(tmp_path) == (2, 16)


def test_settings_that_hold_everywhere_leave_requirements_aside(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow>=2.4\n")
    configs = Configs(lambda config: config, Config(tensorflow=">=2.16"))

    assert configs.oldest_tensorflow(str(tmp_path)) == (2, 16)
    assert Configs(lambda config: config, Config()).oldest_tensorflow(str(tmp_path)) is None


def test_a_folder_that_is_not_there_asks_for_nothing(tmp_path: Path) -> None:
    assert specifiers(str(tmp_path / "gone")) == ()


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [("tensorflow>=2.11\n", 1), ("tensorflow>=2.12\n", 0), ("tensorflow\n", 1)],
)
def test_rules_are_told_of_the_oldest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], requirement: str, expected: int
) -> None:
    (tmp_path / "requirements.txt").write_text(requirement)
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\n"
        "model = tf.keras.models.load_model('model.keras')\n"
        "model.fit(tf.data.TFRecordDataset('train.tfrecord').map(f).batch(32))\n"
    )

    assert main(["check", "--select", "TFM223", str(tmp_path)]) == expected
    assert ("TFM223" in capsys.readouterr().out) is bool(expected)


def test_where_injection_is_turned_off_no_version_matters() -> None:
    source = (
        "import tensorflow as tf\n"
        "model = tf.keras.models.load_model('model.keras')\n"
        "options.experimental_optimization.inject_prefetch = False\n"
        "model.fit(tf.data.TFRecordDataset('train.tfrecord').map(f).batch(32))\n"
    )
    rules = [registry.load()["TFM223"]]

    assert len(lint("a.py", source, rules, (2, 16))) == 1
    assert lint("a.py", source.replace("inject_prefetch", "map_fusion"), rules, (2, 16)) == ()
