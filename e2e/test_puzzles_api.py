"""Puzzles over HTTP, as a program solves them."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from kamon import Layout, format_cell, format_layout, outcome, parse_line
from kamon.position import Side
from kamon.puzzles.making import play_game, proven_puzzle
from kamon.puzzles.missed import missed_move
from kamon.puzzles.puzzle import Puzzle
from kamon.web.engine.reviews import REVIEW_SECONDS
from kamon.web.puzzles.book import shipped
from kamon.web.puzzles.newcomers import UNRATED_TRIES
from web_server import TLS, Client, Server, serving, until

THREE_TURNS = next(each for each in shipped().values() if each.read().turns == 3)


def solve(client: Client, puzzle: Puzzle, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Play the solution, and return the last answer."""
    found, answer = [], {}
    for cell in puzzle.solution[::2]:
        found.append(format_cell(cell))
        tried = client.http.post(
            f"/api/puzzles/{puzzle.id}/moves", json={"moves": found, **more}
        ).raise_for_status()
        answer = tried.json()
        assert answer["right"]
    assert answer["done"]
    return dict(answer)


def miss(client: Client, puzzle: Puzzle, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    wrong = next(iter(puzzle.refutations[0]))
    body = {"moves": [format_cell(wrong)], **more}
    return dict(client.http.post(f"/api/puzzles/{puzzle.id}/moves", json=body).json())


def no_longer_new(client: Client) -> None:
    """Solve as many puzzles as are not rated."""
    for _ in range(UNRATED_TRIES):
        solve(client, shipped()[ask(client, "next")["id"]].read())


def ask(client: Client, path: str) -> dict[str, Any]:
    return dict(client.http.get(f"/api/puzzles/{path}").raise_for_status().json())


def test_the_first_puzzles_of_a_newcomer_are_easy_and_not_rated(ann: Client, bob: Client) -> None:
    kinds = []
    for number in range(UNRATED_TRIES):
        told = ask(ann, "next")
        assert told == ask(ann, told["id"])
        assert not told["rated"]
        assert told["goal"] in {"win", "defend"}
        kinds.append((told["goal"], told["turns"]))
        # Whether they are solved makes no difference.
        puzzle = shipped()[told["id"]].read()
        answer = miss(ann, puzzle) if number % 2 else solve(ann, puzzle)
        assert answer["change"] is None
        assert answer["result"] == ("missed" if number % 2 else "solved")
        assert answer["progress"]["rating"] == 1100
        assert (ask(bob, told["id"])["rating"], ask(bob, told["id"])["tries"]) == (
            puzzle.rating,
            0,
        )
    assert kinds == [("win", 1), ("win", 1), ("defend", 1), ("win", 2), ("win", 2)]
    told = ask(ann, "next")
    assert told["rated"]
    assert solve(ann, shipped()[told["id"]].read())["change"] > 0
    assert not ask(ann, told["id"])["rated"]
    assert not ask(bob, "next")["rated"]


def test_who_has_no_secret_is_not_rated_and_gets_any_puzzle(own_server: Server) -> None:
    with httpx.Client(base_url=own_server.address, verify=TLS, trust_env=False) as http:
        told = [http.get("/api/puzzles/next").json() for _ in range(20)]
    assert not any(each["rated"] for each in told)
    assert max(each["turns"] for each in told) > 1


def test_a_puzzle_is_solved_and_rated(ann: Client) -> None:
    no_longer_new(ann)
    told = ask(ann, "next")
    puzzle = shipped()[told["id"]].read()
    assert told["turns"] == puzzle.turns
    assert told["result"] is None
    assert "solution" not in told
    answer = solve(ann, puzzle)
    assert answer["change"] > 0
    assert answer["progress"]["solved"] == 1 + UNRATED_TRIES
    assert answer["progress"]["streak"] == 1 + UNRATED_TRIES
    assert answer["solution"]["solution"] == [format_cell(cell) for cell in puzzle.solution]
    game = parse_line(answer["solution"]["line"])
    assert game is not None
    assert outcome(game.position) is not None
    assert ask(ann, told["id"])["result"] == "solved"
    # Once more counts nothing.
    assert solve(ann, puzzle)["change"] is None
    assert ask(ann, "me")["solved"] == 1 + UNRATED_TRIES


def test_a_defence_is_over_after_one_move(ann: Client) -> None:
    puzzle = next(each for each in shipped().values() if "defend" in each.themes).read()
    told = ask(ann, puzzle.id)
    assert (told["goal"], told["turns"]) == ("defend", 1)
    wrong = miss(ann, puzzle)
    assert (wrong["value"], wrong["plies"]) == ("loss", 1)
    assert wrong["after"]["outcome"] is not None
    right = solve(ann, puzzle)
    assert right["reply"] is None
    assert right["board"]["outcome"] is None
    assert "defend" in right["solution"]["themes"]


def test_a_wrong_move_is_refuted(ann: Client) -> None:
    no_longer_new(ann)
    puzzle = THREE_TURNS.read()
    wrong, found = next(iter(puzzle.refutations[0].items()))
    answer = miss(ann, puzzle)
    assert not answer["right"]
    assert answer["change"] < 0
    assert found.reply is not None
    assert answer["reply"] == format_cell(found.reply)
    assert answer["board"]["last"] == format_cell(wrong)
    assert answer["after"]["last"] == answer["reply"]
    assert answer["solution"] is None
    assert ask(ann, puzzle.id)["result"] == "missed"


def test_hints_come_in_steps_and_the_later_ones_count(ann: Client) -> None:
    no_longer_new(ann)
    puzzle = THREE_TURNS.read()

    def hint(step: int) -> dict[str, Any]:
        body = {"moves": [], "step": step}
        return dict(ann.http.post(f"/api/puzzles/{puzzle.id}/hints", json=body).json())

    first = hint(1)
    assert first == {
        "themes": list(puzzle.themes),
        "cells": [],
        "change": None,
        "progress": None,
    }
    second = hint(2)
    assert len(second["cells"]) == 2
    assert format_cell(puzzle.solution[0]) in second["cells"]
    assert second["change"] < 0
    assert second["progress"]["missed"] == 1
    third = hint(3)
    assert third["cells"] == [format_cell(puzzle.solution[0])]
    assert third["change"] is None
    assert ask(ann, "me") | {"rating": 0} == {
        "rating": 0,
        "sure": False,
        "solved": UNRATED_TRIES,
        "missed": 1,
        "streak": 0,
        "best_streak": UNRATED_TRIES,
        "best_run": 0,
    }


def test_what_is_said_of_the_first_move_is_no_hint_for_the_next(ann: Client) -> None:
    puzzle = THREE_TURNS.read()
    body = {"moves": [format_cell(puzzle.solution[0])], "step": 1}
    told = ann.http.post(f"/api/puzzles/{puzzle.id}/hints", json=body).json()
    assert told["themes"]
    assert set(told["themes"]) <= {"link", "loop", "block", "draw"}


def test_how_the_first_try_ended_is_told_later_too(ann: Client) -> None:
    puzzle = THREE_TURNS.read()
    miss(ann, puzzle)
    assert solve(ann, puzzle)["result"] == "missed"


def test_everybody_has_the_same_puzzle_of_the_day(ann: Client, bob: Client) -> None:
    calendar = ask(ann, "days")
    today = calendar["days"][-1]
    assert today["date"] == calendar["today"]
    assert today["result"] is None
    mine, theirs = (ask(each, f"days/{today['date']}") for each in (ann, bob))
    assert mine == theirs
    assert mine["date"] == today["date"]
    solve(ann, shipped()[mine["id"]].read())
    assert ask(ann, "days")["days"][-1]["result"] == "solved"
    assert ask(bob, "days")["days"][-1]["result"] is None
    december = ask(ann, "days?month=2026-01")
    assert len(december["days"]) == 31


def test_a_run_is_counted_and_not_rated(ann: Client) -> None:
    assert ask(ann, "runs") == {"run": None}
    begun = ann.http.post("/api/puzzles/runs").json()
    first = shipped()[begun["puzzle"]["id"]].read()
    assert ask(ann, "runs")["run"]["puzzle"]["id"] == first.id
    hint = {"moves": [], "step": 3}
    refused = ann.http.post(f"/api/puzzles/{first.id}/hints", json=hint)
    assert refused.json()["code"] == "no-run"
    solved = solve(ann, first, run=True)
    assert solved["run"]["score"] == 1
    assert solved["change"] is None
    second = shipped()[solved["run"]["puzzle"]["id"]].read()
    assert second.id != first.id
    # Neither the same one again nor any other counts.
    for puzzle in (first, THREE_TURNS.read()):
        assert miss(ann, puzzle, run=True)["code"] == "no-run"
    missed = miss(ann, second, run=True)
    assert missed["run"]["misses"] == 1
    assert missed["run"]["left"] <= 170_000
    progress = ask(ann, "me")
    assert progress["best_run"] == 1
    assert progress["rating"] == 1100


def test_a_theme_can_be_chosen(ann: Client) -> None:
    for _ in range(5):
        told = ask(ann, "next?theme=corner")
        assert "corner" in shipped()[told["id"]].themes


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda http: http.get("/api/puzzles/zzzzzzzz"), "no-such-puzzle"),
        (lambda http: http.get("/api/puzzles/days/2099-01-01"), "no-such-day"),
        (lambda http: http.get("/api/puzzles/days/2026-02-30"), "no-such-day"),
        (lambda http: http.get("/api/puzzles/days/2025-12-31"), "no-such-day"),
        (lambda http: http.get("/api/puzzles/days?month=2099-01"), "no-such-day"),
        (lambda http: http.get("/api/puzzles/days?month=2026-13"), "bad-message"),
        (lambda http: http.get("/api/puzzles/next?theme=beauty"), "bad-message"),
        (
            lambda http: http.post(f"/api/puzzles/{THREE_TURNS.id}/moves", json={"moves": []}),
            "bad-message",
        ),
        (
            lambda http: http.post(
                f"/api/puzzles/{THREE_TURNS.id}/moves", json={"moves": ["a1", "a2"]}
            ),
            "bad-message",
        ),
        (
            lambda http: http.post(
                f"/api/puzzles/{THREE_TURNS.id}/hints", json={"moves": ["a1"], "step": 1}
            ),
            "bad-message",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    ann: Client, ask: Callable[[httpx.Client], httpx.Response], code: str
) -> None:
    assert ask(ann.http).json()["code"] == code


