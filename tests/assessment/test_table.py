"""Tables as people have them: read, or refused in one line."""

import numpy as np
import pandas as pd
import pytest

import fairpriv
from fairpriv import strict_json
from fairpriv.assessment import columns
from fairpriv.assessment.groups import comparisons
from fairpriv.assessment.people import Settings, read
from fairpriv.cli import main
from fairpriv.datasets.csv import read_table
from fairpriv.errors import BadRequest
from tests.assessment.conftest import people


def ready(frame, **options):
    said = {"label": "hired", "protected": ("sex",), "prediction": "score"} | options
    return read(frame, Settings(**said), "people.csv")


def test_ids_dates_names_and_free_text_are_left_out_with_a_line_each():
    found = ready(people())
    assert {row["column"]: row["why"].split()[-1] for row in found.left_out} == {
        "person": "has",
        "email": "has",
        "born": "dates",
        "remark": "text",
    }
    assert list(found.features) == ["age", "height", "job", "race"]
    assert any("age: 1 missing values were filled" in note for note in found.notes)
    assert not found.features.isna().any().any()


def test_measurements_are_no_ids_and_rare_values_are_pooled():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"weight": rng.random(300), "town": rng.choice([f"t{i}" for i in range(80)], 300), "one": 1})
    kept, left_out, _ = columns.prepare(frame)
    assert list(kept) == ["weight", "town"]
    assert left_out == [{"column": "one", "why": "it has one value only"}]
    assert len(kept["town"].cat.categories) == columns.MOST_VALUES + 1


def test_what_is_neither_number_nor_text_is_left_out():
    frame = people().assign(tags=[["a", "b"]] * 140, wave=np.arange(140) * 1j)
    why = {row["column"]: row["why"] for row in ready(frame).left_out}
    assert why["tags"] == why["wave"] == "it holds neither numbers nor text"


def test_names_with_commas_and_numbers_of_numpy(quick):
    frame = people(60).rename(columns={"sex": "sex, at birth"}).replace({"sex, at birth": {"male": "male, or so"}})
    found = fairpriv.assess(
        frame, label="hired", protected="sex, at birth", privileged="male, or so", prediction="score",
        queries=np.int64(3), epsilon=np.float64(1.0), seed=np.int32(1),
    )  # fmt: skip
    assert found.study.main.reference == "male, or so"
    assert strict_json.dumps(found.as_dict())


def test_missing_labels_and_groups_are_not_counted():
    frame = people()
    frame.loc[:4, "sex"] = None
    frame.loc[5, "hired"] = np.nan
    found = ready(frame)
    assert len(found) == 134
    assert "6 of 140 rows have a missing value in hired (1), sex (5)" in found.notes[0]


def test_without_predictions_a_model_is_trained_and_that_is_said():
    found = ready(people(), prediction=None)
    assert found.trained
    assert "a model (gradient-boosted trees) was trained here" in found.notes[-1]
    assert "score" in found.features
    assert not set(found.features) & {"sex", "hired"}


@pytest.mark.parametrize(
    ("bad", "good"), [("0", "1"), ("no", "yes"), ("No", "Yes"), ("FALSE", "TRUE"), ("bad", "good"), ("<=50K", ">50K")]
)
def test_the_favourable_one_of_a_usual_pair_is_taken_and_told(bad, good):
    frame = people().assign(hired=lambda f: np.where(f["hired"] == 1, good, bad))
    found = ready(frame)
    np.testing.assert_array_equal(found.label, people()["hired"])
    assert any(f"{good!r} is taken for the favourable value" in note for note in found.notes)
    other = ready(frame, positive=bad)
    np.testing.assert_array_equal(other.label, people()["hired"] == 0)
    assert not any("is taken for" in note for note in other.notes)


@pytest.mark.parametrize("values", [("f", "m"), ("no", "true"), ("1", "2"), ("50K", "<=50K")])
def test_other_pairs_are_asked_about(values):
    with pytest.raises(BadRequest, match="which value of hired is favourable"):
        ready(people().assign(hired=lambda f: np.where(f["hired"] == 1, *values)))


