"""Methods that train models, and those that only run them."""

from __future__ import annotations

FITS = frozenset({"fit", "fit_generator", "train_on_batch"})
"""Methods of models that train them."""
APPLIES = frozenset({"apply_gradients", "minimize"})
"""Methods of optimizers that change weights."""
TRAINS = FITS | APPLIES
STEPS = APPLIES | {"train_on_batch"}
"""What trains on one batch."""
RUNS = frozenset(
    {"evaluate", "evaluate_generator", "predict", "predict_classes", "predict_generator"}
    | {"predict_on_batch", "predict_proba", "test_on_batch"}
)
"""Methods of models that trace, and do not train."""
CHECKPOINTS = frozenset({"tensorflow.train.Checkpoint", "tensorflow.train.CheckpointManager"})
"""What is given models to save them, and runs none."""
