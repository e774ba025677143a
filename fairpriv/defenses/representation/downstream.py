"""What others do with a representation: a one-hidden-layer classifier, and the attackers of the sensitive attribute."""

from typing import Any

import numpy as np

from fairpriv.datasets.encode import standardise
from fairpriv.defenses.representation.losses import cross_entropy
from fairpriv.defenses.representation.networks import dense, mlp
from fairpriv.defenses.representation.training import fit


def classifier_loss(params: Any, batch: Any, hyper: Any) -> Any:
    """Return the cross-entropy of a network with one output a class."""
    return cross_entropy(mlp(params, batch["x"]), batch["y"])


def classify(
    z: np.ndarray,
    u: np.ndarray,
    targets: np.ndarray,
    rng: np.random.Generator,
    *,
    epochs: int = 30,
    batch: int = 256,
    rate: float = 1e-3,
    hidden: int = 100,
) -> np.ndarray:
    """Train a one-hidden-layer network on (z, u) and return its scores on targets (xie2024, Section 6.1)."""
    z, targets = (a.astype(np.float32) for a in standardise(z, targets))
    params = dense(rng, z.shape[1], hidden, int(u.max()) + 1)
    data = {"x": z, "y": u.astype(np.int32)}
    params, _ = fit(classifier_loss, params, data, rng, epochs=epochs, batch=batch, rate=rate)
    return np.asarray(mlp(params, targets))


def random_forest_accuracy(
    z: np.ndarray, s: np.ndarray, targets: np.ndarray, truth: np.ndarray, rng: np.random.Generator
) -> float:
    """Return the accuracy of a random forest that rebuilds s (xie2024, Table 2, last column)."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=100, random_state=int(rng.integers(2**31)), n_jobs=1)
    return float((forest.fit(z, s).predict(targets) == truth).mean())


def strongest_attack(
    z: np.ndarray, s: np.ndarray, targets: np.ndarray, rng: np.random.Generator
) -> tuple[str, np.ndarray]:
    """Return the name and the guesses of the strongest attacker among forest, boosting and network.

    It knows z and s of the training part and z of the targets. Which of the three is the strongest is decided on a
    fifth of what it knows, by balanced accuracy: guessing the larger group counts for nothing.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.metrics import balanced_accuracy_score

    order = rng.permutation(len(z))
    held, known = order[: len(z) // 5], order[len(z) // 5 :]
    seed = int(rng.integers(2**31))
    share = np.bincount(s[known]) / len(known)
    both = np.vstack([z[held], targets])
    scores = {}
    for name, model in (
        ("forest", RandomForestClassifier(50, min_samples_leaf=20, max_samples=0.5, random_state=seed, n_jobs=1)),
        ("boosting", HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)),
    ):
        scores[name] = np.log(model.fit(z[known], s[known]).predict_proba(both) + 1e-9)
    scores["network"] = classify(z[known], s[known], both, rng, epochs=15)
    # the likelier group once both are taken as equally frequent
    guesses = {name: np.argmax(found - np.log(share), axis=1) for name, found in scores.items()}
    best = max(guesses, key=lambda name: balanced_accuracy_score(s[held], guesses[name][: len(held)]))
    return best, guesses[best][len(held) :]
