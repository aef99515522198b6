"""What keeps TFM306 silent in a whole file, and that its silent fixture is not silent for that."""

import pytest

from tfmemlint import File, registry
from tfmemlint_rules.tfm306_full_batch_forward import RULE

BAD = (registry.folder(RULE) / "bad.py").read_text(encoding="utf-8")
OK = (registry.folder(RULE) / "ok.py").read_text(encoding="utf-8")
WHOLE_STEP = "\nfor step in range(9):\n    train_step(x_train, y_train)\n"


@pytest.mark.parametrize(
    "code",
    [
        "from spektral.layers import GCNConv",
        "import scipy.sparse as sp",
        "from scipy.optimize import minimize",
        "import tensorflow_probability as tfp\ntfp.optimizer.lbfgs_minimize(loss)",
        "adjacency = tf.sparse.from_dense(edges)",
    ],
)
def test_steps_may_need_all_rows_where_a_file_uses(code: str) -> None:
    assert not list(RULE.check(File("module.py", f"{BAD}\n{code}\n")))


@pytest.mark.parametrize(
    "code",
    [
        "from scipy.stats import norm",
        "import tensorflow_probability as tfp\ntfp.distributions.Normal(0, 1)",
        "# spektral, L-BFGS",
    ],
)
def test_steps_need_no_more_than_batches_where_a_file_uses(code: str) -> None:
    assert len(list(RULE.check(File("module.py", f"{BAD}\n{code}\n")))) == 1


def test_a_whole_array_step_added_to_what_is_fine_is_found() -> None:
    found = list(RULE.check(File("module.py", OK + WHOLE_STEP)))

    large = [each for each in found if each.cost and (each.cost.at_most or 0) >= 1 << 20]
    assert [each.message.partition(" go")[0] for each in large] == ["all 60,000 rows of `x_train`"]
