"""The loader of the hate-speech corpus on made-up texts, word vectors, and AIF360's preparations."""

import numpy as np
import pytest

from fairpriv import datasets, registry
from fairpriv.datasets.word_vectors import read_vectors
from fairpriv.defenses.adversarial.text import given_ids, tokens, words
from fairpriv.errors import BadRequest, DataUnavailable

ATTRIBUTES = ["gender", "ethnicity", "age", "country"]


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A folder for FAIRPRIV_DATA with a made-up corpus of 60 texts."""
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    path = tmp_path / "hate_speech" / "English" / "corpus.tsv"
    registry.build("datasets", "synthetic_corpus", {"n": 60}).write(path)
    return path


def _parts(folder, names, unknown="x"):
    """Write parts in the form that the authors publish: token ids, padding in front."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "tid\tuid\ttext\tdate\tgender\tage\tcity\tstate\tcountry\tethnicity\tlabel\n"
    for k, name in enumerate(names):
        rows = [
            f"{i}\t{i}\t0 0 0 {7 + k} 14999 {i + 1}\t2018\t{i % 2}\t0\tx\tx\t1\t{(i // 2) % 2}\t{i % 3 % 2}"
            for i in range(8)
        ]
        rows.append(f"9\t9\t0 0 5\t2018\t{unknown}\t0\tx\tx\t1\t0\t0")
        (folder / name).write_text(head + "\n".join(rows) + "\n")