def lost_game() -> tuple[int, list[int], Side]:
    """Make a game in which the loser missed something late: its seed, its moves and the loser."""
    rng = Random(5)
    for seed in range(100):
        positions, moves = play_game(Layout.shuffled(seed), rng)
        end = outcome(positions[-1])
        if end is not None and end.winner is not None:
            loser = end.winner.other
            if missed_move(positions, moves, loser) is not None:
                return seed, moves, loser
    raise AssertionError("nobody missed anything")


def test_a_move_that_was_missed_is_found_again(ann: Client, bob: Client) -> None:
    assert ask(ann, "missed") == {"missed": None}
    seed, moves, loser = lost_game()
    game = ann.new(against="friend", side=loser.value, seed=str(seed))
    bob.do(game, "join", name="Bob")
    for ply, cell in enumerate(moves):
        mover = Side.BLACK if ply % 2 == 0 else Side.WHITE
        (ann if mover is loser else bob).do(game, "move", cell=format_cell(cell))
    missed = ask(ann, "missed")["missed"]
    assert missed["game"] == game
    assert missed["side"] == loser.value
    # Who won has missed nothing there.
    assert ask(bob, "missed") == {"missed": None}
    played = format_cell(moves[missed["ply"]])
    answers = {
        cell: ann.http.post(f"/api/puzzles/missed/{game}", json={"cell": cell}).json()
        for cell in missed["board"]["legal"]
    }
    assert not answers[played]["right"]
    assert any(answer["right"] for answer in answers.values())
    for answer in answers.values():
        assert answer["change"] is None
        assert answer["right"] == (answer["value"] == missed["goal"])


