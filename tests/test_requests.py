"""Requests that cannot go wrong: a wrong one is one line and exit 2 before anything runs; a right one has a folder."""

import json

import numpy as np
import pytest

from fairpriv import config, datasets, registry
from fairpriv.cli import main
from fairpriv.errors import BadRequest, DoesNotFit
from fairpriv.runner.work import load

CONCEAL = "experiment=attribute_conceal"


@pytest.fixture(autouse=True, scope="module")
def own_conf():
    config.start()


def check(words, multirun):
    for plan in config.plans(words, multirun):
        protocol = registry.build("protocols", plan.protocol)
        for cell in plan.cells:
            protocol.validate(cell)


def refused(words, multirun=False):
    """Return what is said to a wrong request: by its plan, else by its protocol on some cell."""
    with pytest.raises(BadRequest) as error:
        check(words, multirun)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["results_dir=5"], "results_dir must be a path, got 5"),
        (["results_dir=null"], "results_dir must be a path, got null"),
        (["results_dir=[a]"], "results_dir must be a path"),
        (["~results_dir"], "results_dir cannot be removed"),
        (["~defense"], "defense cannot be removed"),
        (["~engine"], "engine cannot be removed"),
        (["~engine.name"], "engine.name cannot be removed"),
        (["~sweep"], "the grid follows experiment= and profile="),
        (["sweep.grid=5"], "sweep.grid must hold key: value pairs, got 5"),
        (["sweep.grid.adult=5"], "sweep.grid.adult must hold"),
        (["+sweep.grid.adult.foo=[1]"], "unknown axis in sweep.grid.adult 'foo'"),
        (["epsilon=null"], "epsilon must be a number, got None"),
        (["epsilon={a: 1}"], "epsilon must be a value or a list of values"),
        (["attack.decoder=[]"], "attack.decoder must have at least one value"),
        (["protocol=ldp_fairness"], "protocol belongs to the experiment"),
        (["name=../../x"], "name belongs to the experiment"),
        (["seeds=100000000000"], "seeds must be >= 1 and <= 4294967295"),
        (["seeds=10000000"], "it takes 1 to 2000000"),
        (["seeds=[true]"], "each of seeds must be a whole number"),
        (["+new=1"], "unknown key 'new'"),
        (["+attack.new=1"], "unknown parameter of attack reveal_compressed 'new'"),
        (["hydra.verbose=true"], "Hydra's own settings are not used here"),
        (["dataset@foo=adult"], "packages (@) are not used here"),
        (["defense=null"], "unknown defense 'null'"),
        (["engine.name=slurm"], "valid: dask, local, ray"),
        (["reuse=maybe"], "reuse must be one of same, strict"),
        (["recompute=1"], "recompute must be one of True, False"),
        (["jobs=many"], "jobs must be a whole number between 1 and 4096, got 'many'"),
        (["attribute_conceal"], "did you mean experiment=attribute_conceal?"),
        (["conceal"], "did you mean defense=conceal?"),
        (["attribute_concel"], "did you mean experiment=attribute_conceal?"),
        (["epsilon=" + "9" * 400], "epsilon must be a number within what a float can hold"),
        (["whatever"], "settings are key=value"),
        (["epsilon=[1,"], "cannot read 'epsilon=[1,'"),
        (["defense.bounding=clip"], "pick the defense first, e.g. defense=conceal"),
        (["sweep.grid=[]"], "sweep.grid must hold key: value pairs, got []"),
        (["sweep.grid.adult.n={}"], "sweep.grid.adult.n must be a value or a list of values"),
        (["sweep.grid.adult.defense={every: QueryDefens}"], "did you mean QueryDefense"),
        (["sweep.grid.adult.defense={every: [a]}"], "unknown family of defense"),
        (["sweep.grid.adult.defense={every: QueryDefense, but: 5}"], "defense.but must be names, got 5"),
        (["sweep.grid.adult.defense={every: QueryDefense, also: nowhere}"], "unknown defense 'nowhere'"),
        (["n=abc"], "n must be a whole number, got 'abc'"),
        (["n=-1"], "n must be >= 2, got -1"),
        (["n=0"], "n must be >= 2, got 0"),
        (["n=1"], "n must be >= 2, got 1"),
        (["n=30", "n0=0"], "n0 must be a whole number between 1 and 29, got 0"),
        (["n=30", "n0=31"], "n0 must be a whole number between 1 and 29, got 31"),
        (["m=100000"], "m must be a whole number between 1 and n = 100, got 100000"),
        (["defense=maad"], "attribute_conceal cannot use defense=maad: valid (QueryDefense): conceal"),
        (
            ["attack=adversary_xy"],
            "cannot use attack=adversary_xy: valid (Attack): reveal_compressed",
        ),
    ],
)
def test_a_wrong_request_is_one_line(words, says):
    assert says in refused([CONCEAL, "profile=smoke", *words])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["experiment=maad_private", "defense=ldp_collection"], "valid (DebiasingDefense): dp_postprocess"),
        (["experiment=maad_private", "model=logistic"], "maad_private takes no model"),
        (["experiment=ldp_fairness", "defense=laplace"], "valid (CollectionDefense): ldp_collection"),
        (["experiment=information_obfuscation", "defense=conceal"], "valid (RepresentationDefense)"),
        (["experiment=reconstruction_correction", "attack=reveal_linear"], "valid (Adversary): adversary_xy"),
        (["experiment=reconstruction_correction", "defense=conceal"], "valid (FairLearner)"),
    ],
)
def test_a_plugin_of_another_family_is_refused_with_those_that_fit(words, says):
    assert says in refused([*words, "profile=smoke"])


