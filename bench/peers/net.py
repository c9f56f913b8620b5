"""Steps of gradient descent on a network of one hidden layer in torch, f64: bench_net.c's twin.

    net.py ACT N D WIDTH BATCH STEPS

Functional layers, gradients by autograd, weights moved in place: a little faster here than modules with torch.optim.SGD.
"""

import sys

import common  # sets the number of threads, so it comes before the libraries
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(common.THREADS)
SEED_WEIGHTS = 7
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "erf": torch.erf}


def weights(d, width):
    theta = common.random_numbers(SEED_WEIGHTS, width * d + 2 * width + 1)
    w1, rest = theta[: width * d] / np.sqrt(d), theta[width * d + width: -1] / np.sqrt(width)
    parts = [w1.reshape(width, d), np.zeros(width), rest.reshape(1, width), np.zeros(1)]
    return [torch.tensor(part, requires_grad=True) for part in parts]


def step(act, parts, rate, x, y):
    w1, b1, w2, b2 = parts
    f = F.linear(act(F.linear(x, w1, b1)), w2, b2)
    loss = F.mse_loss(f, y)
    gradients = torch.autograd.grad(loss, parts)
    with torch.no_grad():
        for part, gradient in zip(parts, gradients):
            part.add_(gradient, alpha=-rate)
    return loss.detach()


def run(act, parts, rate, x, y, batch, steps):
    """The losses of the steps; rows are shuffled anew for each pass."""
    losses, done = [], 0
    while done < steps:
        order = torch.randperm(len(x)) if batch else None
        for first in range(0, len(x), batch or len(x)):
            if done == steps:
                break
            rows = order[first: first + batch] if batch else None
            losses.append(step(act, parts, rate, x[rows] if batch else x, y[rows] if batch else y))
            done += 1
    return losses


def main(arguments):
    act, n, d, width, batch, steps = ACTIVATIONS[arguments[0]], *map(int, arguments[1:])
    x = torch.tensor(common.random_points(common.SEED_X, n, d, np.float64))
    y = torch.tensor(common.random_points(common.SEED_Y, n, 1, np.float64))
    parts, rate = weights(d, width), 1e-12 if batch else 1e-3
    first = run(act, parts, rate, x, y, batch, -(-n // batch) if batch else 1)
    _, cost = common.measure(lambda: run(act, parts, rate, x, y, batch, steps))
    for key in ("seconds", "cpu_seconds"):
        cost[key] /= steps
    out = np.array([float(loss) for loss in first]).mean(keepdims=True) if batch else np.concatenate(
        [part.detach().numpy().reshape(-1) for part in parts])
    common.report(**cost, check=common.check(out))


if __name__ == "__main__":
    main(sys.argv[1:])