# White's last mistake is at ply 7, which is too early for a search from the end.
EARLY_MISTAKE = (
    "B5C4D2A4/B2E5B1B4C3/D4D3C6B3A2F6/E2F2C5--A5F1D5/C1A6B6A3F4D1/F5C2A1E6E1/F3E4E3D6 "
    "c6 a1 e4 e6 e5 f7 e2 c3 d5 c5 g7 c1 d6 e3 a4 f6 g6 f4 b5 c4 b2 e7 f5"
)


def review_up_to(client: Client, line: str, ply: int) -> None:
    """Ask for a review, and go away when it has a better move for a mistake."""
    with client.socket() as page:
        page.send(json.dumps({"type": "review", "line": line}))
        while True:
            told = json.loads(page.recv(timeout=REVIEW_SECONDS))
            turns = told.get("turns") or []
            if any(turn["ply"] == ply and turn["better"] for turn in turns):
                return
            assert not told.get("end"), told


def test_an_early_mistake_that_a_review_has_found_is_missed(ann: Client, bob: Client) -> None:
    layout, *moves = EARLY_MISTAKE.split()
    game = ann.new(against="friend", side="white", layout=layout)
    bob.do(game, "join", name="Bob")
    for ply, cell in enumerate(moves):
        (ann if ply % 2 else bob).do(game, "move", cell=cell)
    assert ask(ann, "missed") == {"missed": None}
    review_up_to(ann, EARLY_MISTAKE, 7)
    # What the review has found is kept when the page has gone.
    until(lambda: ask(ann, "missed")["missed"] is not None, "the mistake")
    missed = ask(ann, "missed")["missed"]
    assert (missed["game"], missed["ply"], missed["goal"]) == (game, 7, "draw")
    answers = {
        cell: ann.http.post(f"/api/puzzles/missed/{game}", json={"cell": cell}).json()
        for cell in ("c4", "c3")
    }
    assert answers["c4"]["right"]
    assert not answers["c3"]["right"]
    assert answers["c3"]["value"] == "loss"
    assert answers["c3"]["reply"] is not None