def test_three_values_of_a_label_need_the_favourable_one():
    frame = people().assign(hired=lambda f: np.where(f.index % 3 == 0, "later", np.where(f["hired"] == 1, "yes", "no")))
    with pytest.raises(BadRequest, match=r"3 values: say which one .* positive=VALUE \(later, no, yes\)"):
        ready(frame)
    found = ready(frame, positive="yes")
    np.testing.assert_array_equal(found.label, frame["hired"] == "yes")


@pytest.mark.parametrize(
    ("column", "decisions"),
    [
        ([0, 1, 1, 0] * 5, [0, 1, 1, 0] * 5),
        ([0.2, 0.7, 0.5, 0.1] * 5, [0, 1, 1, 0] * 5),
        ([2, 9, 7, 1] * 5, [0, 1, 1, 0] * 5),  # a score out of ten: above the median
        (["no", "yes", "yes", "no"] * 5, [0, 1, 1, 0] * 5),
    ],
)
def test_predictions_are_decisions_or_scores(column, decisions):
    label = ["yes", "no"] * 10 if isinstance(column[0], str) else [1, 0] * 10
    frame = pd.DataFrame({"p": column, "y": label, "s": list("aabb") * 5, "x": np.linspace(0.5, 1.7, 20)})
    positive = "yes" if isinstance(column[0], str) else None
    found = read(frame, Settings("y", ("s",), "p", positive=positive), "t")
    np.testing.assert_array_equal(found.decision, decisions)
    assert found.score.min() >= 0
    assert found.score.max() <= 1


def test_groups_are_held_against_each_other_and_crossed():
    found = ready(people(), protected=("sex", "race"))
    made, *_ = comparisons(found.attributes, ())
    assert [c.name for c in made[:2]] == ["sex: female against male", "race: the rest against white"]
    assert {c.looked_at for c in made if c.kind == "value"} == {"asian", "black", "white"}
    assert sum(c.kind == "intersection" for c in made) <= 6
    assert all(min(c.sizes) >= 5 for c in made)
    male = comparisons(found.attributes, ("female",))[0][0]
    assert (male.looked_at, male.reference) == ("male", "female")


def test_a_protected_number_is_cut_into_bands():
    found = ready(people(), protected=("height",))
    assert len(found.attributes["height"].cat.categories) == 4
    assert any("cut into 4 bands" in note for note in found.notes)


def test_semicolons_decimal_commas_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, sep=";", decimal=",", index=False, encoding="utf-8-sig")
    frame = read_table(path)
    assert list(frame) == list(people())
    pd.testing.assert_series_equal(frame["score"], people()["score"])


