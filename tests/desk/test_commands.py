"""The desk's commands and its token file."""

import argparse
import contextlib
import sqlite3

import pytest

from fairpriv.cli import main
from fairpriv.cli.desk import serve
from fairpriv.desk.clients import Client, make_token_file, read_clients
from fairpriv.errors import BadRequest
from tests.desk.serving import write_people


def _init(tmp_path, *options: str, columns: tuple[str, str] = ("hired", "sex")) -> int:
    label, protected = columns
    return main(
        f"desk init --data {tmp_path / 'people.csv'} --label {label} --protected {protected} --epsilon 5 "
        f"--state {tmp_path / 'desk.sqlite'} {' '.join(options)}".split()
    )


def test_a_ledger_is_never_overwritten(tmp_path, capsys):
    write_people(tmp_path / "people.csv")
    assert _init(tmp_path) == 0
    before = (tmp_path / "desk.sqlite").read_bytes()
    assert _init(tmp_path) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert (tmp_path / "desk.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--epsilon=-1",), "epsilon must be > 0, got -1.0"),
        (("--sizes=both",), "sizes must be one of secret, public"),
        (("--delta=1",), "delta must be < 1"),
        (("--metrics", "sp", "dp"), "metrics must be one of"),
        (("--privileged", "X"), "sex has no value 'X'"),
        (("--minority-share=0.7",), "minority-share must be <= 0.5"),
    ],
)
def test_what_is_declared_is_checked(tmp_path, capsys, options, said):
    write_people(tmp_path / "people.csv")
    assert _init(tmp_path, *options) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "desk.sqlite").exists()