def test_an_interval_or_too_many_values_cannot_be_run_one_by_one():
    assert "no values to run one by one" in refused([CONCEAL, "epsilon=interval(1,2)"], multirun=True)
    assert "at most 1000 combinations" in refused([CONCEAL, "epsilon=range(1,10000000000)"], multirun=True)


def cell_of(*words):
    plan = config.plan(words)
    return registry.build("protocols", plan.protocol), plan.cells[0]


def fits(*words, rows=300):
    protocol, cell = cell_of(*words, "dataset=synthetic", f"dataset.n={rows}", f"dataset.n0={rows // 3}")
    protocol.fits(cell, load(cell))


@pytest.mark.parametrize(
    ("words", "axis", "says"),
    [
        (["n=100000", "n0=null"], "n", "n must be a whole number between 2 and 300, got 100000"),
        (["n=295", "n0=null"], "n", "between 2 and 290, so that some of the 300 rows are left"),
        (["n=250", "n0=101"], "n0", "n0 must be a whole number between 50 and 100 for n = 250"),
        (["n=null", "n0=null", "m=301"], "m", "m must be a whole number between 1 and n = 300, got 301"),
    ],
)
def test_a_cell_that_asks_too_much_of_its_dataset_does_not_fit(words, axis, says):
    with pytest.raises(DoesNotFit) as error:
        fits(CONCEAL, "profile=smoke", *words)
    assert says in str(error.value)
    assert error.value.axis == axis


def test_a_cell_that_asks_what_there_is_fits():
    fits(CONCEAL, "profile=smoke", "n=100", "n0=null")
    fits(CONCEAL, "profile=smoke", "n=null", "n0=null", "m=300")
    fits("experiment=reconstruction_correction", "profile=smoke")


def test_a_budget_that_no_step_keeps_is_refused_with_the_least_that_does():
    words = ["experiment=maad_private", "profile=smoke", "defense.privacy=joint", "defense.batch=16"]
    with pytest.raises(DoesNotFit, match=r"defense\.epsilon must be >= ([\d.]+) on the 240 training rows") as error:
        fits(*words, "defense.epsilon=0.1", "attributes=null")
    least = str(error.value).split(">= ")[1].split(" ")[0]
    fits(*words, f"defense.epsilon={least}", "attributes=null")


def people(path, rows=300):
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(18, 70)},{'fm'[rng.random() < 0.7]},{int(rng.random() < 0.4)}" for _ in range(rows)]
    lines[:4] = ["30,f,0", "31,m,1", "32,f,1", "33,m,0"][: len(lines)]
    path.write_text("age,sex,hired\n" + "\n".join(lines) + "\n")
    return {"path": str(path), "label": "hired", "protected": "sex"}


def test_a_table_of_two_rows_is_too_small_for_any_experiment(tmp_path):
    own = people(tmp_path / "two.csv", rows=2)
    data = datasets.load("csv", own)
    for experiment in config.options("experiment"):
        words = [
            f"experiment={experiment}",
            "profile=smoke",
            "dataset=csv",
            *(f"dataset.{k}={v}" for k, v in own.items()),
        ]
        protocol, cell = cell_of(*words)
        with pytest.raises(DoesNotFit, match="is too small"):
            protocol.fits(cell, data)


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zip", "csv.xz", "csv.bz2", "csv.tar", "csv.zst"])
def test_garbage_behind_an_ending_is_one_line(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    path.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(BadRequest, match="cannot be read as CSV") as error:
        datasets.load("csv", {"path": str(path), "label": "a", "protected": "b"})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"exclude": ["sex"]}, "exclude must not hold the label or the protected attribute, got 'sex'"),
        ({"features": []}, "features must name at least one column"),
        ({"features": ["age"], "exclude": ["age"]}, "has no feature beside"),
        ({"sample": [1, 2]}, "sample must be a whole number"),
        ({"minority_share": {"a": 1}}, "minority_share must be a number"),
    ],
)
def test_options_of_a_table_of_ones_own_are_checked(tmp_path, option, says):
    with pytest.raises(BadRequest, match=says):
        datasets.load("csv", people(tmp_path / "people.csv") | option)


