"""Raw data: no representation at all."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class RawData(RepresentationDefense):
    """The features themselves; `d` is not used: noise is scaled to the number of features."""

    name: ClassVar[str] = "raw_data"
    paper: ClassVar[str] = "compared in xie2024, Section 6"

    def fit(self, sample: Sample, rng: np.random.Generator) -> Any:
        """Return nothing: there is nothing to learn."""
        return None

    def encode(self, params: Any, sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """Return the features."""
        return sample.x
