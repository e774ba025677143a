"""experiment=attack_defense_matrix: every attack on every defense that it makes sense on."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fairpriv import validate
from fairpriv.attacks.base import AnyAttack
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.defenses.base import Defense
from fairpriv.errors import BadRequest, DoesNotFit
from fairpriv.models.base import Model
from fairpriv.protocols.base import Protocol, Result
from fairpriv.protocols.bias_queries import make_defense as make_query_defense
from fairpriv.protocols.matrix import games
from fairpriv.protocols.matrix.channels import channel_of, given_by, why_not
from fairpriv.protocols.matrix.people import People, scored
from fairpriv.protocols.matrix.released import Released, release
from fairpriv.protocols.one_hot_table import check_discrete, sensitive_attributes
from fairpriv.registry import find, parameters, register


def make_defense(cell: Cell) -> Any:
    """Build the cell's defense at its ε; one that takes an ε and is given none has none to keep (inf) or its own."""
    cls = find("defenses", cell.plugins["defense"]["name"])
    if "answers" in given_by(cls):
        return make_query_defense(cell)
    takes = parameters(cls).get("epsilon")
    if cell.get("epsilon") is not None and takes is not None:
        return cell.plugin("defense", epsilon=cell["epsilon"])
    needs = "records" in given_by(cls) and cell.plugins["defense"].get("protocol") == "nondp"
    return cell.plugin("defense", **({"epsilon": math.inf} if needs else {}))


def make_attack(cell: Cell) -> Any:
    """Build the cell's attack with its number of queries, where it has one to choose."""
    chooses = "m" in parameters(find("attacks", cell.plugins["attack"]["name"]))
    return cell.plugin("attack", **({"m": cell["m"]} if chooses and cell.get("m") is not None else {}))


class Games:
    """The games on one dataset, split and defense: what they share is made once and no result depends on others'."""

    def __init__(self, first: Cell, data: Dataset) -> None:
        self.people = People.of(first, data)
        self._kept: dict[Any, Any] = {}
        self._once: dict[str, Any] = {}

    def once(self, what: str, make: Callable[[], Any]) -> Any:
        """Make a thing the first time it is asked for."""
        if what not in self._once:
            self._once[what] = make()
        return self._once[what]

    def released(self, cell: Cell) -> Released:
        """Return what the defense lets out."""
        rng = cell.rng("target", "dataset", "defense", "epsilon", "model")
        return self.once(
            f"released {cell.get('epsilon')}",
            lambda: release(cell, make_defense(cell), self.people, rng, self._kept),
        )

    def play(self, cell: Cell) -> Result:
        """Play the game of one cell."""
        attack = make_attack(cell)
        channel = channel_of(type(attack))
        named = {f"{group}_plugin": cell.plugins[group]["name"] for group in ("attack", "defense")}
        if channel == "answers":
            about = self.once("asked", lambda: games.Asked.of(cell, self.people))
            found = games.ask_the_desk(cell, attack, make_defense(cell), about)
        else:
            found = self._on_released(cell, attack, channel)
        return Result({"channel": channel} | named | found)

    def _on_released(self, cell: Cell, attack: Any, channel: str) -> dict[str, Any]:
        released, extra = self.released(cell), {}
        if channel == "records":
            guessed = attack.run(released.records, cell.rng("attack", "dataset", "attack", "epsilon"))
        else:
            guessed, extra = self._reconstruct(cell, attack, released)
        rows = self.people.train
        alone = self.once("x", lambda: self.people.from_x_alone(rows, cell.rng("from x alone", "dataset")))
        found = games.quality(released.test, self.people)
        found |= scored(guessed, alone, self.people.data.group[rows].astype(int))
        return found | {"epsilon_promised": float(released.epsilon)} | extra

    def _reconstruct(self, cell: Cell, attack: Any, released: Released) -> tuple[Any, dict[str, Any]]:
        view = games.reconstruction_view(self.people, released)
        # one who does not look at predictions guesses the same whatever was released
        seen = cell.get("epsilon") if attack.sees_predictions else None
        rng = cell.rng("attack", "dataset", "attack")
        guess = self.once(f"guess {sorted(cell.plugins['attack'].items())} {seen}", lambda: attack.learn(view, rng))
        truth = games.true_unfairness(self.people, released)
        guessed, status = games.corrected(attack, guess, view, cell["knows"], truth)
        return guessed, {"correction": status, "card_sp": float(truth)}


@register
@dataclass(frozen=True)
class AttackDefenseMatrix(Protocol):
    """Tries every attack on every defense that gives away what it looks at: utility, fairness, leakage by group.

    Utility and fairness are those of the model on the test part, and the error of answers; leakage is the balanced
    accuracy of the attacker's guesses on the people the defense is about, next to what the features alone tell (`x_`).
    """

    name: ClassVar[str] = "attack_defense_matrix"
    paper: ClassVar[str] = "all five"
    presented_by: ClassVar[str] = "fairpriv.report.attack_defense_matrix"
    shared: ClassVar[tuple[str, ...]] = (
        "attack",
        "attack.decoder",
        "attack.prior",
        "attack.exponents",
        "knows",
        "epsilon",
    )
    accepts: ClassVar[Mapping[str, type]] = {"attack": AnyAttack, "defense": Defense, "model": Model}
    least_rows: ClassVar[int] = 60

    def build(self, cell: Cell, group: str) -> Any:
        """Build a plug-in: the defense at the cell's ε, the attack with its number of queries."""
        makers = {"defense": make_defense, "attack": make_attack}
        return makers[group](cell) if group in makers else cell.plugin(group)

    def validate(self, cell: Cell) -> None:
        """Refuse a pair that makes no sense, with the reason, and parameters out of range."""
        self._check_families(cell)
        attack, defense = (find(f"{g}s", cell.plugins[g]["name"]) for g in ("attack", "defense"))
        if reason := why_not(attack, defense):
            raise BadRequest(f"no pair: {reason}")
        if "epsilon" in cell.axes and cell.get("epsilon") is not None:
            validate.number("epsilon", cell["epsilon"], at_least=0)
        super().validate(cell)
        if channel_of(attack) == "answers":
            validate.integer("n", cell.get("n"), at_least=4)
        if channel_of(attack) == "model":
            validate.choice("knows", cell.get("knows"), games.KNOWS)
        getattr(make_defense(cell), "available", lambda: None)()

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse more people to ask about than a third has, attributes that are not discrete, a budget too small."""
        super().fits(cell, dataset)
        third = len(dataset) // 3
        if cell.get("n") is not None and cell["n"] > third:
            raise DoesNotFit(f"n must be a whole number between 4 and {third}, got {cell['n']}", "n")
        if cell.plugins["defense"].get("protocol") is not None:
            for attribute in sensitive_attributes(dataset, "table2", cell.seed):
                if attribute != dataset.protected:
                    check_discrete(dataset, attribute)
        defense = make_defense(cell)
        least = getattr(defense, "least_epsilon", lambda n: 0.0)(third)
        if least > getattr(defense, "epsilon", math.inf):
            raise DoesNotFit(f"epsilon must be >= {least:.3g} on {third} rows, which a single step spends", "epsilon")

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Make what the defense lets out once, and try every attack on it."""
        played = Games(cells[0], load(cells[0]))
        return [played.play(cell) for cell in cells]
