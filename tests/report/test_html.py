import base64
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from fairpriv.cli import main
from fairpriv.cli.report import _say_open
from fairpriv.errors import BadRequest
from fairpriv.report import make_report
from fairpriv.report.figures import canvas, figure_bytes

from .conftest import PAPER, TABLE
from .test_verdicts import cells


@pytest.fixture
def results(tmp_path, shelf):
    """A results folder with a judged experiment, a multirun of it and an experiment of the user's own."""
    root = tmp_path / "results"
    run, own = root / "toy_run", root / "my<own>"
    for folder in (run, run / "epsilon=1", own / "tables"):
        folder.mkdir(parents=True)
    rows = pd.concat([cells([0.069, 0.071]), cells([0.5], defense="laplace")], ignore_index=True)
    rows.to_csv(run / "cells.csv", index=False)
    rows.to_csv(run / "epsilon=1" / "cells.csv", index=False)
    rows.to_csv(own / "cells.csv", index=False)
    pd.DataFrame({"a": ["<script>x</script>"], "b": [0.123456789]}).to_csv(own / "tables" / "t.csv", index=False)
    said = {
        "config": {"profile": {"name": "smoke"}},
        "seeds": [0, 1],
        "compute_seconds": 75,
        "command": ["run", "a=<b>"],
    }
    (run / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    (run / "figures").mkdir(exist_ok=True)
    for kind, content in figure_bytes(canvas()[0]).items():
        (run / "figures" / f"figure one.{kind}").write_bytes(content)
    return root


class _Tags(HTMLParser):
    """Collects what would be fetched, and checks that every tag is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href") and not v.startswith("data:")]
        if tag not in ("meta", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(path):
    tags = _Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    assert not tags.open
    return tags


def test_report_says_what_it_found(results):
    made = make_report(results)
    assert made.path == results / "report.html"
    assert made.total.tally == {"reproduced": 1, "close": 0, "consistent": 0, "differs": 1, "not run": 2}
    assert made.papers == {"toy2020": made.total}
    assert [line.split(":")[0] for line in made.open] == ["not run", "not run"]
    text = made.path.read_text(encoding="utf-8")
    for wanted in (
        "known &lt;s&gt; slip",
        "profile",
        "smoke",
        "1 min 15 s",
        "0.070",
        "0.013",
        "1 multirun job",
        "1 paper",
        "2 open",
    ):
        assert wanted in text


def test_everything_is_escaped_and_nothing_comes_from_outside(results):
    made = make_report(results)
    tags = parsed(made.path)
    assert not {"link", "iframe", "s", "u"} & set(tags.seen)
    assert tags.seen.count("script") == 1  # our own, in the page
    text = made.path.read_text(encoding="utf-8")
    for wanted in ("T &lt;script&gt;", "A &lt;b&gt;", "B &amp; C", "Table 1 &lt;i&gt;", "my&lt;own&gt;", "a=&lt;b&gt;"):
        assert wanted in text
    assert "default-src 'none'" in text  # the browser refuses whatever we might have overlooked
    assert not re.findall(r"(?:src|@import|url\()\s*=?\s*[\"']?(?:https?:)?//", text)


def test_links_lead_somewhere(results):
    from urllib.parse import unquote

    for link in parsed(make_report(results).path).links:
        if link.startswith("#"):
            continue
        assert (results / unquote(link)).exists(), link


def test_same_results_same_page(results):
    first = make_report(results).path.read_bytes(), (results / "REPORT.md").read_bytes()
    assert (make_report(results).path.read_bytes(), (results / "REPORT.md").read_bytes()) == first


def test_pictures_are_inside_and_taken_over_from_the_page_at_hand(results):
    path = make_report(results).path
    text = path.read_text(encoding="utf-8")
    (sum_, url), *others = re.findall(r'data-of="(\w+)" src="([^"]+)"', text)
    assert not others
    assert base64.b64decode(url.removeprefix("data:image/avif;base64,"))[4:12] == b"ftypavif"
    # another encoder's bytes of the same picture stay: rendering again must change nothing
    path.write_text(text.replace(url, "data:image/avif;base64,QW5vdGhlcg"), encoding="utf-8")
    make_report(results)
    assert "QW5vdGhlcg" in path.read_text(encoding="utf-8")
    next((results / "toy_run/figures").glob("*.png")).write_bytes(figure_bytes(canvas(columns=2)[0])["png"])
    make_report(results)
    text = path.read_text(encoding="utf-8")
    assert "QW5vdGhlcg" not in text
    assert sum_ not in text


def test_markdown_has_the_same_verdicts(results):
    make_report(results)
    lines = (results / "REPORT.md").read_text(encoding="utf-8").splitlines()
    assert "| Fig. 1 | error | 100 | Attribute-Conceal | 0.070 | 0.070 ± 0.013 | 2 | reproduced |" in lines
    assert "| Fig. 1 | error | 100 | Laplace | 0.050 ± 0.0020 | 0.500 | 1 | differs (paper) [2] |" in lines
    assert "2. known &lt;s> slip Shown by experiments/toy2020/tables/one.csv." in lines
    assert any(line.startswith("- [ ] It falls") for line in lines)
    assert any("figure%20one.png" in line for line in lines)


def test_it_is_shown_in_the_browser_where_there_is_one(results, monkeypatch, capsys):
    import webbrowser

    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda url: asked.append(url) or False)
    assert main(["report", "--open", "--results-dir", str(results)]) == 0
    assert asked == [(results / "report.html").resolve().as_uri()]
    assert "no browser here" in capsys.readouterr().err


def test_strict_fails_on_what_is_open(results, shelf, capsys):
    assert main(["report", "--results-dir", str(results)]) == 0
    assert "open: not run" not in capsys.readouterr().out
    assert main(["report", "--strict", "--results-dir", str(results)]) == 1
    said = capsys.readouterr().out
    assert "1 reproduced, 1 differs (1 paper), 2 not run (2 open)" in said
    assert said.count("  open: not run: toy2020") == 2
    shelf(
        paper=PAPER | {"claims": []}, table="\n".join(line for line in TABLE.splitlines() if "inf" not in line) + "\n"
    )
    assert main(["report", "--strict", "--results-dir", str(results)]) == 0


def test_a_long_list_of_what_is_open_is_cut(capsys):
    _say_open([f"row {i}" for i in range(23)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 21
    assert lines[-1].strip().startswith("and 3 more")


def test_json_has_the_split(results, capsys):
    assert main(["report", "--json", "--results-dir", str(results)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["tally"]["differs"] == 1
    assert said["causes"]["differs"]["paper"] == 1
    assert said["papers"]["toy2020"]["causes"]["not run"]["open"] == 2
    assert len(said["open"]) == 2


def test_two_papers_have_a_line_each(results, shelf):
    import shutil

    folder = shelf()
    other = folder.with_name("other2021")
    shutil.copytree(folder, other)
    text = (folder / "paper.yaml").read_text(encoding="utf-8").replace("key: toy2020", "key: other2021")
    (other / "paper.yaml").write_text(text, encoding="utf-8")
    text = make_report(results).path.read_text(encoding="utf-8")
    header = text[: text.index("<main>")]
    assert header.count('<small class="soft">(1 paper)</small>') == 2


def test_nothing_yet_is_one_line(tmp_path, shelf):
    for folder in (tmp_path / "absent", tmp_path):
        with pytest.raises(BadRequest, match="run something first") as caught:
            make_report(folder)
        assert "\n" not in str(caught.value)


def test_only_an_own_experiment(tmp_path, shelf):
    folder = tmp_path / "r" / "mine"
    folder.mkdir(parents=True)
    cells([0.1]).to_csv(folder / "cells.csv", index=False)
    made = make_report(tmp_path / "r")
    assert set(made.total.tally.values()) == {0}
    text = made.path.read_text(encoding="utf-8")
    assert "no paper speaks of it" in text
    assert "Not run yet" in text  # the paper that waits


def test_only_a_multirun(tmp_path, shelf):
    folder = tmp_path / "r" / "toy_run" / "m=1"
    folder.mkdir(parents=True)
    cells([0.1]).to_csv(folder / "cells.csv", index=False)
    assert "1 multirun job" in make_report(tmp_path / "r").path.read_text(encoding="utf-8")


def test_broken_files_do_not_hide_the_rest(results):
    (results / "toy_run" / "manifest.json").write_text("{", encoding="utf-8")
    (results / "my<own>" / "tables" / "t.csv").write_text("", encoding="utf-8")
    assert "cannot be read" in make_report(results).path.read_text(encoding="utf-8")
    (results / "toy_run" / "cells.csv").write_text("", encoding="utf-8")
    with pytest.raises(BadRequest, match=r"cannot read .*cells\.csv"):
        make_report(results)


def test_a_half_written_smoke_run_of_the_papers_own(tmp_path):
    folder = tmp_path / "attribute_conceal"
    folder.mkdir()
    row = {"dataset": "adult_race", "n": 100, "n0": 10, "m": 40, "epsilon": float("inf"), "defense": "conceal"}
    row |= {
        "attack.decoder": "l1",
        "attack.queries": "perturbed",
        "attack.clip": True,
        "seed": 0,
        "leakage": 100.0,
        "sp_error": 0.0,
    }
    pd.DataFrame([row | {"status": "done"}, row | {"m": 25, "status": "open"}]).to_csv(
        folder / "cells.csv", index=False
    )
    made = make_report(tmp_path)
    assert made.total.tally["reproduced"] == 1  # the leakage; the error is none by construction
    assert made.total.by_construction == 8
    assert made.total.tally["not run"] > 100


def test_what_a_claim_says_names_things_as_a_reader_would():
    from fairpriv.report.page.names import spelled

    said = "not in acs_income EO 0.07 adversary_xyh: -0.0008; balanced_accuracy -0.0002; see tables/own_table.csv"
    assert spelled(said) == (
        "not in ACSIncome EO 0.07 sees X, Y and the model: -0.0008; balanced accuracy -0.0002; see tables/own_table.csv"
    )
