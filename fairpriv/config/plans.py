"""Plans: what the driver is given, one per job."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairpriv.cells import Cell
from fairpriv.config.compose import compose, options, plain
from fairpriv.config.folder import own_folder
from fairpriv.config.grid import Chosen, Product, cells_of, chosen_axes, products_of
from fairpriv.config.overrides import Request, jobs_of, read, swept
from fairpriv.config.settings import Settings
from fairpriv.errors import BadRequest
from fairpriv.seeds import canonical


@dataclass(frozen=True)
class Plan:
    """One job: its cells in order, where results go, and the config they came from.

    Attributes
    ----------
    own_data : bool
        The user chose the dataset.
    reproduction : bool
        The experiment as the paper has it: results go to results/NAME/ itself.
    pinned : frozenset of str
        The keys the user set: a cell that cannot be, by an axis they did not set, is no fault of theirs.
    note : str
        What to say before it runs, in one line; "" for nothing.
    """

    experiment: str
    protocol: str
    paper: str
    cells: tuple[Cell, ...]
    folder: Path
    jobs: int
    engine: Mapping[str, Any]
    config: Mapping[str, Any]
    overrides: tuple[str, ...]
    own_data: bool
    reproduction: bool = True
    pinned: frozenset[str] = frozenset()
    note: str = ""


def plan(words: Sequence[str]) -> Plan:
    """Make the plan of one job from its overrides."""
    (only,) = plans(words, multirun=False)
    return only


def grids_of(experiment: str) -> tuple[Mapping[str, Any], dict[str, list[Product]]]:
    """Return an experiment's config and the blocks of its grid by profile, without making cells.

    All profiles are composed at once: Hydra takes a third of a second each time.
    """
    profiles = [p for p in options("profile") if p in options(f"sweep/{experiment}")]
    grids = [f"+sweep@each.{p}.sweep={experiment}/{p}" for p in profiles]
    seeds = [f"+profile@each.{p}.profile={p}" for p in profiles]
    words = (f"experiment={experiment}", f"profile={profiles[0]}", *grids, *seeds)
    config = plain(compose("config", words))
    request = Request((), (), frozenset(), {}, config)
    each = config.pop("each")
    return config, {p: products_of(request, Settings.of(config | each[p]), {}, {}) for p in profiles}


def _plan(request: Request, settings: Settings, chosen: Chosen, family: Chosen, sweeps: Collection[str]) -> Plan:
    below = own_folder(request.overrides, sweeps)
    return Plan(
        experiment=settings.name,
        protocol=settings.protocol,
        paper=settings.paper,
        cells=tuple(cells_of(request, settings, chosen, family)),
        folder=settings.results_dir / settings.name / below,
        jobs=settings.jobs,
        engine=settings.engine,
        config=request.config,
        overrides=request.words,
        own_data=chosen.get("dataset") is not None,
        reproduction=not below,
        pinned=request.typed,
    )


def plans(words: Sequence[str], multirun: bool) -> list[Plan]:
    """Return the plans of a command line: one, or one per multirun job.

    All jobs of a multirun choose the same blocks of the grid: by the values its sweeps have together.
    """
    jobs = [(r, s, chosen_axes(r, s)) for r in map(read, jobs_of(words, multirun)) for s in (Settings.of(r.config),)]
    families: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for _, settings, chosen in jobs:
        for axis, values in chosen.items():
            families[settings.name][axis] += values
    sweeps = swept(words) if multirun else set()
    made = [_plan(r, s, chosen, families[s.name], sweeps) for r, s, chosen in jobs]
    twice = [folder for folder, number in Counter(p.folder for p in made).items() if number > 1]
    if twice:
        raise BadRequest(f"two combinations would write to {twice[0]}: name each value once")
    return _with_note(made, sweeps)


def _points(cells: Sequence[Cell], sweeps: Collection[str]) -> set[str]:
    """Return the points of a plan but for what is swept (a plug-in's parameters with it)."""
    hidden = (*sweeps, *(f"{key}." for key in sweeps))
    return {
        canonical([{a: v for a, v in c.axes.items() if a not in sweeps and not a.startswith(hidden)}, c.seed])
        for c in cells
    }


def _with_note(made: list[Plan], sweeps: Collection[str]) -> list[Plan]:
    """Say in the first plan's note where the combinations of a multirun do not run the same cells."""
    if len(made) < 2 or {"experiment", "profile", "seeds"} & set(sweeps):
        return made
    points = [_points(p.cells, sweeps) for p in made]
    if all(p == points[0] for p in points):
        return made
    told = ", ".join(f"{p.folder.name} {len(p.cells)}" for p in made[:6]) + (", ..." if len(made) > 6 else "")
    note = f"the combinations do not run the same cells (the grid has other points for each): {told}"
    return [replace(made[0], note=note), *made[1:]]
