"""Search for good parameters: optuna's TPE sampler, seeded, so that the same call gives the same answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.errors import BadRequest

SCALES = ("linear", "log", "int", "log-int")

Range = tuple[float, float] | tuple[float, float, str]
Space = Mapping[str, Range | list[Any]]


def _check(space: Space) -> None:
    if not space:
        raise BadRequest("space must name at least one parameter")
    for name, domain in space.items():
        if isinstance(domain, list):
            if not domain:
                raise BadRequest(f"{name} must have at least one choice")
            continue
        if not isinstance(domain, tuple) or len(domain) not in (2, 3):
            raise BadRequest(f"{name} must be (low, high[, scale]) or a list of choices, got {domain!r}")
        low, high, scale = (*domain, "linear")[:3]
        validate.choice(f"scale of {name}", scale, SCALES)
        validate.number(f"low of {name}", low, **({"above": 0} if scale.startswith("log") else {}))
        validate.number(f"high of {name}", high, at_least=low)
        if scale.endswith("int"):
            validate.integer(f"low of {name}", low)
            validate.integer(f"high of {name}", high)


def _suggest(trial: Any, name: str, domain: Range | Sequence[Any]) -> Any:
    if isinstance(domain, list):
        # by position: any value may be a choice, and optuna only sees numbers
        return domain[trial.suggest_categorical(name, list(range(len(domain))))]
    low, high, scale = (*domain, "linear")[:3]
    suggest = trial.suggest_int if scale.endswith("int") else trial.suggest_float
    return suggest(name, low, high, log=scale.startswith("log"))


def tune(objective: Callable[[dict[str, Any]], float], space: Space, trials: int, seed: int) -> dict[str, Any]:
    """Return the parameters with the largest objective found by a TPE search.

    Parameters
    ----------
    objective : callable
        From a dict of parameters to the number to maximise; it must be deterministic for the search to be.
    space : mapping
        Name -> (low, high), (low, high, "log" | "int" | "log-int"), or a list of choices.
    trials : int
        Number of evaluations, >= 1.
    seed : int
        Seed of the sampler, >= 0.

    Returns
    -------
    dict
        The best parameters; of equals the first one tried.
    """
    _check(space)
    validate.integer("trials", trials, at_least=1)
    validate.integer("seed", seed, at_least=0)
    import optuna  # heavy, and only a search needs it

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    tried: list[tuple[dict[str, Any], float]] = []

    def evaluate(trial: Any) -> float:
        params = {name: _suggest(trial, name, domain) for name, domain in space.items()}
        tried.append((params, float(objective(dict(params)))))
        return tried[-1][1]

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(evaluate, n_trials=trials)
    return tried[int(np.argmax([value for _, value in tried]))][0]
