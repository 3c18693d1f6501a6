"""Questions of one moment are answered in one go, each with its own answer or error."""

import asyncio

import pytest

from labelkin.service import Limits
from labelkin.service.messages import ProblemError
from labelkin.service.work import Cost, WorkerPool


@pytest.fixture
def pool():
    made = WorkerPool(Limits())
    yield made
    made.close()


class Model:
    """Doubles numbers, and notes which it was asked about together."""

    def __init__(self):
        self.asked = []

    def double(self, numbers):
        self.asked.append(list(numbers))
        if -1 in numbers:
            raise ProblemError(422, "negative", "no")
        return [2 * number for number in numbers]


def quick():
    cost = Cost()
    cost.timed(1, lambda: None)
    return cost


def ask(pool, cost, model, *numbers, size=10):
    async def all_at_once():
        work = (pool.do_together(cost, size, Model.double, model, number) for number in numbers)
        return await asyncio.gather(*work, return_exceptions=True)

    return asyncio.run(all_at_once())


def test_questions_of_a_moment_are_answered_in_one_go(pool):
    model = Model()
    assert ask(pool, quick(), model, 3, 1, 2) == [6, 2, 4]
    assert model.asked == [[3, 1, 2]]


def test_so_many_at_a_time(pool):
    model = Model()
    assert ask(pool, quick(), model, *range(150)) == [2 * i for i in range(150)]
    assert [len(asked) for asked in model.asked] == [64, 64, 22]


def test_an_error_is_that_of_one_question(pool):
    model = Model()
    one, wrong, two = ask(pool, quick(), model, 1, -1, 2)
    assert (one, two) == (2, 4)
    assert isinstance(wrong, ProblemError) and wrong.status == 422


def test_a_question_nobody_waits_for_is_left_out(pool):
    model, cost = Model(), quick()

    async def one_leaves():
        leaving = asyncio.ensure_future(pool.do_together(cost, 1, Model.double, model, 1))
        staying = asyncio.ensure_future(pool.do_together(cost, 1, Model.double, model, 2))
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert asyncio.run(one_leaves()) == 4
    assert model.asked in ([[2]], [[1, 2]])


def test_questions_to_two_models_are_not_mixed(pool):
    first, second, cost = Model(), Model(), quick()

    async def both():
        return await asyncio.gather(
            *(pool.do_together(cost, 1, Model.double, model, 1) for model in (first, second))
        )

    assert asyncio.run(both()) == [2, 2]
    assert first.asked == second.asked == [[1]]


def test_long_texts_and_unknown_costs_go_to_threads(pool):
    model = Model()
    assert ask(pool, quick(), model, 1, 2, size=1_000_000) == [2, 4]
    assert sorted(model.asked) == [[1], [2]]
    assert ask(pool, Cost(), model, 3) == [6]


def test_a_loop_after_another(pool):
    model, cost = Model(), quick()
    for _ in range(3):
        assert ask(pool, cost, model, 5) == [10]
