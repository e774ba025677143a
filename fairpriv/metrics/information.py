"""Mutual information where the randomizer's law is known: sums over codes, or densities of a mixture. In nats.

The data are taken as the distribution of X: each of the n rows has probability 1/n. Everything below then follows from
p(z | x) without a network, and the bounds of xie2024 (Lemma 2, Theorem 1) must hold exactly.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp


@dataclass(frozen=True)
class Information:
    """I(X;Z), I(X;Z|S), I(S;Z), and the largest log p(z|x)/p(z) met, which ε bounds pointwise (15)."""

    xz: float
    xz_given_s: float
    sz: float
    worst: float


def _summed(log_x: np.ndarray, log_s: np.ndarray, log_z: np.ndarray, weights: np.ndarray) -> Information:
    """Average log ratios of log p(z|x), log p(z|s) and log p(z) over draws of (x, z) with these weights."""
    mean = [float(np.sum(weights * a)) for a in (log_x - log_z, log_x - log_s, log_s - log_z)]
    return Information(*mean, worst=float(np.max((log_x - log_z)[weights > 0])))


def laplace_information(
    centres: np.ndarray, s: np.ndarray, scale: float, rng: np.random.Generator, draws: int = 2000
) -> Information:
    """Information of Z = centre(X) + Laplace(scale), by Monte Carlo over z with the exact mixture density.

    The same draws serve the three terms, so that I(X;Z) = I(X;Z|S) + I(S;Z) to rounding.
    """
    turns = -(-draws // len(centres))  # few rows are drawn several times, each with fresh noise
    rows = np.concatenate([rng.permutation(len(centres)) for _ in range(turns)])[:draws]
    z = centres[rows] + scale * rng.laplace(size=(len(rows), centres.shape[1]))
    log_x = -np.abs(z - centres[rows]).sum(axis=1) / scale
    log_z, log_s = np.empty(len(rows)), np.empty(len(rows))
    sizes = {value: np.sum(s == value) for value in np.unique(s)}
    for start in range(0, len(rows), 100):
        some = slice(start, start + 100)
        distance = np.zeros((len(z[some]), len(centres)))
        for column in range(centres.shape[1]):
            distance += np.abs(z[some, column, None] - centres[None, :, column])
        log = -distance / scale
        log_z[some] = logsumexp(log, axis=1) - np.log(len(centres))
        for value, size in sizes.items():
            mine = s[rows[some]] == value
            if mine.any():
                log_s[some][mine] = logsumexp(log[mine][:, s == value], axis=1) - np.log(size)
    return _summed(log_x, log_s, log_z, np.full(len(rows), 1 / len(rows)))


def response_information(codes: np.ndarray, s: np.ndarray, transition: np.ndarray) -> Information:
    """Information of Z, randomized response on each of the codes (n, d), exactly: a sum over all k^d outcomes."""
    k, d = len(transition), codes.shape[1]
    full = np.ones((1, 1))
    for _ in range(d):
        full = np.kron(full, transition)  # Pr[z | ẑ] of all d codes, in the order of np.ravel_multi_index
    cell = np.ravel_multi_index(tuple(codes.T), (k,) * d)
    groups, member = np.unique(s, return_inverse=True)
    joint = np.zeros((len(groups), k**d))  # p(s, ẑ)
    np.add.at(joint, (member, cell), 1 / len(cell))
    p_z = joint.sum(axis=0) @ full
    p_z_given_s = joint @ full / joint.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_x, log_z, log_s = np.log(full), np.log(p_z), np.log(p_z_given_s)
    shape = (len(groups), k**d, k**d)
    weights = joint[:, :, None] * full[None]  # p(s, ẑ, z)
    seen = weights > 0
    spread = (np.broadcast_to(a, shape)[seen] for a in (log_x[None], log_s[:, None, :], log_z[None, None, :]))
    return _summed(*spread, weights[seen])