def folder(*words, multirun=False):
    return [str(p.folder) for p in config.plans([CONCEAL, *words], multirun)]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["profile=quick"],
        ["profile=paper", "seeds=1"],
        ["seeds=[3,4]", "jobs=2", "engine=dask", "engine.address=tcp://a:1"],
        ["sweep.grid.table1_n100.seeds=2", "reuse=strict", "recompute=true"],
    ],
)
def test_the_experiment_as_the_paper_has_it_goes_to_its_own_folder(words):
    (plan,) = config.plans([CONCEAL, *words], multirun=False)
    assert str(plan.folder) == "results/attribute_conceal"
    assert plan.reproduction


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["profile=smoke"], "profile=smoke"),
        (["m=50", "epsilon=[1, 10]"], "epsilon=[1,10],m=50"),
        (["epsilon=[1,10]", "m=50", "seeds=2", "jobs=1"], "epsilon=[1,10],m=50"),
        (["defense=laplace", "defense.bounding=clip"], "defense=laplace,defense.bounding=clip"),
        (["+attack.width=0.2"], "attack.width=0.2"),
        (["~sweep.grid.table1_n100"], "~sweep.grid.table1_n100"),
        (["sweep.grid.table1_n100.m=[30]"], "sweep.grid.table1_n100.m=[30]"),
    ],
)
def test_any_other_request_has_a_folder_below_it(words, name):
    (plan,) = config.plans([CONCEAL, *words], multirun=False)
    assert str(plan.folder) == f"results/attribute_conceal/{name}"
    assert not plan.reproduction


def test_a_folder_is_one_name_and_says_which_file():
    def own(path):
        return folder("dataset=csv", f"dataset.path={path}", "dataset.label=a", "dataset.protected=b")[0]

    here, there, elsewhere = own("people.csv"), own("/home/x/people.csv"), own("/home/y/people.csv")
    assert here == "results/attribute_conceal/dataset=csv,dataset.label=a,dataset.path=people,dataset.protected=b"
    assert len({here, there, elsewhere}) == 3
    for path in (there, elsewhere):
        assert path.startswith(here + "-")
        assert path.count("/") == 2
    long = folder("profile=smoke", f"epsilon=[{','.join(map(str, range(1, 200)))}]")[0].rpartition("/")[2]
    assert len(long) <= 120


def test_every_combination_of_a_multirun_runs_the_same_cells():
    one, ten = config.plans([CONCEAL, "epsilon=1,10"], multirun=True)
    assert [str(p.folder) for p in (one, ten)] == [f"results/attribute_conceal/epsilon={e}" for e in (1, 10)]

    def but_for_epsilon(plan):
        return {json.dumps([{a: v for a, v in c.axes.items() if a != "epsilon"}, c.seed]) for c in plan.cells}

    assert but_for_epsilon(one) == but_for_epsilon(ten)
    assert one.note == ""
    assert {c["epsilon"] for c in one.cells} == {1}


def test_where_combinations_differ_it_is_said_in_one_line():
    plans = config.plans([CONCEAL, "dataset=adult_race,german", "profile=quick"], multirun=True)
    assert "do not run the same cells" in plans[0].note
    assert "\n" not in plans[0].note
    assert [len({str(p.folder) for p in plans}), len(folder("seeds=1,2", multirun=True))] == [2, 2]


def test_reuse_and_recompute_are_in_the_config():
    plan = config.plan([CONCEAL, "reuse=strict", "recompute=true"])
    assert (plan.config["reuse"], plan.config["recompute"]) == ("strict", True)
    assert config.plan([CONCEAL]).config["reuse"] == "same"


@pytest.mark.parametrize(
    "argv",
    [
        ["run", CONCEAL, "results_dir=5"],
        ["run", CONCEAL, "name=../../x"],
        ["run", "attribute_conceal"],
        ["run", CONCEAL, "-m", "epsilon=interval(1,2)"],
        ["audit", "epsilon={"],
        ["audit", "n=abc"],
        ["audit", "samples=-1"],
    ],
)
def test_the_command_exits_2_with_one_line(capsys, argv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    said = capsys.readouterr()
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["hamman2023", "quick", "dask", "attribute_conceal", "conceal_tight"])
def test_show_knows_papers_profiles_and_engines_and_gives_strict_json(capsys, name):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    assert main(["show", name, "--json"]) == 0
    record = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert name in record.values()
    if "axes" in record:
        assert record["axes"]["m"] == sorted(record["axes"]["m"])
        assert record["axes"]["epsilon"][-1] == "inf"


def test_audit_gives_strict_json_for_an_infinite_budget(capsys):
    assert main(["audit", "defense=conceal", "epsilon=inf", "n=20", "m=3", "samples=200", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert row["claimed_epsilon"] == "inf"


def test_hints_name_the_results_dir_of_the_failed_command(shell):
    done = shell.toy("behaviour=fails", "seeds=1", "results_dir=my results", "jobs=1", code=1)
    assert "`fairpriv status toy --results-dir 'my results'`" in done.stderr
    assert "two is not to my liking" in shell("status", "toy", "--results-dir", "my results").stdout
