"""Pre-processing: fairlearn's CorrelationRemover."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.encode import one_hot
from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.registry import param, register
from fairpriv.validate import choice

ENCODINGS = ("ordinal", "one_hot")


@register
@dataclass(frozen=True)
class CorrelationRemoverLearner(FairLearner):
    """A tree on features made uncorrelated with the protected attribute; no metric is enforced."""

    name: ClassVar[str] = "correlation_remover"
    paper: ClassVar[str] = "ferry2023, Appendix E"
    later: ClassVar[tuple[str, ...]] = ("encoding",)
    takes_metric = False

    encoding: str = param(
        "ordinal", "how categories become numbers, before correlations are removed", choices=ENCODINGS
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        choice("encoding", self.encoding, ENCODINGS)

    def fit(self, features, label, group, metric, tolerance, rng):
        """Train on these rows; return the released model."""
        if self.encoding == "ordinal":
            return super().fit(features, label, group, metric, tolerance, rng)
        # columns of 0 and 1 are numbers: the codes that the base class makes of categories leave them as they are
        model = super().fit(pd.DataFrame(one_hot(features)[0]), label, group, metric, tolerance, rng)
        return lambda frame, members, draw: model(pd.DataFrame(one_hot(frame)[0]), members, draw)

    def _fit(self, x, label, group, metric, tolerance, rng):
        from fairlearn.preprocessing import CorrelationRemover

        values = np.unique(group)

        def joined(matrix, members):
            # a sensitive attribute of k values has k - 1 columns
            return np.column_stack([matrix, *((members == v).astype(float) for v in values[1:])])

        columns = list(range(x.shape[1], x.shape[1] + len(values) - 1))
        remover = CorrelationRemover(sensitive_feature_ids=columns).fit(joined(x, group))
        model = self.tree(rng).fit(remover.transform(joined(x, group)), label)
        return lambda matrix, members, seed: model.predict(remover.transform(joined(matrix, members)))
