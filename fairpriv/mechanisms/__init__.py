"""Mechanisms: noise laws and what calibrates them; `fairpriv.mechanisms.audit` checks the outcome."""

from fairpriv.mechanisms.bounding import BOUNDINGS, log_density, log_mass, metric_range, noisy
from fairpriv.mechanisms.gaussian import analytic_sigma, classic_sigma, gaussian_delta
from fairpriv.mechanisms.noise import Cauchy, Exact, Gaussian, Laplace, Law
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity

__all__ = [
    "BOUNDINGS",
    "Cauchy",
    "Exact",
    "Gaussian",
    "Laplace",
    "Law",
    "analytic_sigma",
    "classic_sigma",
    "gaussian_delta",
    "global_sensitivity",
    "local_sensitivity",
    "log_density",
    "log_mass",
    "metric_range",
    "noisy",
    "smooth_sensitivity",
]
