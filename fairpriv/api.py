"""The functions of the public API: what the commands do, from Python, by the same road."""

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from fairpriv.datasets.base import Dataset

_PLAIN = re.compile(r"[\w./-]+", re.ASCII)  # texts that need no quotes,
_ANOTHER = re.compile(r"null|true|false|[+-]?(inf|nan|[\d_.]+(e[+-]?\d+)?)", re.IGNORECASE)  # but for these


def run(experiment: str, *, conf_dir: str | None = None, quiet: bool = True, **settings: Any) -> "pd.DataFrame":
    """Run an experiment and return its rows.

    It is `fairpriv run experiment=...`: results go to the same folders, finished cells are reused, and a wrong request
    is refused with the same line.

    Parameters
    ----------
    experiment : str
        Its name; `fairpriv list experiments` shows them.
    conf_dir : str, optional
        A folder of your own configs, laid out like conf/.
    quiet : bool
        Say nothing on stderr (default), or how far it is.
    **settings
        What the command line takes as key=value. A list gives the values of an axis. `__` stands for the dot of a
        plug-in's parameter: ``defense__bounding="clip"``.

    Returns
    -------
    pandas.DataFrame
        One row per cell of the request, as in cells.csv: the grid's columns, `seed`, every metric, `status`, `seconds`.
        A cell that fails costs its own row only: `status` says so.

    Raises
    ------
    BadRequest
        What the command line would refuse, in the same words; nothing has run then.
    KeyboardInterrupt
        Finished cells are kept: the same call goes on where it stopped.

    Examples
    --------
    >>> import fairpriv
    >>> rows = fairpriv.run(
    ...     "attribute_conceal", profile="smoke", dataset="synthetic", epsilon=[1, 10], defense="laplace",
    ...     attack__decoder="l1", jobs=1,
    ... )
    >>> rows[["epsilon", "m", "status"]].to_dict("list")
    {'epsilon': [1, 10], 'm': [40, 40], 'status': ['done', 'done']}
    >>> fairpriv.run("attribute_conceal", epsilon=0)
    Traceback (most recent call last):
        ...
    fairpriv.errors.BadRequest: epsilon must be > 0, got 0
    """
    import pandas as pd

    from fairpriv import config
    from fairpriv.runner import driver, output
    from fairpriv.runner.library import Library
    from fairpriv.runner.progress import Progress

    frames = []

    def write(job: driver.Job, library: Library) -> Mapping[str, str]:
        faults = output.write(job, library)
        frames.append(output.frame(seat for seat in job.seats if not seat.extra))
        return faults

    config.start(conf_dir)
    plan = config.plan([f"experiment={word(experiment)}", *words(settings)])
    (outcome,) = driver.execute([plan], Progress(quiet=quiet), write)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return pd.concat(frames, ignore_index=True)


def load_dataset(name: str, **options: Any) -> "Dataset":
    """Return a dataset as experiments have it.

    Parameters
    ----------
    name : str
        Its name; `fairpriv list datasets` shows them, conf/dataset/ further choices made of them (`adult_race`).
    **options
        Its parameters; `fairpriv show NAME` tells them.

    Returns
    -------
    Dataset
        Features, label, group and sensitive attributes; arrays are read-only, as they are shared.

    Raises
    ------
    DataUnavailable
        A file is not to be had: where it was sought, and how to bring it.

    Examples
    --------
    >>> import fairpriv
    >>> people = fairpriv.load_dataset("synthetic", sample=500)
    >>> people.features.shape[0], sorted(set(people.group.tolist()))
    (500, [0, 1])
    """
    from fairpriv import config, datasets

    config.start()
    params = {key: value for key, value in config.option("dataset", name).items() if value != "???"} | options
    return datasets.load(params.pop("name"), params)


def audit(**settings: Any) -> "pd.DataFrame":
    """Audit what mechanisms really pay, through the method that gives their outputs: `fairpriv audit`.

    Parameters
    ----------
    **settings
        `defense` (default: every one), `epsilon`, `n`, `m`, `metric`, `samples`, `share`; `defense__PARAMETER`.

    Returns
    -------
    pandas.DataFrame
        One row per mechanism: the ε it claims, what its law costs, what its outputs prove, and the verdict (`holds`,
        `VIOLATED` or `unchecked`).

    Examples
    --------
    The printed constants of `conceal` pay less than a third of what they claim:

    >>> import fairpriv
    >>> (row,) = fairpriv.audit(defense="conceal", epsilon=3, n=40, m=5, samples=1000).to_dict("records")
    >>> row["claimed_epsilon"], round(row["worst_log_ratio"], 2), row["verdict"]
    (3, 0.67, 'holds')
    """
    import pandas as pd

    from fairpriv.runner.auditing import audit_rows

    return pd.DataFrame(audit_rows(words(settings)))


def words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as they would be typed: key=value, `__` for a dot."""
    return [f"{key.replace('__', '.')}={word(value)}" for key, value in settings.items()]


def word(value: Any) -> str:
    """Return a value in the grammar of the command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str | PathLike):
        return _text(str(value))
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_text(str(k))}:{word(v)}" for k, v in value.items()) + "}"
    if hasattr(value, "tolist"):  # a number or an array of numpy's
        return word(value.tolist())
    if isinstance(value, Sequence | set | frozenset):
        return f"[{','.join(map(word, value))}]"
    return str(value)


def _text(text: str) -> str:
    """Return a text in quotes where it could be read as something else; backslashes count before a quote only."""
    if _PLAIN.fullmatch(text) and not _ANOTHER.fullmatch(text):
        return text
    return "'" + re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + ("\\'" if m[2] else ""), text) + "'"
