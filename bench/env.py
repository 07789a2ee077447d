"""Speed of the doors for researchers, as ratios within one run, in CPU time.

Random games in batches against OpenSpiel's Havannah of the same board, which is C++: both play to
the end without Python between the moves. Steps in batches against PGX's Hex, compiled by JAX: both
choose a random legal action, play it, and begin again where a game is over. And our PettingZoo
environment beside PettingZoo's own connect_four.
"""

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import jax
import numpy as np
import pgx.experimental
import pyspiel
from pettingzoo.classic import connect_four_v3

from kamon.env import kamon_v0
from kamon.env.batch import Batch

SECONDS = 2.0
ROUNDS = 5
BATCH = 1024
GAMES = 8192
STEPS = 50


def speed(work: Callable[[], int]) -> float:
    """Return what is done per second of this process's CPU time; ``work`` counts it."""
    work()
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        count += work()
    return count / spent


def havannah_games() -> Callable[[], int]:
    """Play random games with OpenSpiel's own evaluator, in C++ from the first move to the last."""
    game = pyspiel.load_game("havannah(board_size=4)")
    evaluator = pyspiel.RandomRolloutEvaluator(GAMES, 1)
    # One simulation of a tree search evaluates the root, by so many games.
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)  # noqa: FBT003
    start = game.new_initial_state()

    def work() -> int:
        bot.mcts_search(start)
        return GAMES

    return work


def kamon_games() -> Callable[[], int]:
    """Play one random game on each of many layouts, set up anew each time."""
    seeds = iter(range(0, 1 << 60, GAMES))

    def work() -> int:
        first = next(seeds)
        return int(Batch.start(layouts, GAMES).playouts(1, first).sum())

    layouts = Batch.shuffled(range(GAMES)).layouts
    return work


def hex_steps(*, observed: bool) -> Callable[[], int]:
    """Step PGX's Hex, a whole scan of steps in one compiled function."""
    environment = pgx.make("hex")
    step = pgx.experimental.auto_reset(environment.step, environment.init)

    def one(state: Any, key: Any) -> tuple[Any, Any]:  # noqa: ANN401 - JAX's
        choose, play = jax.random.split(key)
        chances = jax.numpy.log(state.legal_action_mask.astype("float32"))
        actions = jax.random.categorical(choose, chances, axis=-1)
        state = jax.vmap(step)(state, actions, jax.random.split(play, BATCH))
        return state, state.observation.sum() if observed else None

    run = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, STEPS)))
    state = jax.jit(jax.vmap(environment.init))(jax.random.split(jax.random.PRNGKey(0), BATCH))
    keys = iter(range(1 << 30))

    def work() -> int:
        nonlocal state
        state, _ = jax.block_until_ready(run(state, jax.random.PRNGKey(next(keys))))
        return BATCH * STEPS

    return work


def kamon_steps(*, observed: bool) -> Callable[[], int]:
    """Step a batch: a random move each, legal masks, and a new game where one is over."""
    rng = np.random.default_rng(1)
    batch = Batch.shuffled(range(BATCH))

    def work() -> int:
        nonlocal batch
        for _ in range(STEPS):
            batch = batch.play_random(rng).restart()
            batch.legal_mask()
            if observed:
                batch.observations()
        return BATCH * STEPS

    return work


def pettingzoo_steps(make: Callable[[], Any]) -> Callable[[], int]:
    """Play random games in a PettingZoo environment with its wrappers."""

    def walk() -> Iterator[None]:
        environment, rng = make(), Random(1)
        while True:
            environment.reset(seed=rng.randrange(1 << 30))
            for _ in environment.agent_iter():
                seen, _, done, _, _ = environment.last()
                legal = np.flatnonzero(seen["action_mask"])
                environment.step(None if done else int(rng.choice(legal)))
                yield

    steps = walk()

    def work() -> int:
        for _ in range(STEPS):
            next(steps)
        return STEPS

    return work


def best(makers: dict[str, Callable[[], int]]) -> dict[str, float]:
    """Measure in turns, so that a busy moment of the machine hits all alike; keep the best."""
    rounds = [{name: speed(work) for name, work in makers.items()} for _ in range(ROUNDS)]
    return {name: max(each[name] for each in rounds) for name in makers}


def main() -> None:
    """Print the table of docs/benchmarks.md."""
    games = best({"ours": kamon_games(), "theirs": havannah_games()})
    plain = best({"ours": kamon_steps(observed=False), "theirs": hex_steps(observed=False)})
    seen = best({"ours": kamon_steps(observed=True), "theirs": hex_steps(observed=True)})
    zoo = best(
        {
            "ours": pettingzoo_steps(kamon_v0.env),
            "theirs": pettingzoo_steps(connect_four_v3.env),
        }
    )
    print("| what, per CPU second | Kamon | compared with | ratio | target |")
    print("|---|---|---|---|---|")
    row("random games in batches; OpenSpiel `havannah(board_size=4)`, C++", games, "8, aim 12")
    row(f"steps in batches of {BATCH:,}; PGX `hex`", plain, "5, aim 20")
    row("the same, with observations", seen, "")
    row("steps in PettingZoo; its `connect_four_v3`", zoo, "")


def row(what: str, speeds: dict[str, float], target: str) -> None:
    """Print one comparison."""
    ratio = speeds["ours"] / speeds["theirs"]
    print(f"| {what} | {speeds['ours']:,.0f} | {speeds['theirs']:,.0f} | {ratio:.1f} | {target} |")


if __name__ == "__main__":
    main()
