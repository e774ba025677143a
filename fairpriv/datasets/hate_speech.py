"""The multilingual hate-speech corpus of Huang et al. (2020): tweets with four attributes of their authors."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets import sources
from fairpriv.datasets.base import Loader, Table
from fairpriv.datasets.word_vectors import read_vectors
from fairpriv.errors import BadRequest, DataUnavailable
from fairpriv.registry import param, register

LANGUAGES = ("English", "Italian", "Polish", "Portuguese", "Spanish")
ATTRIBUTES = ("gender", "ethnicity", "age", "country")
NO_HATE = ("0", "no", "neither", "normal")
BRIEF = "corpus is given out on request"
ASK = (
    "the corpus is given out on request: write to its authors (X. Huang, L. Xing, F. Dernoncourt, M. J. Paul, "
    "LREC 2020, arXiv:2002.10361; the address is in their repository xiaoleihuang/Multilingual_Fairness_LREC)"
)


@register
@dataclass(frozen=True, kw_only=True)
class HateSpeech(Loader):
    """Hate-speech corpus of Huang et al. 2020, one language: no hate in the tweet (label 1); text in column `text`.

    Reads $FAIRPRIV_DATA/hate_speech/LANGUAGE/corpus.tsv with the columns text, gender, age, country, ethnicity and
    label, the attributes coded 0/1 as the authors do. Rows with an unknown attribute ("x") are left out.
    """

    name: ClassVar[str] = "hate_speech"
    paper: ClassVar[str] = "maad2023, Section 4.1"
    favourable: ClassVar[str] = "no hate speech"
    sensitive: ClassVar[tuple[str, ...]] = ATTRIBUTES
    # the authors' codes: 0 is male, white, older than the median, not of the main country
    advantaged: ClassVar = {"gender": ("0",), "ethnicity": ("0",), "age": ("0",), "country": ("1",)}

    protected: str = param("gender", "group 1: coded 0 (male, white, older), of the main country")
    language: str = param("English", "the corpus", choices=LANGUAGES)
    vectors: str | None = param(
        None, "a word2vec file (.bin, or text), e.g. GoogleNews-vectors-negative300.bin; null: word vectors are learned"
    )

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("language", self.language, LANGUAGES)

    def _file(self) -> Path:
        name = f"hate_speech/{self.language}/corpus.tsv"
        folders = [f for f in (sources.data_dir(), sources.cache_dir()) if f is not None]
        for folder in folders:
            if (folder / name).is_file():
                return folder / name
        sought = ", ".join(str(folder / name) for folder in folders)
        raise DataUnavailable(
            f"{name} is not there (sought: {sought}): {ASK}, then put it at $FAIRPRIV_DATA/{name}", BRIEF
        )

    def _vectors_file(self) -> Path:
        path = Path(self.vectors).expanduser()
        if not path.is_file():
            raise BadRequest(f"no such file: dataset.vectors={self.vectors}")
        return path

    def sums(self) -> str:
        """Return the sum of the corpus, and of the word vectors where they are given."""
        files = [self._file()] + ([self._vectors_file()] if self.vectors is not None else [])
        return sources.combined(sources.file_sum(path) for path in files)

    def word_vectors(self, wanted: set[str]) -> tuple[dict[str, int], np.ndarray] | None:
        """Return tokens and vectors of these words, where a file is given."""
        return None if self.vectors is None else read_vectors(self._vectors_file(), wanted)

    def read(self) -> Table:
        """Read the corpus."""
        path = self._file()
        frame = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)
        frame = frame.rename(columns={"race": "ethnicity"})
        missing = [c for c in ("text", *ATTRIBUTES, "label") if c not in frame]
        if missing:
            raise DataUnavailable(f"{path} has no column {', '.join(missing)}; it has {', '.join(frame)}")
        known = frame[list(ATTRIBUTES)].isin(["0", "1"]).all(axis=1)
        strange = frame[list(ATTRIBUTES)].isin(["0", "1", "x"]).all(axis=1)
        if not strange.all():
            row = frame.loc[~strange, list(ATTRIBUTES)].iloc[0].to_dict()
            raise DataUnavailable(f"{path}: attributes must be 0, 1 or x (unknown), got {row}")
        if not known.any():
            raise DataUnavailable(f"{path} has no row with all four attributes")
        notes = (f"{int((~known).sum()):,} of {len(frame):,} tweets left out: an attribute is unknown",)
        frame = frame[known]
        columns = {a: pd.Categorical(frame[a], ("0", "1")) for a in ATTRIBUTES}
        label = frame["label"].str.strip().isin(NO_HATE).to_numpy()
        return Table(pd.DataFrame({"text": frame["text"].astype(object)} | columns), label, notes=notes)
