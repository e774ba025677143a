"""The command, its files and its page."""

import doctest
import hashlib
import json
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest

import fairpriv
from fairpriv import strict_json
from fairpriv.assessment import api, words
from fairpriv.cli import main
from tests.assessment.conftest import hasten, people

WORDS = ["label=hired", "protected=sex,race", "prediction=score", "queries=5"]
TABLE = people().replace({"race": {"white": "<i>white"}})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One assessment by the command line, with fewer ε than it has in use."""
    folder = tmp_path_factory.mktemp("assess")
    TABLE.to_csv(folder / "people.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        hasten(patch)
        assert main(["assess", str(folder / "people.csv"), *WORDS, f"results_dir={folder}"]) == 0
    return folder / "assess" / "people"


def test_the_headline_says_it_in_numbers(made):
    said = json.loads((made / "assess.json").read_text())["headline"]
    assert re.match(
        r"Exact answers to 5 questions about bias would reveal the sex of \d+(\.\d)? % of the people", said[0]
    )
    assert said[1] == "One question for each of the 140 people would reveal the sex of all."
    assert re.match(r"With ε = [\d.]+ the strongest attacker we know stays within [\d.]+ points of guessing", said[2])


def leakages(value, key=""):
    """Return every number below a key that says leakage."""
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in leakages(v, k)]
    if isinstance(value, list):
        return [x for v in value for x in leakages(v, key)]
    return [value] if "leakage" in key else []


def test_json_is_strict_and_leakages_are_percent(made):
    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    said = json.loads((made / "assess.json").read_text(), parse_constant=refuse)
    found = leakages(said)
    assert len(found) > 50
    assert all(isinstance(x, float) and 0 <= x <= 100 for x in found)
    whole = [r for r in said["by_questions"] if r["questions"] == r["people"] and r["answers"] == "exact"]
    assert [r["leakage"] for r in whole] == [100.0] * len(whole)
    assert all(r["exact"]["leakage"] == 100 for r in said["by_comparison"])
    assert {r["defense"] for r in said["by_epsilon"]} >= {"conceal", "conceal_aware", "laplace"}
    assert {r["attack"] for r in said["decisions"]} >= {"guessing", "adversary_xy", "adversary_xyh"}
    assert {r["table"] for r in said["published_table"]["rows"]} == {"sex", "race", "sex × race"}


def test_the_manifest_has_the_sums_of_all_files(made):
    said = json.loads((made / "manifest.json").read_text())
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in made.iterdir() if p.name != "manifest.json"}
    assert said["files"] == files
    assert said["seed"] == 0
    assert {"fairpriv", "python", "packages", "command", "source"} <= set(said)
    assert all(len(pd.read_csv(p)) for p in made.glob("*.csv"))


def test_the_page_stands_alone_and_holds_nothing_of_a_person(made):
    text = (made / "page.html").read_text()
    assert text.count("<svg") == 2
    assert "<script" not in text
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    assert "prefers-color-scheme: dark" in text
    assert "size: A4" in text
    for name in ("remark is left out: it is free text", "born is left out: it holds dates", "Local Law 144"):
        assert name in text
    frame = people()
    told = text + "".join(p.read_text() for p in made.iterdir() if p.name != "page.html")
    for column in ("email", "remark", "born"):
        assert not any(value in told for value in frame[column])
    assert not any(str(value) in told for value in frame["height"])  # a number of one's own, with all its digits
    rows = frame.to_csv(index=False).splitlines()[1:]
    parts = {",".join(row.split(",")[i : i + 3]) for row in rows for i in range(len(frame.columns) - 2)}
    flat = re.sub(r"\s*(<[^>]*>|[,;\s\"])\s*", ",", told)  # no row, not even three columns of one, however set
    assert not any(part in flat for part in parts)
    assert not re.search(r"#010203|#040506", text)


def test_names_from_the_table_are_escaped(made):
    text = (made / "page.html").read_text()
    assert "<i>white" not in text
    assert "&lt;i&gt;white" in text


def test_from_python_the_same_seed_gives_the_same_numbers(made, quick):
    found = fairpriv.assess(
        TABLE, label="hired", protected=["sex", "race"], prediction="score", queries=5, name="people.csv"
    )
    assert strict_json.dumps(found.as_dict()) + "\n" == (made / "assess.json").read_text()


def test_the_example_of_the_docstring(quick):
    failed, tried = doctest.testmod(api)
    assert tried == 6
    assert failed == 0


def test_the_page_explains_its_words_and_says_whose_number_the_tolerance_is(made):
    text = (made / "page.html").read_text()
    for said in (
        "a question about bias",
        "ε (epsilon)",
        "50\u00a0% is tossing a coin",
        "a choice of this tool, not of a law",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("error", "said"),
    [(1.0, "off by 1 or more, and say nothing"), (0.07, "off by about 0.07"), (1e-80, "off by less than 0.0001")],
)
def test_errors_in_words(error, said):
    assert words.off(error) == said


def test_few_people_are_assessed_without_a_word_of_a_solver(tmp_path):
    people(60)[["sex", "hired", "score", "age"]].to_csv(tmp_path / "few.csv", index=False)
    code = (
        "import pytest, sys; from fairpriv.cli import main; from tests.assessment.conftest import hasten\n"
        "with pytest.MonkeyPatch.context() as patch: hasten(patch); sys.exit(main(sys.argv[1:]))"
    )
    words = ["assess", str(tmp_path / "few.csv"), "label=hired", "protected=sex", "prediction=score"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words, f"results_dir={tmp_path}"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("fairpriv: ") for line in done.stderr.splitlines()), done.stderr


def test_one_question_is_no_questions():
    assert [words.asked(m) for m in (1, 2, 1000)] == ["1 question", "2 questions", "1,000 questions"]


def test_a_bound_is_never_rounded_up():
    assert words.at_most(0.2089) == "0.2"
    assert words.at_most(12.99) == "12"


def browser() -> str:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on this machine: apt install chromium, or playwright install chromium")
    return found


def chromium(profile, *flags: str) -> subprocess.CompletedProcess:
    """Run Chromium without a window and without a word to anybody."""
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    own = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    return subprocess.run([browser(), *own, *quiet, *flags], capture_output=True, text=True, timeout=120)


def test_chromium_prints_on_a4_without_a_sheet_for_every_section(made, tmp_path):
    sheet = tmp_path / "page.pdf"
    done = chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={sheet}", (made / "page.html").as_uri())
    if not sheet.exists():
        pytest.skip(f"Chromium does not run here: {done.stderr.strip().splitlines()[-1:]}")
    content = sheet.read_bytes()
    boxes = {tuple(float(x) for x in box.split()) for box in re.findall(rb"/MediaBox\s*\[([^\]]*)\]", content)}
    assert {tuple(round(x) for x in box) for box in boxes} == {(0, 0, 595, 842)}
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", content))
    assert 3 <= sheets < (made / "page.html").read_text().count("<section")


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1200, False), (1200, True)])
def test_chromium_shows_the_page_without_overflow(made, tmp_path, width, dark):
    # the page's own text after a script that looks at it: no wider than the window, both pictures drawn
    look = """<script>addEventListener("load", () => { const wide = document.documentElement.scrollWidth;
      const drawn = [...document.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().height > 100).length;
      const light = c => c.match(/[\\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
      const seen = e => light(getComputedStyle(e).color) - light(getComputedStyle(document.body).backgroundColor);
      const texts = [...document.querySelectorAll("p, li, td, dd, h2, svg text")].map(seen);
      const ink = Math.round(Math.min(...texts.map(Math.abs))), sign = Math.sign(seen(document.body));
      document.title = `wide ${wide} of ${innerWidth}, drawn ${drawn}, ink ${ink * sign}`; });</script></body>"""
    copy = tmp_path / "page.html"
    copy.write_text((made / "page.html").read_text().replace("</body>", look))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    done = chromium(tmp_path / "profile", scheme, f"--window-size={width},900", "--dump-dom", copy.as_uri())
    found = re.search(r"<title>wide (\d+) of (\d+), drawn (\d), ink (-?\d+)</title>", done.stdout)
    if found is None:
        pytest.skip(f"Chromium does not run here: {done.stderr.strip().splitlines()[-1:]}")
    wide, window, drawn, ink = map(int, found.groups())
    assert wide <= window
    assert drawn == 2
    assert (ink > 0) == dark  # light ink on a dark page, dark ink on a light one
    assert abs(ink) > 200  # of 765: nothing is faint
