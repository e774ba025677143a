"""fairlearn's adversarial mitigation (Zhang et al. 2018), the same idea without privacy, for comparison."""

import importlib.util
import math
import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.adversarial.base import DebiasingDefense, Spent, Trained, check_groups
from fairpriv.defenses.adversarial.maad import Maad
from fairpriv.errors import BadRequest, DataUnavailable, FairprivError
from fairpriv.registry import param, register

CONSTRAINTS = {"equality_of_odds": "equalized_odds", "demographic_parity": "demographic_parity"}


def _predictor(inputs: int, hidden: tuple[int, ...]) -> Any:
    """Return maad's predictor as fairlearn takes it, in float64 within.

    fairlearn divides by ‖∇L_A‖ plus the least positive float64, zero in float32: 0/0 where the gradient vanishes.
    """
    import torch

    layers: list[Any] = []
    for a, b in pairwise((inputs, *hidden)):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear((inputs, *hidden)[-1], 1), torch.nn.Sigmoid()).double()

    class Predictor(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any) -> Any:
            return self.network(x.double()).float()

    return Predictor()


@register
@dataclass(frozen=True)
class FairlearnAdversarial(DebiasingDefense):
    """fairlearn's AdversarialFairnessClassifier, with the predictor, batch and number of steps of `maad`."""

    name: ClassVar[str] = "fairlearn_adversarial"
    paper: ClassVar[str] = "Zhang et al. 2018, in fairlearn (compared with in maad2023)"

    alpha: float = param(0.2, "weight of the adversary (γ in `maad`)", at_least=0)
    criterion: str = param("equality_of_odds", "what the adversary sees", choices=tuple(CONSTRAINTS))
    epsilon: float = param(4.0, "nothing is noised: says how many steps there are", above=0)
    delta: float = param(1e-6, "likewise", above=0, below=1)
    sigma: float = param(0.5, "likewise", at_least=0)
    batch: int = param(16, "batch size", at_least=1)
    epochs: float | None = param(None, "at most so many; null: as many as the budget allows", above=0)
    learning_rate: float = param(0.001, "of predictor and adversary; fairlearn's own is 0.001", above=0)
    hidden: tuple[int, ...] = param((256, 256), "hidden layers of the predictor", at_least=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        hidden = self.hidden if isinstance(self.hidden, list | tuple) else (self.hidden,)
        object.__setattr__(self, "hidden", tuple(hidden))
        validate.number("alpha", self.alpha, at_least=0)
        validate.choice("criterion", self.criterion, tuple(CONSTRAINTS))
        self._alike()

    def available(self) -> None:
        """Refuse where fairlearn has no engine to train with."""
        if importlib.util.find_spec("torch") is None:
            raise DataUnavailable("needs torch: fairlearn's adversarial mitigation trains with it (pip install torch)")

    def _alike(self) -> Maad:
        """Return the predictor without privacy that trains as long."""
        same = ("epsilon", "delta", "sigma", "batch", "epochs", "learning_rate", "hidden")
        return Maad(debias=False, privacy="none", **{name: getattr(self, name) for name in same})

    def least_epsilon(self, n: int) -> float:
        """Return what the predictor it is compared with needs: it trains as long."""
        return self._alike().least_epsilon(n)

    def fit(
        self,
        x: np.ndarray,
        label: np.ndarray,
        sensitive: np.ndarray,
        rng: np.random.Generator,
        vectors: np.ndarray | None = None,
    ) -> Trained:
        """Train on numbers with k binary attributes at once."""
        self.available()
        if np.issubdtype(x.dtype, np.integer):
            raise BadRequest("fairlearn_adversarial trains on tables, not on texts")
        check_groups(label, sensitive)
        import torch
        from fairlearn.adversarial import AdversarialFairnessClassifier

        torch.set_num_threads(1)  # as every cell has one
        steps = self._alike().steps(len(label))
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        model = AdversarialFairnessClassifier(
            backend="torch",
            predictor_model=_predictor(x.shape[1], self.hidden),
            adversary_model=[],
            constraints=CONSTRAINTS[self.criterion],
            learning_rate=self.learning_rate,
            alpha=self.alpha,
            epochs=math.ceil(steps * self.batch / len(label)),
            batch_size=self.batch,
            shuffle=True,
            random_state=seed,
        )
        model.max_iter = steps  # the base class has it, the classifier does not pass it on
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(x, label, sensitive_features=sensitive)
            except RuntimeError as error:
                raise FairprivError(f"fairlearn's training broke at step {model.n_iter_ + 1}: {error}") from error
        return Trained(
            decide=lambda rows, groups, draw: np.asarray(model.predict(rows)).ravel() > 0.5,
            steps=steps,
            spent=Spent(math.inf, math.inf, math.inf, math.inf, "nothing is protected"),
            losses=np.full((steps, 2), np.nan),
            one_sided=math.nan,
        )