def test_token_ids_in_the_authors_parts(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    folder = tmp_path / "hate_speech" / "English"
    _parts(folder, ["valid.tsv", "test.tsv"])
    data = datasets.load("hate_speech")
    assert len(data) == 16  # one of nine in each part has an unknown attribute
    assert data.features["tokens"].tolist()[:2] == ["7 14999 1", "7 14999 2"]  # padding is gone
    assert data.label.tolist()[:3] == [1, 0, 1]
    assert "a part of the corpus: valid and test" in data.notes[1]
    two = datasets.sums("hate_speech")
    _parts(folder, ["train.tsv"])
    assert len(datasets.load("hate_speech")) == 24
    assert "all parts" in datasets.load("hate_speech").notes[1]
    assert datasets.sums("hate_speech") != two
    registry.build("datasets", "synthetic_corpus", {"n": 60}).write(folder / "corpus.tsv")
    assert "text" in datasets.load("hate_speech").features  # words come before ids
    assert "tokens" not in datasets.load("hate_speech").features


def test_token_ids_without_what_names_a_tweet(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    path = tmp_path / "hate_speech" / "English" / "indices_valid_test.csv.gz"
    path.parent.mkdir(parents=True)
    head = "part,tokens,gender,age,country,ethnicity,label\n"
    rows = "valid,5 6,0,1,1,1,1\ntest,7,1,0,0,1,0\ntest,9 10,1,1,0,0,0\n"
    path.write_bytes(gzip.compress((head + rows).encode()))
    data = datasets.load("hate_speech")
    assert data.features["tokens"].tolist() == ["5 6", "7", "9 10"]
    assert data.label.tolist() == [0, 1, 1]
    assert "a part of the corpus: valid and test" in data.notes[1]
    path.write_bytes(gzip.compress((head + rows.replace("9 10", "nine")).encode()))
    with pytest.raises(DataUnavailable, match="tokens must be ids with spaces between, got 'nine'"):
        datasets.load("hate_speech")


@pytest.mark.data
def test_the_part_of_the_corpus_at_hand(load):
    data = load("hate_speech")
    if "tokens" not in data.features:
        pytest.skip("the texts are here, not their ids")
    if len(data) != 9658:
        pytest.skip("other parts are here")
    assert data.label.sum() == 5056
    assert (data.sensitive["country"] == "1").sum() == 6459


def test_without_the_corpus_says_how_to_ask(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    monkeypatch.setenv("FAIRPRIV_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataUnavailable, match=r"corpus.tsv is not there .* given out on request: write to its authors"):
        datasets.load("hate_speech")


def test_reads_what_the_generator_wrote(corpus):
    data = datasets.load("hate_speech")
    made = datasets.load("synthetic_corpus", {"n": 60})
    assert data.features["text"].tolist() == made.features["text"].tolist()
    np.testing.assert_array_equal(data.label, made.label)
    assert list(data.sensitive) == ATTRIBUTES
    np.testing.assert_array_equal(data.sensitive["age"].astype(str), made.sensitive["age"].astype(str))


def test_unknown_attributes_leave_and_strange_ones_are_refused(corpus):
    lines = corpus.read_text().splitlines()
    cells = lines[1].split("\t")
    for value, check in (("x", 59), ("maybe", None)):
        cells[4] = value
        corpus.write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]) + "\n")
        if check is None:
            with pytest.raises(DataUnavailable, match="attributes must be 0, 1 or x"):
                datasets.load("hate_speech")
        else:
            data = datasets.load("hate_speech")
            assert len(data) == check
            assert "1 of 60 tweets left out" in data.notes[0]


def test_missing_column_and_quotes(corpus):
    text = corpus.read_text()
    corpus.write_text(text.replace("filler1 ", '"filler1 '))
    assert any('"' in t for t in datasets.load("hate_speech").features["text"])  # a quote in a tweet quotes nothing
    corpus.write_text(text.replace("ethnicity", "tribe", 1))
    with pytest.raises(DataUnavailable, match="has no column ethnicity"):
        datasets.load("hate_speech")
    corpus.write_text(text.replace("ethnicity", "race", 1))
    assert "ethnicity" in datasets.load("hate_speech").sensitive
    with pytest.raises(BadRequest, match="language must be one of English"):
        registry.build("datasets", "hate_speech", {"language": "Latin"})


def _binary(path, vectors):
    size = len(next(iter(vectors.values())))
    body = b"".join(w.encode() + b" " + np.asarray(v, np.float32).tobytes() + b"\n" for w, v in vectors.items())
    path.write_bytes(f"{len(vectors)} {size}\n".encode() + body)


def test_word_vectors_text_and_binary(tmp_path):
    vectors = {"kind": [1.0, 2.0, 3.0], "hate": [-1.0, 0.5, 0.0], "other": [9.0, 9.0, 9.0]}
    text, binary = tmp_path / "v.vec", tmp_path / "v.bin"
    text.write_text("3 3\n" + "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in vectors.items()))
    _binary(binary, vectors)
    for path in (text, binary):
        known, table = read_vectors(path, {"kind", "hate", "absent"})
        assert set(known) == {"kind", "hate"}
        assert table.shape == (4, 3)
        assert (table[:2] == 0).all()
        np.testing.assert_allclose(table[known["kind"]], vectors["kind"])
    binary.write_bytes(binary.read_bytes()[:-8])
    text.write_text("3 3\nkind 1 2\n")
    for path in (text, binary):
        with pytest.raises(BadRequest, match="cannot be read as word2vec"):
            read_vectors(path, {"kind", "hate", "other"})


def test_given_vectors_are_part_of_the_datas_sum(corpus, tmp_path):
    _binary(tmp_path / "v.bin", {"kind0": [1.0, 0.0, 0.0, 0.0]})
    plain, given = (datasets.sums("hate_speech", p) for p in ({}, {"vectors": str(tmp_path / "v.bin")}))
    assert plain != given
    with pytest.raises(BadRequest, match="no such file"):
        datasets.sums("hate_speech", {"vectors": "nowhere.bin"})


def test_tokens():
    assert words("Don't SHOUT!") == ["don", "'", "t", "shout", "!"]
    hashed = tokens(["a b a", ""], 5, 64)
    assert hashed[0, 0] == hashed[0, 2] != 0
    assert (hashed[0, 3:] == 0).all()
    assert (hashed[1] == 0).all()
    assert tokens(["a b c"], 2, 64).shape == (1, 2)
    assert tokens(["a z"], 3, 64, {"a": 5}).tolist() == [[5, 1, 0]]
    ids = given_ids(["3 63 64 999", "7"], 5, 64)
    assert ids.tolist() == [[3, 63, 1 + 64 % 63, 1 + 999 % 63, 0], [7, 0, 0, 0, 0]]
    assert given_ids(["1 2 3"], 2, 64).tolist() == [[1, 2]]


def test_bias_is_planted_where_it_was_asked_for():
    for bias in (0.0, 0.5):
        data = datasets.load("synthetic_corpus", {"n": 4000, "bias": bias})
        rates = [data.label[data.sensitive["gender"] == g].mean() for g in ("0", "1")]
        # 2000 texts a group: five deviations of the difference are 0.08
        assert rates[1] - rates[0] == pytest.approx(0.6 * bias, abs=0.08)


@pytest.mark.data
def test_adult_as_aif360(load):
    data = load("adult_aif360")
    assert len(data) == 48_842
    assert list(data.features) == ["age_decade", "education_years", "race"]
    assert data.features["age_decade"].value_counts()["10"] == 2510  # younger than 20
    assert data.group.mean() == pytest.approx(0.6685, abs=1e-4)
    assert (data.sensitive["race"] == "White").sum() == 41_762


@pytest.mark.data
def test_compas_as_aif360(load):
    data = load("compas_aif360")
    assert len(data) == 5278
    assert (data.group == 0).sum() == 3175  # African-American
    assert set(data.features["priors"].unique()) == {"0", "1 to 3", "more than 3"}


@pytest.mark.data
def test_compas_as_aif360s_default(load):
    data = load("compas_aif360_default")
    assert len(data) == 6167
    assert (data.group == 1).sum() == 2100  # Caucasian; everyone else is group 0
    assert not {"race", "sex"} & set(data.features)
    assert data.features["c_charge_desc"].isin(["arrest case no charge"]).sum() > 100
    assert "sex" in load("compas_aif360_default", exclude=[]).features
