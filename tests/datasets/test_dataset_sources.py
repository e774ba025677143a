import hashlib
import http.server
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from fairpriv import registry
from fairpriv.datasets import sources
from fairpriv.datasets.sources import Source, Wheel, fetch
from fairpriv.errors import BadRequest, DataCorrupt, DataUnavailable

BODY = b"a,b\n1,2\n"
SUM = hashlib.sha256(BODY).hexdigest()


def sha(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def serve():
    """An HTTP server on this machine: serve(path) -> url; paths ending in .cut promise more than they send."""
    answers = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = answers.get(self.path)
            self.send_response(200 if body is not None else 404)
            body = body or b""
            self.send_header("Content-Length", str(len(body) + (10 if self.path.endswith(".cut") else 0)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()

    def _serve(name, body):
        answers[f"/{name}"] = body
        return f"http://127.0.0.1:{server.server_port}/{name}"

    yield _serve
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index of one wheel, in place of pip: index.calls counts downloads."""
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing/a.csv", BODY)
        archive.writestr("thing/b.csv", BODY * 2)

    class Index:
        calls = 0
        fails = ""
        sha256 = sha(wheel.read_bytes())

    def run(command, cwd, **_):
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert command[-5:] == ["--only-binary", ":all:", "thing==1.0", "-d", "."]
        assert "--no-deps" in command
        Index.calls += 1
        if not Index.fails:
            (Path(cwd) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, bool(Index.fails), "", Index.fails)

    monkeypatch.setattr(sources.subprocess, "run", run)
    return Index


def one_line(error):
    text = str(error.value)
    assert "\n" not in text
    return text


def parts_left(cache):
    return [p.name for p in cache.rglob("*") if p.name.startswith(".part")]


def test_url_is_fetched_once_and_checked(empty, serve):
    source = Source("d", "d/a.csv", SUM, url=serve("a.csv", BODY))
    path = fetch(source)
    assert path == empty / "d" / "a.csv"
    assert path.read_bytes() == BODY
    assert fetch(Source("d", "d/a.csv", SUM)) == path  # no place to bring it from, none needed
    assert not parts_left(empty)


def test_local_file_is_read_in_place(empty, tmp_path, monkeypatch):
    local = tmp_path / "data" / "d" / "a.csv"
    local.parent.mkdir(parents=True)
    local.write_bytes(BODY)
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path / "data"))
    assert fetch(Source("d", "d/a.csv", SUM)) == local
    assert not empty.exists()


def test_corrupt_local_file_is_refused(empty, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_bytes(b"other")
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    with pytest.raises(DataCorrupt, match="is corrupt: sha256 is") as error:
        fetch(Source("d", "a.csv", SUM))
    assert SUM in one_line(error)
    assert sha(b"other") in one_line(error)


def test_cache_goes_before_local_before_wheel_before_url(empty, tmp_path, monkeypatch, serve, index):
    wheel = Wheel("thing==1.0", index.sha256, "thing/a.csv", SUM)
    source = Source("d", "a.csv", SUM, wheel, serve("a.csv", BODY))
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_bytes(BODY)
    assert fetch(source) == tmp_path / "data" / "a.csv"
    (tmp_path / "data" / "a.csv").unlink()
    assert fetch(source) == empty / "a.csv"
    assert index.calls == 1
    (tmp_path / "data" / "a.csv").write_bytes(BODY)
    assert fetch(source) == empty / "a.csv"


def test_corrupt_cached_file_is_named_and_replaced_on_request(empty, serve):
    source = Source("d", "a.csv", SUM, url=serve("a.csv", BODY))
    path = fetch(source)
    path.write_bytes(b"spoilt")
    with pytest.raises(DataCorrupt) as error:
        fetch(source)
    text = one_line(error)
    assert all(part in text for part in (str(path), SUM, sha(b"spoilt"), "`fairpriv data fetch d` replaces it"))
    assert fetch(source, replace=True).read_bytes() == BODY
    assert fetch(source) == path


def test_corrupt_download_never_enters_the_cache(empty, serve):
    with pytest.raises(DataUnavailable, match="expected"):
        fetch(Source("d", "a.csv", SUM, url=serve("a.csv", b"wrong")))
    assert not (empty / "a.csv").exists()
    assert not parts_left(empty)


def test_truncated_download_never_enters_the_cache(empty, serve):
    with pytest.raises(DataUnavailable, match="cut off after 8 of 18 bytes"):
        fetch(Source("d", "a.csv", url=serve("a.cut", BODY)))
    assert not (empty / "a.csv").exists()


def test_missing_file_says_every_place_in_one_line(empty, serve, index):
    index.fails = "WARNING: x\nERROR: No matching distribution found for thing==1.0\n"
    url = serve("a.csv", None)
    source = Source("d", "d/a.csv", SUM, Wheel("thing==1.0", "0" * 64, "m", SUM), url, hint="ask around")
    with pytest.raises(DataUnavailable) as error:
        fetch(source)
    text = one_line(error)
    for part in (
        f"cache {empty / 'd' / 'a.csv'}: not there",
        "FAIRPRIV_DATA: not set",
        "wheel thing==1.0: pip download failed: ERROR: No matching distribution",
        f"{url}: HTTP Error 404",
        "put it at $FAIRPRIV_DATA/d/a.csv",
        "fairpriv data fetch d",
        "ask around",
    ):
        assert part in text
    assert error.value.exit_code == 2


def test_unwritable_cache_is_a_reason_not_a_crash(empty, serve):
    empty.write_text("a file where the cache directory should be")
    with pytest.raises(DataUnavailable, match=r"Not a directory|File exists"):
        fetch(Source("d", "d/a.csv", SUM, url=serve("a.csv", BODY)))


def test_one_wheel_is_downloaded_once_for_two_members(empty, index):
    a = Source("d", "a.csv", wheel=Wheel("thing==1.0", index.sha256, "thing/a.csv", SUM))
    b = Source("d", "b.csv", wheel=Wheel("thing==1.0", index.sha256, "thing/b.csv", sha(BODY * 2)))
    assert fetch(a).read_bytes() == BODY
    assert fetch(b).read_bytes() == BODY * 2
    assert index.calls == 1


@pytest.mark.parametrize(
    ("wheel_sum", "member", "member_sum", "said"),
    [
        ("0" * 64, "thing/a.csv", SUM, "wheel sha256"),
        (None, "thing/c.csv", SUM, "no thing/c.csv"),
        (None, "thing/b.csv", SUM, "expected"),
    ],
)
def test_wheel_is_checked(empty, index, wheel_sum, member, member_sum, said):
    wheel = Wheel("thing==1.0", wheel_sum or index.sha256, member, member_sum)
    with pytest.raises(DataUnavailable, match=said):
        fetch(Source("d", "a.csv", wheel=wheel))
    assert not (empty / "a.csv").exists()


def test_zip_archive_gives_its_member(empty, serve, tmp_path):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr("in.csv", BODY)
    url = serve("z.zip", (tmp_path / "z.zip").read_bytes())
    assert fetch(Source("d", "a.csv", SUM, url=url, unzip="in.csv")).read_bytes() == BODY
    with pytest.raises(DataUnavailable, match="not a zip"):
        fetch(Source("d", "b.csv", SUM, url=serve("no.zip", BODY), unzip="in.csv"))


def test_unpublished_sum_is_remembered(empty, serve):
    source = Source("d", "a.csv", url=serve("a.csv", BODY))
    path = fetch(source)
    path.write_bytes(b"changed later")
    with pytest.raises(DataCorrupt, match="corrupt"):
        fetch(source)


def test_unchanged_file_is_read_once(empty, tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(BODY)
    assert sources.file_sum(path) == SUM
    monkeypatch.setattr(sources.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert sources.file_sum(path) == SUM
    with pytest.raises(pytest.fail.Exception):
        sources.file_sum(path, fresh=True)


def test_combined_sum_depends_on_order_and_content():
    assert sources.combined([SUM]) == SUM
    assert len({sources.combined(s) for s in (["a", "b"], ["b", "a"], ["ab", ""])}) == 3


def test_processes_fetching_at_once_all_get_the_file(empty, serve):
    body = bytes(200_000)
    url = serve("big.bin", body)
    code = (
        "from fairpriv.datasets.sources import Source, fetch\n"
        f"print(fetch(Source('d', 'd/big.bin', {sha(body)!r}, url={url!r})))"
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [process.communicate(timeout=60)[0].strip() for process in started]
    assert told == [str(empty / "d" / "big.bin")] * 3
    assert (empty / "d" / "big.bin").read_bytes() == body
    assert not parts_left(empty)


@pytest.fixture
def one_dataset(monkeypatch, serve):
    """The registry with one dataset of two files: one on the network, one nowhere."""

    class Fake:
        files = (Source("fake", "fake/a.csv", SUM, url=serve("a.csv", BODY)), Source("fake", "fake/b.csv", SUM))

    monkeypatch.setattr(registry, "names", lambda kind: (["fake"], {}))
    monkeypatch.setattr(registry, "find", lambda kind, name: Fake)


def test_catalog_fetch_and_verify(empty, one_dataset):
    assert [(r.dataset, r.file, r.state) for r in sources.catalog()] == [
        ("fake", "fake/a.csv", "remote"),
        ("fake", "fake/b.csv", "missing"),
    ]
    a, b = sources.fetch_all()
    assert (a.ok, a.path) == (True, str(empty / "fake" / "a.csv"))
    assert not b.ok
    assert "fake/b.csv" in b.why
    assert sources.catalog()[0].state == "cached"
    assert [r.state for r in sources.verify_all()] == ["intact"]
    (empty / "fake" / "a.csv").write_bytes(b"spoilt")
    (row,) = sources.verify_all()
    assert (row.state, row.ok) == ("corrupt", False)
    assert SUM in row.why
    assert sources.fetch_all(["fake"])[0].ok  # fetching again replaces it
    assert sources.verify_all()[0].ok


def test_verify_reads_again_even_if_size_and_time_are_unchanged(empty, one_dataset):
    import os

    sources.fetch_all()
    path = empty / "fake" / "a.csv"
    stat = path.stat()
    fetch(Source("fake", "fake/a.csv", SUM))
    path.write_bytes(BODY[::-1])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert sources.verify_all()[0].state == "corrupt"


def test_unknown_dataset_is_refused_with_the_closest():
    with pytest.raises(BadRequest, match="did you mean adult"):
        sources.fetch_all(["adullt"])


def test_real_catalog_is_offline_and_whole(empty, monkeypatch):
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda *_, **__: pytest.fail("went to the network"))
    monkeypatch.setattr(sources.subprocess, "run", lambda *_, **__: pytest.fail("ran pip"))
    rows = sources.catalog()
    assert {r.dataset for r in rows} >= {
        "adult",
        "compas",
        "german",
        "lsac",
        "acs_income",
        "acs_public_coverage",
        "hsls",
    }
    assert {r.state for r in rows} == {"wheel", "remote", "missing"}
