"""Train a small network on exact values, and let it play (docs/training.md).

    python -m kamon.env.training make exact.npz        positions with the value of every move
    python -m kamon.env.training fit exact.npz net.pt  a network that learns them
    python -m kamon.env.training play net.pt           the network as a program that speaks UGI

The positions come from random games at late plies, where the solver needs microseconds. The network
looks at the planes of ``kamon.env.planes`` and says for each cell how likely a move there wins.
"""

import argparse
import pickle
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine.ugi import protocol
from kamon.env.batch import UNPROVEN, Batch, Layouts, concatenate
from kamon.env.planes import PLANES, SIZE, observe
from kamon.errors import ExtraMissingError, FormatError, KamonError
from kamon.geometry import CELL_COUNT
from kamon.position import Position

try:
    import torch
    from torch import nn
except ImportError as error:
    raise ExtraMissingError("kamon.env.training", "PyTorch", "tutorial") from error

Samples = dict[str, npt.NDArray[Any]]

FORMAT: Final = "kamon exact values"
NETWORK_FORMAT: Final = "kamon tutorial network"
VERSION: Final = 1

_CHANNELS: Final = 32
_BLOCKS: Final = 4
_BATCH: Final = 512
_HELD_BACK: Final = 20
_SOLVED_AT_ONCE: Final = 10_000
# Too few random games last longer.
_LAST_PLY: Final = 30


# --- Exact values ---------------------------------------------------------------------------


def make_samples(count: int, plies: range, seed: int) -> Samples:
    """Play random games, and solve every move of one position of each."""
    rng = np.random.default_rng(seed)
    found: list[Batch] = []
    while sum(map(len, found)) < count:
        batch = Batch.shuffled(rng.integers(0, 1 << 63, size=4096))
        stop = rng.integers(plies.start, plies.stop, size=len(batch))
        for ply in range(plies.stop - 1):
            found.append(batch[~batch.over & (stop == ply)])
            batch = batch.play_random(rng)
        found.append(batch[~batch.over & (stop == plies.stop - 1)])
    batch = concatenate(found)[:count]
    values = np.concatenate(list(_solve(batch)))
    return {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "tokens": batch.layouts.tokens[batch.layout_of],
        "black": batch.black,
        "white": batch.white,
        "last": batch.last,
        "values": values,
    }


def _solve(batch: Batch) -> Iterator[npt.NDArray[np.int8]]:
    """Solve every move, some positions at a time, and say how far that has come."""
    for first in range(0, len(batch), _SOLVED_AT_ONCE):
        yield batch[first : first + _SOLVED_AT_ONCE].move_values(memory=16 << 20)
        done = min(first + _SOLVED_AT_ONCE, len(batch))
        sys.stderr.write(f"{done:,} of {len(batch):,} positions solved\n")


def read_samples(path: Path) -> Samples:
    """Read what ``make`` wrote. Raises ``FormatError`` where it is something else."""
    try:
        with np.load(path) as stored:
            samples = {name: stored[name] for name in stored.files}
        found = str(samples["format"]), int(samples["version"])
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, BadZipFile):
        raise FormatError(f"{path} is no whole file of samples: make writes one") from None
    if found != (FORMAT, VERSION):
        raise FormatError(f"{path}: expected {FORMAT}, version {VERSION}")
    return samples


def batch_of(samples: Samples) -> Batch:
    """Turn samples back into positions."""
    layout_of = np.arange(len(samples["black"]), dtype=np.int32)
    stones = (samples[name] for name in ("black", "white", "last"))
    return Batch(Layouts(samples["tokens"]), layout_of, *stones)


# --- The network ----------------------------------------------------------------------------


