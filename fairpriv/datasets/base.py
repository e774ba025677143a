"""What a dataset is: features, a binary label, sensitive attributes with their domains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets import sources
from fairpriv.datasets.split import stratified_split
from fairpriv.errors import BadRequest, DataUnavailable, unknown
from fairpriv.registry import Plugin, param


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table ready for an experiment.

    Attributes
    ----------
    features : DataFrame
        Model inputs; numeric columns as numbers, the others as pandas categoricals over their full domain. The
        protected attribute is not among them; the other sensitive attributes are.
    label : ndarray of int8, 0 or 1
        1 is the favourable outcome (the dataset's own `favourable` says which).
    group : ndarray of int8, 0 or 1
        The protected attribute, binarised; 1 is the advantaged group.
    sensitive : DataFrame of categoricals
        Every sensitive attribute, as read, the protected one included.
    protected : str
        Name of the protected attribute.
    sha256 : str
        Sum over the source files' sums; enters every cell's key.
    train : ndarray of bool or None
        The official split, where there is one.
    notes : tuple of str
        What a reader of results must know (a sample, a stand-in).
    favourable : str
        What label 1 means, in words.
    minority_share : float or None
        A public statistic: the share of group 0 declared in the config, never computed from the data.
    """

    name: str
    features: pd.DataFrame
    label: np.ndarray
    group: np.ndarray
    sensitive: pd.DataFrame
    protected: str
    sha256: str
    train: np.ndarray | None = None
    notes: tuple[str, ...] = field(default=())
    favourable: str = ""
    minority_share: float | None = None

    def __post_init__(self) -> None:
        """Refuse a table that no experiment could use, in one line."""
        n = len(self.features)
        if not n == len(self.label) == len(self.group) == len(self.sensitive):
            raise BadRequest(f"dataset {self.name}: features, label and group differ in length")
        for what, values in (("label", self.label), ("protected attribute " + self.protected, self.group)):
            found = np.unique(values)
            if not np.isin(found, (0, 1)).all():
                raise BadRequest(f"dataset {self.name}: {what} must be binary, got {len(found)} values")
            if len(found) < 2:
                raise BadRequest(f"dataset {self.name}: {what} is constant")
        bad = [c for c in self.features if self.features[c].isna().any()]
        if bad:
            raise BadRequest(f"dataset {self.name}: missing values (NaN) in {', '.join(map(str, bad))}")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.label)

    @property
    def domains(self) -> dict[str, tuple[Any, ...]]:
        """Return the domain of every sensitive attribute."""
        return {c: tuple(self.sensitive[c].cat.categories) for c in self.sensitive}

    def take(self, rows: np.ndarray) -> "Dataset":
        """Return the dataset restricted to these rows (indices or mask), in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(
            self,
            features=self.features.iloc[rows].reset_index(drop=True),
            label=self.label[rows],
            group=self.group[rows],
            sensitive=self.sensitive.iloc[rows].reset_index(drop=True),
            train=None if self.train is None else self.train[rows],
        )


@dataclass(frozen=True, eq=False)
class Table:
    """What a loader reads: every usable column (the sensitive ones too) and the label, row by row."""

    frame: pd.DataFrame
    label: np.ndarray
    train: np.ndarray | None = None
    notes: tuple[str, ...] = ()


Advantaged = tuple[str, ...] | Callable[[pd.Series], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Loader(Plugin):
    """A dataset's loader: options as fields, `load()` gives the Dataset.

    A loader says what is in its files (`files`, `sensitive`, `advantaged`, `favourable`) and how to read them (`read`);
    binarising the protected attribute, leaving features out and drawing a sample are the same for all.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpriv import Loader, Table
    >>> class Coins(Loader):
    ...     name, sensitive, advantaged = "coins", ("side",), {"side": ("heads",)}
    ...
    ...     def read(self):
    ...         frame = pd.DataFrame({"weight": [1.0, 2.0], "side": pd.Categorical(["heads", "tails"])})
    ...         return Table(frame, np.array([0, 1]))
    >>> Coins(protected="side").load().group.tolist()
    [1, 0]
    """

    kind: ClassVar[str] = "datasets"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
    favourable: ClassVar[str] = ""
    files: ClassVar[tuple[sources.Source, ...]] = ()
    sensitive: ClassVar[tuple[str, ...]] = ()
    # Who is advantaged, by protected attribute: the values, or a rule on the column.
    advantaged: ClassVar[Mapping[str, Advantaged]] = {}

    protected: str = param("", "the protected attribute", choices=lambda cls: cls.advantaged)
    privileged: tuple[str, ...] | None = param(None, "its values that make group 1; null: the usual ones")
    exclude: tuple[str, ...] = param((), "features to leave out")
    sample: int | None = param(None, "keep so many rows, stratified on the group; null: all", at_least=2)
    sample_seed: int = param(0, "seed of that draw", at_least=0)
    minority_share: float | None = param(None, "declared share of group 0, a public statistic", above=0, below=1)

    def __post_init__(self) -> None:
        """Check the options every dataset has."""
        for option in ("privileged", "exclude"):
            as_tuple(self, option)
        if self.advantaged:
            validate.choice("protected", self.protected, list(self.advantaged))
            if self.privileged is not None and callable(self.advantaged[self.protected]):
                raise BadRequest(f"privileged must be null for {self.protected}, which is cut by a rule")
        if self.sample is not None:
            validate.integer("sample", self.sample, at_least=2)
        validate.integer("sample_seed", self.sample_seed, at_least=0)
        if self.minority_share is not None:
            validate.number("minority_share", self.minority_share, above=0, below=1)

    def needs(self) -> Sequence[sources.Source]:
        """Return the files these options need."""
        return self.files

    def sums(self) -> str:
        """Return the sha256 that identifies the source files, without parsing them."""
        return sources.combined(sources.file_sum(sources.fetch(s)) for s in self.needs())

    def read(self) -> Table:
        """Read and check the files."""
        raise NotImplementedError

    def group(self, column: pd.Series) -> np.ndarray:
        """Binarise the protected attribute; 1 is the advantaged group."""
        rule = self.privileged if self.privileged is not None else self.advantaged[self.protected]
        if callable(rule):
            return np.asarray(rule(column))
        domain = [str(value) for value in column.cat.categories]
        for value in rule:
            if value not in domain:
                raise unknown(f"value of {self.protected}", value, domain)
        return column.astype(str).isin(rule).to_numpy()

    def load(self) -> Dataset:
        """Read, check and binarise the data."""
        table = self.read()
        frame = table.frame.reset_index(drop=True)
        for column in self.exclude:
            if column not in frame:
                raise unknown(f"feature of {self.name} in exclude", column, frame.columns)
        shown = self.sensitive or (self.protected,)
        dataset = Dataset(
            name=self.name,
            features=frame.drop(columns={self.protected, *self.exclude}),
            label=np.asarray(table.label).astype(np.int8),
            group=self.group(frame[self.protected]).astype(np.int8),
            sensitive=frame[[c for c in shown if c in frame]].astype("category"),
            protected=self.protected,
            sha256=self.sums(),
            train=table.train,
            notes=table.notes,
            favourable=self.favourable,
            minority_share=self.minority_share,
        )
        return dataset if self.sample is None else self._sampled(dataset)

    def _sampled(self, dataset: Dataset) -> Dataset:
        validate.integer("sample", self.sample, at_most=len(dataset))
        rng = np.random.default_rng(self.sample_seed)
        (rows,) = stratified_split(dataset, [self.sample / len(dataset)], rng, by="group")
        note = f"a sample of {self.sample:,} of {len(dataset):,} rows, stratified on {self.protected}"
        return replace(dataset.take(rows), notes=(*dataset.notes, note))


def as_tuple(loader: Loader, option: str) -> None:
    """Make an option given as a list (or a single value) a tuple of str, so that loaders stay hashable."""
    value = getattr(loader, option)
    if value is not None:
        several = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        object.__setattr__(loader, option, tuple(str(v) for v in several))


def categories(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the frame with these columns as categoricals over the sorted values of the whole file.

    Called before any row is filtered, so that a filter or a sample never changes a domain.
    """
    return frame.assign(**{c: pd.Categorical(frame[c], categories=sorted(frame[c].unique())) for c in columns})


def check_rows(name: str, what: str, found: int, expected: int) -> None:
    """Refuse a file whose number of rows is not the published one."""
    if found != expected:
        raise DataUnavailable(
            f"dataset {name}: {what} has {found:,} rows, the published file gives {expected:,}; "
            "check which version of the file this is"
        )
