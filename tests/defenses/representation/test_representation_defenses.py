"""Every representation method: learns, repeats, refuses; and what each promises."""

import numpy as np
import pytest

from fairpriv import registry
from fairpriv.defenses.representation.base import RepresentationDefense, Sample
from fairpriv.errors import BadRequest
from fairpriv.registry import build

METHODS = ["information_obfuscation", "cfair", "laftr", "ppvae", "ffvae", "cfb", "vfae", "raw_data"]
FEW = {"epochs": 4, "batch": 50, "hidden": 16}


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    s = rng.integers(0, 2, 600)
    x = rng.standard_normal((600, 4))
    x[:, 1] += 1.5 * s
    u = (x[:, 0] + 0.3 * x[:, 1] + 0.3 * rng.standard_normal(600) > 0.3).astype(int)
    return Sample(x, u, s)


@pytest.mark.parametrize("name", METHODS)
def test_learns_encodes_and_repeats(name, sample):
    defense = build("defenses", name, FEW)
    assert isinstance(defense, RepresentationDefense)
    assert defense.paper

    def once():
        rng = np.random.default_rng(3)
        return defense.encode(defense.fit(sample, rng), sample, rng)

    first, again = once(), once()
    assert first.shape == (600, 4 if name == "raw_data" else 2)
    assert np.isfinite(first).all()
    assert np.array_equal(first, again)


@pytest.mark.parametrize("name", [m for m in METHODS if m not in ("ppvae", "vfae")])
def test_only_methods_that_say_so_see_s(name, sample):
    """The released representation may not depend on s where the encoder is not given it."""
    defense = build("defenses", name, FEW)
    assert not defense.needs_s
    params = defense.fit(sample, np.random.default_rng(3))
    other = Sample(sample.x, 1 - sample.u, 1 - sample.s)
    a, b = (defense.encode(params, part, np.random.default_rng(4)) for part in (sample, other))
    assert np.array_equal(a, b)


@pytest.mark.parametrize("name", METHODS)
def test_laplace_mechanism_on_any_representation(name, sample):
    """At finite ε the released rows are within clipping plus noise, and Lemma 2 and Theorem 1 hold."""
    defense = build("defenses", name, FEW | {"epsilon": 8.0})
    rng = np.random.default_rng(0)
    encoded = defense.encode(defense.fit(sample, rng), sample, rng)
    z = defense.randomize(encoded, rng)
    assert z.shape == encoded.shape
    assert not np.array_equal(z, encoded)
    known = defense.information(encoded, sample.s, rng)
    assert 0 <= known.xz <= 8
    assert known.worst <= 8
    assert known.sz <= 8 - known.xz_given_s + 1e-9


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
@pytest.mark.parametrize("epsilon", [0, 5.0, float("inf")])
def test_obfuscation_at_every_budget(kind, epsilon, sample):
    defense = build("defenses", "information_obfuscation", FEW | {"representation": kind, "epsilon": epsilon, "k": 3})
    rng = np.random.default_rng(0)
    params = defense.fit(sample, rng)
    encoded = defense.encode(params, sample, rng)
    z = defense.randomize(encoded, rng)
    scores = defense.predict(params, z)
    assert scores.shape == (600, 2)
    shown = defense.released(z)
    if kind == "discrete":
        assert set(np.unique(encoded)) <= {0, 1, 2}
        assert shown.shape == (600, 6)
        np.testing.assert_array_equal(shown.sum(axis=1), 2)
    else:
        assert np.abs(encoded).max() <= 0.5
    known = defense.information(encoded, sample.s, rng)
    if epsilon == 0:
        assert known.xz == pytest.approx(0, abs=1e-9)
    if known is not None:
        assert known.xz <= epsilon + 1e-9