class Network(nn.Module):  # type: ignore[misc]
    """Some convolutions with short cuts; for each cell the log-odds that a move there wins."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(len(PLANES), _CHANNELS, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1) for _ in range(_BLOCKS)
        )
        self.last = nn.Linear(_CHANNELS * SIZE * SIZE, CELL_COUNT)

    def forward(self, planes: Any) -> Any:  # noqa: ANN401 - tensors
        """Judge positions, given as planes first."""
        x = torch.relu(self.first(planes))
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return self.last(x.flatten(1))

    def save(self, path: Path) -> None:
        """Write the network with the name and version of its format."""
        torch.save(
            {"format": NETWORK_FORMAT, "version": VERSION, "weights": self.state_dict()}, path
        )

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Read a network. Raises ``FormatError`` where the file is something else."""
        try:
            stored = torch.load(path, weights_only=True)
            if (stored["format"], stored["version"]) != (NETWORK_FORMAT, VERSION):
                raise FormatError(f"{path}: expected {NETWORK_FORMAT}, version {VERSION}")
            network = cls()
            network.load_state_dict(stored["weights"])
        except (OSError, EOFError) as error:
            raise FormatError(f"{path} cannot be read: {error}") from None
        except (pickle.UnpicklingError, RuntimeError, KeyError, TypeError):
            # What PyTorch says of such a file is long, and of no use to people.
            raise FormatError(f"{path} cannot be read: it is no network of ours") from None
        network.eval()
        return network


def _tensor(planes: npt.NDArray[np.int8]) -> Any:  # noqa: ANN401 - a tensor
    return torch.from_numpy(np.moveaxis(planes, -1, 1).astype(np.float32))


def _loss(network: Network, batch: Batch, values: npt.NDArray[np.int8]) -> Any:  # noqa: ANN401
    """Compare what the network says of the proven moves with their values."""
    proven = torch.from_numpy(values != UNPROVEN)
    # A win is 1, a draw one half, a loss 0.
    wanted = torch.from_numpy((values.astype(np.float32) + 1) / 2)
    said = network(_tensor(batch.observations()))
    return nn.functional.binary_cross_entropy_with_logits(said[proven], wanted[proven])


