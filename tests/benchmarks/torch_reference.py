"""The reference of bench_representations in eager PyTorch, for any Python that has torch: prints processor seconds."""

import sys

import numpy as np
from fastest import fastest  # beside this file: it is run as a script


def encoder_epoch(n: int = 32_561, width: int = 13, batch: int = 512) -> float:
    """Return the seconds of one epoch of the Adult encoder (xie2024: d = 2, hidden 100, Laplace noise inside)."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    x, u, s = torch.randn(n, width), torch.randint(0, 2, (n,)), torch.randint(0, 2, (n,))
    encoder = nn.Sequential(nn.Linear(width, 100), nn.ReLU(), nn.Linear(100, 2))
    utility = nn.Sequential(nn.Linear(2, 100), nn.ReLU(), nn.Linear(100, 2))
    side = nn.Sequential(nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, width))
    params = [*encoder.parameters(), *utility.parameters(), *side.parameters()]
    optimiser = torch.optim.Adam(params, lr=1e-3)
    noise = torch.distributions.Laplace(0.0, 2 * 0.5 * 2 / 5)

    def epoch() -> None:
        for rows in torch.randperm(n)[: n // batch * batch].view(-1, batch):
            optimiser.zero_grad()
            z = encoder(x[rows]).clamp(-0.5, 0.5) + noise.sample((batch, 2))
            found = side(torch.cat([z, nn.functional.one_hot(s[rows], 2).float()], 1))
            loss = 0.5 * (found - x[rows]).square().sum(1).mean()
            loss = loss + 100 * nn.functional.cross_entropy(utility(z), u[rows])
            loss.backward()
            optimiser.step()

    epoch()  # warm up
    return fastest(epoch)


def mine_iterations(iterations: int, batch: int, n: int) -> float:
    """Return the seconds of some iterations of MINE, written as is usual."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    z, s = torch.randn(n, 2), torch.randint(0, 2, (n, 1)).float()
    network = nn.Sequential(nn.Linear(3, 100), nn.ReLU6(), nn.Linear(100, 100), nn.ReLU6(), nn.Linear(100, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    rng = np.random.default_rng(0)

    def run(iterations: int = iterations) -> None:
        average, trace = 1.0, []
        for _ in range(iterations):
            i, j = (torch.from_numpy(rng.choice(n, batch, replace=False)) for _ in range(2))
            joint = network(torch.cat([z[i], s[i]], 1)).mean()
            product = network(torch.cat([z[i], s[j]], 1)).exp().mean()
            trace.append((joint - product.log()).item())
            average = 0.99 * average + 0.01 * product.item()
            optimiser.zero_grad()
            (product / average - joint).backward()
            optimiser.step()

    run(20)  # warm up
    return fastest(run)


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    name, *numbers = sys.argv[1:]
    print({"encoder": encoder_epoch, "mine": mine_iterations}[name](*(int(v) for v in numbers)))