def test_metrics_that_somebody_is_missing_for_must_not_be_declared(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("sex,hired\n" + "F,0\nM,0\nF,0\nM,1\nM,1\nM,1\n")
    assert _init(tmp_path) == 2
    assert "declare --metrics sp abs_sp" in capsys.readouterr().err
    assert _init(tmp_path, "--metrics", "sp", "abs_sp") == 0


def test_group_1_does_not_follow_from_the_data(tmp_path):
    """One person more in the other group must not turn the sign of every answer."""
    from fairpriv.desk import state

    for i, many in enumerate("FM"):
        folder = tmp_path / str(i)
        folder.mkdir()
        rows = [f"{sex},{y}" for y in (0, 1) for sex in "FFMM" + many]
        (folder / "people.csv").write_text("sex,hired\n" + "\n".join(rows) + "\n")
        assert _init(folder) == 0
        assert state.declaration(state.connect(folder / "desk.sqlite")).privileged == ("M",)


def test_what_was_not_said_is_told(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("sex,hired\n" + "F,no\nM,no\nF,no\nM,yes\nF,yes\nM,yes\n")
    assert _init(tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[0] == "favourable: hired = yes; group 1: sex = M"


def test_more_than_two_values_need_a_word(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("sex,hired\n" + "F,0\nM,0\nX,0\nF,1\nM,1\nX,1\n")
    assert _init(tmp_path) == 2
    assert capsys.readouterr().err.endswith("say which are advantaged with --privileged VALUE ...\n")
    assert _init(tmp_path, "--privileged", "M") == 0


def test_nobody_is_dropped_behind_the_clients_backs(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("sex,hired\n" + "F,0\nM,0\n,0\nF,1\nM,1\nM,1\n")
    assert _init(tmp_path) == 2
    said = capsys.readouterr().err
    assert "missing values (NaN) in sex (1): leave these people out of the file, as predictions must" in said
    assert "drop_missing" not in said  # an option of experiments alone


def test_files_that_others_can_open_are_told(tmp_path, capsys):
    arguments = argparse.Namespace(token_file=tmp_path / "tokens", state=tmp_path / "state", host="::1", unsafe_exact=0)
    for path in (arguments.token_file, arguments.state):
        path.write_text("")
        path.chmod(0o600)
    serve._warn(arguments, ())
    assert capsys.readouterr().err == ""
    arguments.token_file.chmod(0o644)
    serve._warn(arguments, ())
    assert f"chmod 600 {tmp_path / 'tokens'}" in capsys.readouterr().err


def test_an_edited_ledger_is_not_served(tmp_path, capsys, monkeypatch):
    from fairpriv.desk import processes

    write_people(tmp_path / "people.csv")
    assert _init(tmp_path) == 0
    place = tmp_path / "desk.sqlite"
    serve_words = f"desk serve --state {place} --port 0 --token-file {tmp_path / 'tokens'}".split()
    served = []
    monkeypatch.setattr(processes, "run", lambda lines, work: served.extend(line.close() for line in lines))
    assert main(serve_words) == 0
    assert served
    with contextlib.closing(sqlite3.connect(place)) as db, db:
        db.execute("UPDATE people SET protected = label")
    capsys.readouterr()
    assert main(serve_words) == 2
    assert "the ledger is not as it was written, and is not served: the people changed" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_called_as_the_desk_calls_it(tmp_path, capsys):
    words = ["--label", "hired", "--protected", "sex", "--epsilon", "1", "--state", str(tmp_path / "state")]
    assert main(["desk", "init", "--data", str(tmp_path / "none.csv"), *words]) == 2
    assert f"no such file: --data {tmp_path / 'none.csv'}" in capsys.readouterr().err


def test_commands_refuse_in_one_line(tmp_path, capsys):
    assert main(["desk"]) == 2
    assert main(["desk", "open"]) == 2
    assert main(["desk", "ledger", "--state", str(tmp_path / "none")]) == 2
    (tmp_path / "text").write_text("no database, and long enough to be taken for one\n" * 10)
    assert main(["desk", "ledger", "--state", str(tmp_path / "text")]) == 2
    said = capsys.readouterr().err
    assert "unknown desk command 'open'" in said
    assert "no such state file" in said
    assert "is not the state of a desk" in said


def _clients(tmp_path, text: str):
    path = tmp_path / "tokens"
    path.write_text(text)
    return read_clients(path)


def test_token_files(tmp_path):
    one = _clients(tmp_path, "a-token-of-some-length\n")
    assert one.find("Bearer a-token-of-some-length") == Client("client", 1.0)
    several = _clients(tmp_path, "# who\nalice aaaaaaaaaaaaaaaaaaaa 0.5\nbob bbb\ncarol cccccccccccccccccccc\n")
    assert several.find("bearer bbb") == Client("bob", 0.25)
    assert several.guessable == ["bob"]
    for header in (None, "", "Bearer", "Bearer ", "Bearer alice", "aaaaaaaaaaaaaaaaaaaa", "Basic bbb"):
        assert several.find(header) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no token"),
        ("a secret1\na secret2\n", "a name and a token of its own"),
        ("a secret\nb secret\n", "a name and a token of its own"),
        ("a secret 0.6\nb other 0.6\n", "add up to 1.2"),
        ("a secret 1\nb other\n", "leave something"),
        ("a secret 2\n", "share of a must be in"),
        ("a secret x\n", "share of a must be in"),
        ("a secret nan\n", "share of a must be in"),
        ("a secret -inf\n", "share of a must be in"),
        ("a/b secret\n", "NAME TOKEN"),
        ("secret1\nsecret2\n", "NAME TOKEN"),
    ],
)
def test_token_files_are_checked_and_never_quoted(tmp_path, text, said):
    with pytest.raises(BadRequest, match=said) as found:
        _clients(tmp_path, text)
    assert "secret" not in str(found.value).replace(str(tmp_path), "")


def test_a_fresh_token_is_for_its_owner_only(tmp_path):
    path = tmp_path / "tokens"
    make_token_file(path)
    assert path.stat().st_mode & 0o077 == 0
    assert read_clients(path).find(f"Bearer {path.read_text().strip()}") == Client("client", 1.0)
    with pytest.raises(BadRequest, match="cannot be made"):
        make_token_file(path)


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code = main(["desk", "serve", "--state", str(tmp_path / "s"), "--token-file", str(tmp_path / "t")])
    assert code == 1
    assert "pip install 'fairpriv[desk]'" in capsys.readouterr().err
