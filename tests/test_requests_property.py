"""Whatever is asked, and whatever table is brought: it is taken, or refused in one line. Nothing else ever happens."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairpriv import config, datasets, registry
from fairpriv.errors import FairprivError

QUIET = {"derandomize": True, "deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
LOOKED_AT = 20  # cells of a plan that are validated: enough to meet each of its points

KEYS = (
    *("n", "n0", "m", "epsilon", "seeds", "jobs", "results_dir", "reuse", "recompute", "name", "protocol", "paper"),
    *("sensitive", "fairness", "tolerance", "attributes", "beta", "mine_of", "mine_batch", "attacks", "scored_on"),
    *("attack.decoder", "attack.m", "attack.width", "attack.exponents", "attack.constraints", "attack.target"),
    *("defense.epsilon", "defense.bounding", "defense.hidden", "defense.batch", "defense.protocol", "defense.d"),
    *("dataset.n", "dataset.sample", "dataset.exclude", "dataset.protected", "model.c", "model.trees", "model.tune"),
    *("sweep", "sweep.grid", "sweep.any", "sweep.grid.adult", "sweep.grid.adult.m", "sweep.grid.synthetic.seeds"),
    *("profile", "profile.seeds", "profile.name", "engine", "engine.name", "engine.address", "hydra.verbose", "new"),
    *("dataset", "attack", "defense", "model", "experiment", "axes", "a.b.c", "dataset@x"),
)
OPTIONS = (
    *("synthetic", "csv", "adult", "reveal_compressed", "reveal_linear", "adversary_xy", "conceal", "laplace", "maad"),
    *("ldp_collection", "nondp", "cfb", "exponentiated_gradient", "logistic", "random_forest", "lgbm", "smoke", "dask"),
)
VALUES = st.one_of(
    st.sampled_from(
        ["null", "true", "[]", "{}", "[1,2]", "[[1]]", "{a: 1}", "'", "{", "nan", "inf", "-inf", "", "???"]
    ),
    st.sampled_from(
        ["1,2", "range(1,3)", "interval(0,1)", "glob(*)", "choice(1,2)", "${n}", "${x}", "../x", "a b", "ε"]
    ),
    st.sampled_from(OPTIONS),
    st.integers(-3, 200).map(str),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False).map(str),
    st.text("abc[]{}(),=:$'\" \\~+@.019", max_size=6),
)
WORD = st.one_of(
    st.tuples(st.sampled_from(("", "", "", "", "+", "++")), st.sampled_from(KEYS), VALUES).map(
        lambda t: f"{t[0]}{t[1]}={t[2]}"
    ),
    st.tuples(st.sampled_from(("dataset", "attack", "defense", "model")), st.sampled_from(OPTIONS)).map("=".join),
    st.sampled_from(KEYS).map(lambda key: f"~{key}"),
    st.text(max_size=8).filter(lambda text: "\0" not in text),
)
# Words that some experiment takes, so that others are tried beside them and behind them.
PLAUSIBLE = st.sampled_from(
    (
        *("epsilon=10", "epsilon=[1,10]", "epsilon=inf", "seeds=2", "seeds=[3]", "jobs=1", "m=20", "n=50", "n0=5"),
        *("attack.decoder=box", "attack.width=0.3", "defense.epsilon=5", "defense.batch=8", "model.c=2", "beta=1"),
        *("dataset=synthetic", "dataset.n=200", "defense=laplace", "defense.bounding=clip", "defense.hidden=[3]"),
        *("reuse=strict", "recompute=true", "engine=dask", "results_dir=elsewhere", "profile.seeds=2", "m=5,6"),
    )
)
WORDS = st.lists(PLAUSIBLE, max_size=2).flatmap(
    lambda some: st.lists(WORD, min_size=0 if some else 1, max_size=1).map(lambda more: [*some, *more])
)
EXPERIMENTS = ("attribute_conceal", "attribute_reveal", "ldp_fairness", "maad_private", "information_obfuscation")


@pytest.fixture(autouse=True, scope="module")
def own_conf():
    config.start()


def outcome(ask) -> str:
    """Return "taken", or "refused" with one line; any other exception is the failure that is sought."""
    try:
        ask()
    except FairprivError as error:
        said = str(error)
    else:
        return "taken"
    assert said.strip()
    assert len(said.splitlines()) == 1, said
    return "refused"


def test_any_overrides_are_taken_or_refused_in_one_line():
    counts = Counter()

    @settings(max_examples=500, **QUIET)
    @given(st.sampled_from(EXPERIMENTS), WORDS, st.booleans())
    def check(experiment, words, multirun):
        def ask():
            for plan in config.plans([f"experiment={experiment}", "profile=smoke", *words], multirun)[:3]:
                protocol = registry.build("protocols", plan.protocol)
                for cell in plan.cells[:: max(1, len(plan.cells) // LOOKED_AT)]:
                    protocol.validate(cell)

        counts[outcome(ask)] += 1

    check()
    print(f"overrides: {dict(counts)}")
    assert sum(counts.values()) >= 500
    assert min(counts["taken"], counts["refused"]) > 20


CELLS = st.one_of(
    st.sampled_from(
        ["0", "1", "m", "f", "", "nan", "inf", "-1e400", "1e300", "True", "yes", '"a', "a,b", "ä", "\ufeff"]
    ),
    st.integers(0, 3).map(str),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=4),
)
TABLES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=12).map(
        lambda rows: ("age,sex,hired\n" + "\n".join(map(",".join, rows))).encode("utf-8", "replace")
    ),
    st.lists(st.tuples(st.integers(18, 70), st.sampled_from("mf"), st.integers(0, 1)), min_size=2, max_size=12).map(
        lambda rows: ("age,sex,hired\n30,f,0\n31,m,1\n" + "\n".join(f"{a},{s},{h}" for a, s, h in rows)).encode()
    ),
)
TABLE_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "positive": st.sampled_from(["1", "yes", None, 0]),
        "privileged": st.sampled_from(["m", ["m", "f"], None, 3, []]),
        "features": st.sampled_from([None, [], ["age"], "age", ["age", "age"], ["nope"], 5]),
        "exclude": st.sampled_from([[], ["age"], ["sex"], "hired", ["nope"], 5]),
        "drop_missing": st.sampled_from([True, False, "yes"]),
        "sample": st.sampled_from([None, 2, 5, 0, "all", [1]]),
        "minority_share": st.sampled_from([None, 0.2, 2, "x"]),
    },
)
ENDINGS = (*("csv",) * 15, "csv.gz", "csv.zip", "csv.xz", "csv.bz2", "csv.tar")


def test_any_table_is_taken_or_refused_in_one_line(tmp_path):
    counts = Counter()

    @settings(max_examples=100, **QUIET)
    @given(TABLES, st.just({}) | TABLE_OPTIONS, st.sampled_from(ENDINGS))
    def check(table, options, ending):
        path = tmp_path / f"people-{sum(counts.values())}.{ending}"
        path.write_bytes(table)
        own = {"path": str(path), "label": "hired", "protected": "sex"} | options
        counts[outcome(lambda: datasets.load("csv", own))] += 1

    check()
    print(f"tables: {dict(counts)}")
    assert sum(counts.values()) >= 100
    assert min(counts["taken"], counts["refused"]) > 3
