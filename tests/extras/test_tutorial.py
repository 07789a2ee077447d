"""The tutorial: a network learns exact values, and plays a match over UGI."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from kamon import FormatError, Layout, Position, format_layout, legal_cells
from kamon.engine.solver import Solver
from kamon.engine.ugi.protocol import format_bestmove
from kamon.env import training
from kamon.env.batch import UNPROVEN

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
KAMON = Path(sys.executable).with_name("kamon")


@pytest.fixture(scope="module")
def samples() -> training.Samples:
    return training.make_samples(1500, range(20, 27), seed=1)


def test_samples_hold_exact_values(samples: training.Samples) -> None:
    batch = training.batch_of(samples)
    assert len(batch) == 1500
    assert not batch.over.any()
    assert 20 <= batch.ply.min() <= batch.ply.max() <= 26
    for number in range(0, 1500, 100):
        position = batch.position(number)
        exact = Solver(position.layout).values(position)
        row = samples["values"][number]
        assert {cell: row[cell] for cell in exact} == exact
        assert np.count_nonzero(row != UNPROVEN) == len(exact)


def test_the_same_seed_gives_the_same_samples() -> None:
    one, same, other = (training.make_samples(50, range(22, 25), seed) for seed in (1, 1, 2))
    assert (one["black"] == same["black"]).all()
    assert (one["black"] != other["black"]).any()


def test_a_network_learns_what_is_exact(samples: training.Samples) -> None:
    batch = training.batch_of(samples)
    untrained = training.accuracy(training.Network(), batch, samples["values"])
    trained = training.accuracy(training.fit(samples, 20, seed=1), batch, samples["values"])
    assert trained > untrained + 0.1


def test_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("no file of ours")
    with pytest.raises(FormatError, match="is no whole file of samples"):
        training.read_samples(wrong)
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        training.read_samples(tmp_path / "missing")
    with pytest.raises(FormatError, match="cannot be read"):
        training.Network.load(wrong)
    np.savez(tmp_path / "old.npz", format=np.array(training.FORMAT), version=np.array(0))
    with pytest.raises(FormatError, match="expected kamon exact values, version 1"):
        training.read_samples(tmp_path / "old.npz")


def test_it_speaks_ugi(tmp_path: Path) -> None:
    network = training.Network()
    network.save(tmp_path / "net.pt")
    layout = Layout.shuffled(5)
    said = subprocess.run(
        [sys.executable, "-m", "kamon.env.training", "play", str(tmp_path / "net.pt")],
        input=f"ugi\nisready\nposition fen {format_layout(layout)}\ngo\nposition nonsense\nquit\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert said[2:4] == ["ugiok", "readyok"]
    cell = training.choose(training.Network.load(tmp_path / "net.pt"), Position(layout))
    assert cell in legal_cells(Position(layout))
    assert said[4] == format_bestmove(cell)
    assert said[5].startswith("info string error:")


def test_the_commands_of_the_tutorial_work(tmp_path: Path) -> None:
    (block,) = re.findall(
        r"^```sh\n(python -m.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    make, fit, match = block.strip().splitlines()
    quick = {make: " --count 300 --plies 22 25", fit: " --seconds 1", match: " --games 2"}
    environment = {"PATH": f"{KAMON.parent}:/usr/bin:/bin", "HOME": str(Path.home())}
    for command, options in quick.items():
        shortened = re.sub(r" --games \d+", "", command) + options
        done = subprocess.run(
            ["/bin/sh", "-c", shortened],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "2 games" in done.stdout or "of 2" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["make", "x.npz", "--plies", "33", "34"], "two numbers, 0 to 30, the lower one first"),
        (["make", "x.npz", "--plies", "28", "16"], "the lower one first"),
        (["make", "x.npz", "--count", "0"], "expected 1 or more"),
        (["make", "x.npz", "--seed", "-1"], "expected 0 or more"),
        (["make", "nowhere/x.npz"], "there is no folder nowhere"),
        (["fit", "x.npz", "nowhere/net.pt"], "there is no folder nowhere"),
    ],
)
def test_what_would_fail_late_is_refused_at_once(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        training.main(options)
    assert said in capsys.readouterr().err
