"""Made-up tweets with planted bias: the hate-speech experiment without its corpus."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table
from fairpriv.datasets.hate_speech import ATTRIBUTES
from fairpriv.registry import param, register

VERSION = "fairpriv synthetic corpus 1"  # change it with the recipe: it stands for the data in every cell's key


@register
@dataclass(frozen=True, kw_only=True)
class SyntheticCorpus(Loader):
    """Made-up texts: words of hate, of kindness, of each group's dialect, and fillers.

    Dialect words are no hate, but in the training labels some texts in the first attribute's dialect are called hate
    all the same: this is the bias a model learns from them.
    """

    name: ClassVar[str] = "synthetic_corpus"
    favourable: ClassVar[str] = "no hate speech"
    sensitive: ClassVar[tuple[str, ...]] = ATTRIBUTES
    advantaged: ClassVar = dict.fromkeys(ATTRIBUTES, ("1",))

    protected: str = param("gender", "the protected attribute")
    n: int = param(2000, "number of texts", at_least=40)
    bias: float = param(
        0.3, "share of harmless texts of group 0 (of the first attribute) that are labelled hate", at_least=0, at_most=1
    )
    dialect: float = param(0.3, "share of a text's words that tell the author's groups", at_least=0, at_most=1)
    seed: int = param(0, "seed of the draw", at_least=0)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.integer("n", self.n, at_least=40)
        validate.number("bias", self.bias, at_least=0, at_most=1)
        validate.number("dialect", self.dialect, at_least=0, at_most=1)
        validate.integer("seed", self.seed, at_least=0)

    def sums(self) -> str:
        """Return the sum of the recipe's version: there are no files."""
        return hashlib.sha256(VERSION.encode()).hexdigest()

    def read(self) -> Table:
        """Draw the texts."""
        rng = np.random.default_rng(self.seed)
        groups = rng.integers(0, 2, (self.n, len(ATTRIBUTES)))
        hate = rng.random(self.n) < 0.4
        labelled = hate | ((groups[:, 0] == 0) & (rng.random(self.n) < self.bias))
        texts = [self._text(rng, bool(h), g) for h, g in zip(hate, groups)]
        columns = {a: pd.Categorical.from_codes(groups[:, i], ("0", "1")) for i, a in enumerate(ATTRIBUTES)}
        return Table(pd.DataFrame({"text": pd.Series(texts, dtype=object)} | columns), ~labelled)

    def _text(self, rng: np.random.Generator, hate: bool, groups: np.ndarray) -> str:
        out = []
        for _ in range(int(rng.integers(5, 12))):
            if rng.random() < self.dialect:
                which = int(rng.integers(len(ATTRIBUTES)))
                out.append(f"{ATTRIBUTES[which]}word{groups[which]}{rng.integers(3)}")
            elif rng.random() < 0.5:
                out.append(f"{'hateful' if hate else 'kind'}{rng.integers(5)}")
            else:
                out.append(f"filler{rng.integers(30)}")
        return " ".join(out)

    def write(self, path: Path) -> None:
        """Write the texts as a corpus.tsv of the form that Huang et al. give out."""
        table = self.read()
        frame = table.frame.assign(
            tid=np.arange(self.n), uid=np.arange(self.n), date="2020", label=np.where(table.label, "0", "1")
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        frame[["tid", "uid", "text", "date", "gender", "age", "country", "ethnicity", "label"]].to_csv(
            path, sep="\t", index=False
        )