def fit(samples: Samples, seconds: float, seed: int) -> Network:
    """Train for some time, and tell how it does on positions that it has not seen."""
    torch.manual_seed(seed)
    batch, values = batch_of(samples), samples["values"]
    order = np.random.default_rng(seed).permutation(len(batch))
    unseen, seen = np.split(order, [len(order) // _HELD_BACK])
    network = Network()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    rng = np.random.default_rng(seed)
    start, epoch = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        epoch += 1
        network.train()
        for chosen in np.array_split(rng.permutation(seen), max(1, len(seen) // _BATCH)):
            left = max(0.0, 1 - (time.monotonic() - start) / seconds)
            if not left:
                break
            for group in optimiser.param_groups:
                group["lr"] = 1e-3 * max(0.02, left)
            optimiser.zero_grad()
            _loss(network, batch[chosen], values[chosen]).backward()
            optimiser.step()
        network.eval()
        with torch.no_grad():
            loss = float(_loss(network, batch[unseen], values[unseen]))
        kept = accuracy(network, batch[unseen], values[unseen])
        sys.stderr.write(f"epoch {epoch}: loss {loss:.4f}, keeps the value in {kept:.1%}\n")
    return network


def accuracy(network: Network, batch: Batch, values: npt.NDArray[np.int8]) -> float:
    """Tell how often the move that the network likes best keeps the value, where it matters."""
    known = np.where(values == UNPROVEN, -2, values)
    chosen = best_cells(network, batch)
    reached, best = known[np.arange(len(batch)), chosen], known.max(axis=1)
    worst = np.where(values == UNPROVEN, 2, values).min(axis=1)
    matters = best > worst
    return float((reached == best)[matters].mean()) if matters.any() else 1.0


def best_cells(network: Network, batch: Batch) -> npt.NDArray[np.int64]:
    """Choose the legal cell that the network likes best, for each position."""
    with torch.no_grad():
        said = network(_tensor(batch.observations())).numpy()
    chosen: npt.NDArray[np.int64] = np.where(batch.legal_mask(), said, -np.inf).argmax(axis=1)
    return chosen


# --- The player -----------------------------------------------------------------------------


def choose(network: Network, position: Position) -> int:
    """Choose a move as the network likes it."""
    with torch.no_grad():
        said = network(_tensor(observe(position)[None]))[0].numpy()
    return max(rules.legal_cells(position), key=lambda cell: float(said[cell]))


def answer(network: Network, line: str, position: Position) -> tuple[list[str], Position]:
    """Obey one line of UGI: return what to say, and the position from then on."""
    words = line.split()
    match words[:1]:
        case ["ugi"]:
            return ["id name Kamon tutorial network", "id author its trainer", "ugiok"], position
        case ["isready"]:
            return ["readyok"], position
        case ["uginewgame"]:
            return [], protocol.start_position()
        case ["position"]:
            return [], protocol.parse_position(words[1:])
        case ["go"]:
            over = rules.outcome(position) is not None
            return [protocol.format_bestmove(None if over else choose(network, position))], position
    return [], position


def play(network: Network) -> None:
    """Speak UGI on standard input and output until ``quit``."""
    # One position is too little work to share, and threads would disturb an opponent.
    torch.set_num_threads(1)
    position = protocol.start_position()
    for line in protocol.read_lines(sys.stdin.buffer):
        if line.split()[:1] == ["quit"]:
            return
        try:
            said, position = answer(network, line, position)
        except KamonError as error:
            said = [protocol.format_error(str(error))]
        for each in said:
            sys.stdout.write(f"{each}\n")
        sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Make positions, fit a network to them, or let one play."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make", help="write positions with the value of every move")
    make.add_argument("samples", type=Path, help="the file to write, as .npz")
    make.add_argument("--count", type=int, default=100_000, help="how many positions")
    make.add_argument(
        "--plies",
        type=int,
        nargs=2,
        default=(16, 28),
        metavar=("FROM", "TO"),
        help=f"how many stones they have, 0 to {_LAST_PLY}",
    )
    make.add_argument("--seed", type=int, default=1, help="other games for another number")
    learn = commands.add_parser("fit", help="train a network on them")
    learn.add_argument("samples", type=Path, help="what make wrote")
    learn.add_argument("network", type=Path, help="the file to write")
    learn.add_argument("--seconds", type=float, default=360.0, help="how long to train")
    learn.add_argument("--seed", type=int, default=1, help="other weights to begin with")
    player = commands.add_parser("play", help="speak UGI")
    player.add_argument("network", type=Path, help="what fit wrote")
    options = parser.parse_args(arguments)
    _check(parser, options)
    try:
        if options.command == "make":
            low, high = options.plies
            samples = make_samples(options.count, range(low, high + 1), options.seed)
            np.savez_compressed(options.samples, **samples)  # type: ignore[arg-type]
        elif options.command == "fit":
            network = fit(read_samples(options.samples), options.seconds, options.seed)
            network.save(options.network)
        else:
            play(Network.load(options.network))
    except (KamonError, OSError) as error:
        sys.exit(f"kamon: {error}")


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse at once what would fail only after minutes, or never end."""
    if options.command == "make":
        low, high = options.plies
        if not 0 <= low <= high <= _LAST_PLY:
            parser.error(f"--plies: expected two numbers, 0 to {_LAST_PLY}, the lower one first")
        if options.count < 1:
            parser.error("--count: expected 1 or more")
    if options.command != "play" and options.seed < 0:
        parser.error("--seed: expected 0 or more")
    written = {"make": "samples", "fit": "network"}.get(options.command)
    if written and not getattr(options, written).parent.is_dir():
        parser.error(f"there is no folder {getattr(options, written).parent}")


if __name__ == "__main__":
    main()