def test_forgetting_oneself_forgets_the_puzzles(ann: Client) -> None:
    solve(ann, THREE_TURNS.read())
    assert ask(ann, "me")["solved"] == 1
    ann.http.delete("/api/identity")
    assert ask(ann, "me")["solved"] == 0


def new_puzzle() -> tuple[list[int], Puzzle]:
    """Make a game with a puzzle in it that does not come with the program."""
    rng = Random(6)
    for seed in range(200):
        positions, moves = play_game(Layout.shuffled(seed), rng)
        puzzle = proven_puzzle(positions, moves)
        if puzzle is not None:
            return moves, puzzle
    raise AssertionError("no game has a puzzle")


def test_puzzles_are_found_in_finished_games_at_night(tmp_path: Path) -> None:
    moves, puzzle = new_puzzle()
    with serving(tmp_path, "--night", "0-24", *Server.OPTIONS) as server:
        with Client(server) as ann:
            game = ann.new(against="self", layout=format_layout(puzzle.layout))
            for cell in moves:
                ann.do(game, "move", cell=format_cell(cell))
            assert ann.http.get(f"/api/puzzles/{puzzle.id}").status_code == 404
        # It looks at once when it starts, and then every ten minutes.
        server.stop()
        server.start()
        with Client(server) as bob:
            until(
                lambda: bob.http.get(f"/api/puzzles/{puzzle.id}").status_code == 200, "the puzzle"
            )
            no_longer_new(bob)
            assert solve(bob, puzzle)["change"] > 0