def test_obfuscation_learns_u():
    """Without noise to speak of, β large: the utility decoder finds a label that x gives away."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2000, 3))
    data = Sample(x, (x[:, 0] > 0).astype(int), rng.integers(0, 2, 2000))
    for kind in ("continuous", "discrete"):
        defense = build(
            "defenses",
            "information_obfuscation",
            {"representation": kind, "epsilon": 1000, "epochs": 25, "batch": 64, "beta": 100},
        )
        params = defense.fit(data, rng)
        z = defense.randomize(defense.encode(params, data, rng), rng)
        assert (defense.predict(params, z).argmax(axis=1) == data.u).mean() > 0.95


def test_obfuscation_loss_is_39():
    """One batch by hand: ½‖x − x̂‖² + β(−log q(u|z)), through clip and noise."""
    from fairpriv.defenses.representation import obfuscation

    rng = np.random.default_rng(0)
    data = Sample(rng.standard_normal((8, 3)), rng.integers(0, 2, 8), rng.integers(0, 2, 8))
    defense = build("defenses", "information_obfuscation", {"hidden": 5, "beta": 7.0})
    params = defense.init(data, rng)
    noise = rng.laplace(size=(8, 2))
    batch = {"x": data.x, "u": data.u, "s": data.s, "noise": noise}
    hyper = {"beta": 7.0, "t": 0.5, "keep": 1.0, "commitment": 0.25}

    def net(layers, x):
        for layer in layers[:-1]:
            x = np.maximum(x @ layer["w"] + layer["b"], 0)
        return x @ layers[-1]["w"] + layers[-1]["b"]

    z = np.clip(net(params["encoder"], data.x), -0.5, 0.5) + noise
    x_found = net(params["side"], np.hstack([z, np.eye(2)[data.s]]))
    logits = net(params["utility"], z)
    log_q = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    expected = 0.5 * ((x_found - data.x) ** 2).sum(axis=1) - 7.0 * log_q[np.arange(8), data.u]
    assert obfuscation.continuous_loss(params, batch, hyper) == pytest.approx(expected.mean(), rel=1e-4)


def test_image_networks_have_the_image_s_size():
    from fairpriv.defenses.representation import obfuscation

    rng = np.random.default_rng(0)
    params = obfuscation.init_image(rng, 48, 3, 10, [20, 20])
    x = rng.random((5, 48)).astype(np.float32)
    assert obfuscation.encode_image(params, x).shape == (5, 48)
    batch = {"x": x, "u": np.arange(5), "s": np.arange(5) % 3, "noise": np.zeros((5, 48), np.float32)}
    hyper = {"beta": 1.0, "t": 0.5, "keep": 1.0}
    losses = [float(obfuscation.image_loss(params, batch | {"s": s}, hyper)) for s in (batch["s"], 2 - batch["s"])]
    assert np.isfinite(losses).all()
    assert losses[0] != losses[1]  # the side decoder reads s
    with pytest.raises(BadRequest, match="d must be 3"):
        obfuscation.init_image(rng, 50, 3, 10, [20])


@pytest.mark.slow
def test_images_learn_colour():
    rng = np.random.default_rng(0)
    colour, digit = rng.integers(0, 3, 120), rng.integers(0, 10, 120)
    x = np.zeros((120, 3, 100))
    x[np.arange(120), colour] = rng.random((120, 100))
    data = Sample(x.reshape(120, 300), colour, digit)
    defense = build(
        "defenses",
        "information_obfuscation",
        {"representation": "image", "d": 300, "epsilon": 30_000, "epochs": 8, "batch": 30, "beta": 10},
    )
    params = defense.fit(data, rng)
    z = defense.randomize(defense.encode(params, data, rng), rng)
    assert z.shape == (120, 300)
    assert (defense.predict(params, z).argmax(axis=1) == colour).mean() > 0.8


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"d": 0}, "d must be >= 1, got 0"),
        ({"k": 1}, "k must be >= 2, got 1"),
        ({"t": 0}, "t must be > 0, got 0"),
        ({"epsilon": -1}, "epsilon must be >= 0, got -1"),
        ({"beta": -1}, "beta must be >= 0"),
        ({"representation": "spoken"}, "representation must be one of continuous, discrete, image"),
        ({"representation": "discrete", "k": 100, "d": 3}, "k\\^d must be <= 4096"),
        ({"epochs": 0}, "epochs must be >= 1"),
        ({"wavelength": 1}, "unknown parameter of defense information_obfuscation 'wavelength'"),
    ],
)
def test_refused(params, said):
    with pytest.raises(BadRequest, match=said):
        build("defenses", "information_obfuscation", params)


def test_conf_has_every_parameter():
    from fairpriv import config as conf

    conf.start()
    for name in [*METHODS, "information_obfuscation_discrete", "information_obfuscation_image"]:
        config = conf.option("defense", name)
        cls = registry.find("defenses", config.pop("name"))
        assert set(config) == set(registry.parameters(cls)), name
        if name in METHODS and name != "information_obfuscation":
            assert config == registry.parameters(cls), name
        build("defenses", cls.name, config)


VARIANTS = [
    ("ppvae", {"levels": 16, "drawing": "log_variance"}),
    ("vfae", {"levels": 16, "drawing": "log_variance", "alpha": 0}),
    ("information_obfuscation", {"start": "uniform"}),
    ("information_obfuscation", {"start": "uniform", "representation": "discrete"}),
]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_variants_learn_repeat_and_differ(name, variant, sample):
    mixed = Sample(np.column_stack([sample.x, sample.x[:, 0] > 0, np.arange(600) % 5]), sample.u, sample.s)

    def once(params):
        defense, rng = build("defenses", name, FEW | params), np.random.default_rng(3)
        return defense.encode(defense.fit(mixed, rng), mixed, rng)

    found = once(variant)
    assert np.isfinite(found).all()
    assert np.array_equal(found, once(variant))
    plain = {k: v for k, v in variant.items() if k == "representation"}
    assert not np.array_equal(found, once(plain))


def test_rebuilding_error_against_a_loop():
    """Numbers have ½(x̂ − x)²; a column of few values the cross-entropy of its own outputs, padding left out."""
    from fairpriv.defenses.representation.autoencoders import levels_of, rebuilding_error

    rng = np.random.default_rng(0)
    x = np.column_stack([rng.standard_normal(40), rng.integers(0, 2, 40) * 1.7 - 0.3, rng.integers(0, 3, 40)])
    x = x.astype(np.float32)
    levels = levels_of(x, 4)
    assert levels["numbers"].tolist() == [0]
    assert levels["few"].tolist() == [1, 2]
    outputs = rng.standard_normal((40, 1 + 2 * 3)).astype(np.float32)
    slow = 0.0
    for row, out in zip(x, outputs):
        slow += 0.5 * (out[0] - row[0]) ** 2
        for column, logits in ((1, out[1:3]), (2, out[4:7])):
            at = np.unique(x[:, column]).tolist().index(row[column])
            slow -= np.log(np.exp(logits[at]) / np.exp(logits).sum())
    assert float(rebuilding_error(outputs, x, levels)) == pytest.approx(slow / 40, rel=1e-5)


def test_rebuilding_error_without_levels_is_the_squared_error():
    from fairpriv.defenses.representation.autoencoders import levels_of, rebuilding_error

    x = np.random.default_rng(0).standard_normal((30, 3)).astype(np.float32)
    every = rebuilding_error(x + 1, x, {})
    assert float(every) == pytest.approx(1.5, rel=1e-5)
    assert float(rebuilding_error(x + 1, x, levels_of(x, 4))) == pytest.approx(1.5, rel=1e-5)


def test_the_log_variance_as_scale_is_no_noise_where_kl_is_least():
    from fairpriv.defenses.representation.autoencoders import draw_as, variant

    mean, noise = np.ones((3, 2)), np.full((3, 2), 5.0)
    assert np.array_equal(draw_as(mean, np.zeros((3, 2)), noise, variant("log_variance")), mean)
    assert np.allclose(draw_as(mean, np.zeros((3, 2)), noise, variant("gaussian")), mean + noise)


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("ppvae", {"levels": -1}, "levels must be >= 0"),
        ("vfae", {"drawing": "often"}, "drawing must be one of gaussian, log_variance"),
        ("information_obfuscation", {"start": "zero"}, "start must be one of he, uniform"),
        ("information_obfuscation", {"start": "uniform", "representation": "image", "d": 300}, "start must be he"),
    ],
)
def test_variants_out_of_range_are_refused(name, params, said):
    with pytest.raises(BadRequest, match=said):
        build("defenses", name, params)