def test_decimal_commas_that_are_not_as_many_in_every_row(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex;weight;height\nf;60,5;1,7\nm;;1,8\nf;61,5;1,65\nm;80;\n")
    frame = read_table(path)
    assert list(frame) == ["sex", "weight", "height"]
    np.testing.assert_allclose(frame["height"], [1.7, 1.8, 1.65, np.nan])
    np.testing.assert_allclose(frame["weight"], [60.5, np.nan, 61.5, 80])


def test_spaces_after_commas(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex, hired, job\nf, 1, clerk\nm, 0, nurse at night\n")
    frame = read_table(path)
    assert list(frame) == ["sex", "hired", "job"]
    assert list(frame["job"]) == ["clerk", "nurse at night"]


BAD = [
    (["label=hired", "protected=sexx"], "did you mean sex"),
    (["label=hired"], "needs protected=COLUMN"),
    (["label=hired", "protected=sex", "prediction=sex"], "different columns"),
    (["label=hired", "protected=sex", "epsilon=-1"], "epsilon must be > 0"),
    (["label=hired", "protected=sex", "epsilon=much"], "epsilon must be a number"),
    (["label=hired", "protected=sex", "tolerance=50"], "tolerance must be < 50"),
    (["label=hired", "protected=sex", "tolerance=few"], "tolerance must be a number"),
    (["label=hired", "protected=sex", "queries=0"], "queries must be >= 1"),
    (["label=hired", "protected=sex", "prediction=score", "queries=141"], "between 1 and 140"),
    (["label=hired", "protected=sex", "positve=1"], "did you mean positive"),
    (["label=job", "protected=sex"], "3 values"),
    (["label=hired", "protected=email"], "at most 30"),
    (
        ["label=hired", "protected=sex", "privileged=man"],
        "no group is called 'man': privileged must be of sex: female, male",
    ),
    (["label=hired", "protected=sex", "prediction=job"], "must hold scores"),
    (["label=hired", "protected=sex", "positive=yes"], "'yes' is not a value"),
]


@pytest.mark.parametrize(("words", "says"), BAD)
def test_a_wrong_request_is_one_line(tmp_path, capsys, words, says):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    assert main(["assess", str(path), *words, f"results_dir={tmp_path}"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert says in said[-1]
    assert said[-1].startswith("fairpriv: ")
    assert not (tmp_path / "assess").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["label=email", "protected=sex"],
            "label email has 140 values: say which one is favourable with positive=VALUE",
        ),
        (["label=email", "protected=sex", "positive=yes"], "one of its 140 values?"),
        (["label=hired", "protected=sex", "prediction=email"], "140 of 140 are neither"),
        (["label=hired", "protected=town", "privileged=x"], "privileged must be of town: one of its 20 values"),
        (["label=hired", "protected=rare", "privileged=x"], "privileged must be of rare: one of its 3 values"),
    ],
)
def test_a_refusal_tells_no_value_of_a_person(tmp_path, capsys, words, says):
    path = tmp_path / "people.csv"
    frame = people()
    frame = frame.assign(town=[f"town{i % 20}" for i in range(len(frame))], rare=["secret"] + ["a", "b"] * 69 + ["a"])
    frame.to_csv(path, index=False)
    assert main(["assess", str(path), *words, f"results_dir={tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert says in said.splitlines()[-1]
    assert not any(value in said for value in (*frame["email"], *frame["town"], "secret"))


def test_a_file_without_a_header_is_refused_without_its_first_person(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("39,Bachelors,Miller,1\n" * 40)
    assert main(["assess", str(path), "label=hired", "protected=sex", f"results_dir={tmp_path}"]) == 2
    said = capsys.readouterr().err
    assert "its first line must name the columns" in said
    assert "Miller" not in said


def test_two_columns_of_one_name_are_refused(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("sex,hired,hired,x\n" + "f,1,0,2\nm,0,1,3\n" * 20)
    assert main(["assess", str(path), "label=hired", "protected=sex", f"results_dir={tmp_path}"]) == 2
    assert "several columns 'hired'" in capsys.readouterr().err


def test_spaces_around_the_names_of_columns(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex , hired , hired.\nf,1,0\nm,0,1\n")
    assert list(read_table(path)) == ["sex", "hired", "hired."]


def test_a_folder_that_cannot_be_written_is_said_before_the_work(tmp_path, capsys):
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "file").write_text("")
    words = ["label=hired", "protected=sex", f"results_dir={tmp_path / 'file'}"]
    assert main(["assess", str(tmp_path / "people.csv"), *words]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.endswith("file is not a folder; choose another with results_dir=PATH")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"sex,hired\n", "no rows"),
        (b"\xff\xfe\x00\x01\x02", "not text in UTF-8"),
        ("sex,hired\nmännlich,1\n".encode("latin-1"), "not text in UTF-8"),
        (b'sex,hired\n"f,1\n', "cannot be read as CSV"),
        (b"sex,hired\nf,1\nm,0\n", "at least 20 people"),
        (b"sex,hired\n" + b"f,1\nm,0\n" * 20, "no column to learn from"),
        (b"sex,hired,x\n" + b"f,1,2\nf,0,1\n" * 20, "one group only"),
        (b"sex,hired,x\n" + b"f,1,2\nm,1,1\n" * 20, "constant"),
        (b"sex,hired,x\n" + b"f,1,2\n" * 3 + b"m,1,1\nm,0,1\nm,0,3\n" * 20, "no group of sex has 5 people"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, capsys, content, says):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert main(["assess", str(path), "label=hired", "protected=sex", f"results_dir={tmp_path}"]) == 2
    assert says in capsys.readouterr().err.splitlines()[-1]
    assert main(["assess", str(tmp_path / "nowhere.csv"), "label=hired", "protected=sex"]) == 2
