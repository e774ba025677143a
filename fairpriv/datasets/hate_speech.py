"""The multilingual hate-speech corpus of Huang et al. (2020): tweets with four attributes of their authors.

Three forms of it are read, the first that is there: the texts (`corpus.tsv`, given out on request), the token ids that
the authors publish (`train.tsv`, `valid.tsv`, `test.tsv`), and these without padding and without anything that names a
tweet, its author, place or date (`indices_valid_test.csv.gz`: two of the three parts).
"""

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
PARTS = ("train.tsv", "valid.tsv", "test.tsv")
FORMS = (("corpus.tsv",), PARTS, ("indices_valid_test.csv.gz",))
BRIEF = "corpus is given out on request"
ASK = (
    "the corpus is given out on request: write to its authors (X. Huang, L. Xing, F. Dernoncourt, M. J. Paul, "
    "LREC 2020, arXiv:2002.10361; the address is in their repository xiaoleihuang/Multilingual_Fairness_LREC)"
)


@register
@dataclass(frozen=True, kw_only=True)
class HateSpeech(Loader):
    """Hate-speech corpus of Huang et al. 2020, one language: no hate in the tweet (label 1).

    Reads corpus.tsv in $FAIRPRIV_DATA/hate_speech/LANGUAGE (column `text`), else the token ids that the authors publish
    (column `tokens`: train.tsv, valid.tsv and test.tsv, as many as there are). Attributes are coded 0/1 as the authors
    do; rows with an unknown one ("x") are left out.
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
        None,
        "of texts: a word2vec file (.bin, or text), e.g. GoogleNews-vectors-negative300.bin; null: vectors are learned",
    )

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("language", self.language, LANGUAGES)

    def _files(self) -> list[Path]:
        """Return the files of the first form that is there."""
        folders = [
            f / "hate_speech" / self.language for f in (sources.data_dir(), sources.cache_dir()) if f is not None
        ]
        for folder in folders:
            for form in FORMS:
                found = [folder / name for name in form if (folder / name).is_file()]
                if found:
                    return found
        raise DataUnavailable(
            f"hate_speech/{self.language}/corpus.tsv is not there (sought: {', '.join(map(str, folders))}), and its "
            f"token ids ({', '.join(PARTS)}, in that repository's data/indices/{self.language}) are not either: {ASK}, "
            f"then put it at $FAIRPRIV_DATA/hate_speech/{self.language}/",
            BRIEF,
        )

    def _vectors_file(self) -> Path:
        path = Path(self.vectors).expanduser()
        if not path.is_file():
            raise BadRequest(f"no such file: dataset.vectors={self.vectors}")
        return path

    def sums(self) -> str:
        """Return the sum of the corpus, and of the word vectors where they are given."""
        files = self._files() + ([self._vectors_file()] if self.vectors is not None else [])
        return sources.combined(sources.file_sum(path) for path in files)

    def word_vectors(self, wanted: set[str]) -> tuple[dict[str, int], np.ndarray] | None:
        """Return tokens and vectors of these words, where a file is given."""
        return None if self.vectors is None else read_vectors(self._vectors_file(), wanted)

    def read(self) -> Table:
        """Read the corpus, in the form that is there."""
        files = self._files()
        frame = pd.concat([_read(path) for path in files], ignore_index=True)
        where = files[0].parent
        known = frame[list(ATTRIBUTES)].isin(["0", "1"]).all(axis=1)
        strange = frame[list(ATTRIBUTES)].isin(["0", "1", "x"]).all(axis=1)
        if not strange.all():
            row = frame.loc[~strange, list(ATTRIBUTES)].iloc[0].to_dict()
            raise DataUnavailable(f"{where}: attributes must be 0, 1 or x (unknown), got {row}")
        if not known.any():
            raise DataUnavailable(f"{where} has no row with all four attributes")
        notes = [f"{int((~known).sum()):,} of {len(frame):,} tweets left out: an attribute is unknown"]
        if "tokens" in frame:
            parts = "valid and test" if len(files) == 1 else " and ".join(path.stem for path in files)
            whole = len(files) == len(PARTS)
            notes.append(
                f"token ids, {'all parts' if whole else f'a part of the corpus: {parts}'} as the authors split it"
            )
        frame = frame[known]
        columns = {a: pd.Categorical(frame[a], ("0", "1")) for a in ATTRIBUTES}
        label = frame["label"].str.strip().isin(NO_HATE).to_numpy()
        what = "tokens" if "tokens" in frame else "text"
        return Table(pd.DataFrame({what: frame[what].astype(object)} | columns), label, notes=tuple(notes))


def _read(path: Path) -> pd.DataFrame:
    """Read one file, all columns as written; of token ids the padding in front is dropped."""
    separator = "," if path.suffix == ".gz" else "\t"
    frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)
    what = "text" if path.name == "corpus.tsv" else "tokens"
    # the authors call the ids `text` too
    frame = frame.rename(columns={"race": "ethnicity"} | ({"text": "tokens"} if path.name in PARTS else {}))
    missing = [c for c in (what, *ATTRIBUTES, "label") if c not in frame]
    if missing:
        raise DataUnavailable(f"{path} has no column {', '.join(missing)}; it has {', '.join(frame)}")
    if what == "text":
        return frame
    strange = ~frame["tokens"].str.fullmatch(r"\d+( \d+)*")
    if strange.any():
        raise DataUnavailable(
            f"{path}: tokens must be ids with spaces between, got {frame['tokens'][strange].iloc[0]!r}"
        )
    return frame.assign(tokens=frame["tokens"].str.replace(r"^(0 )+", "", regex=True))
