"""Questions that wait for the same model are answered in one call, each with its own answer."""

import asyncio
import threading

import pytest

from labelkin.service import Limits
from labelkin.service.messages import ProblemError
from labelkin.service.work import WorkerPool


@pytest.fixture
def pool():
    made = WorkerPool(Limits())
    yield made
    made.close()
    assert made.taken == 0


class Model:
    """Doubles numbers after it was opened, and records which were asked together."""

    def __init__(self):
        self.asked, self.entered, self.open = [], threading.Event(), threading.Event()

    def double(self, numbers):
        self.asked.append(list(numbers))
        self.entered.set()
        assert self.open.wait(10)
        if -1 in numbers:
            raise ProblemError(422, "negative", "no")
        return [2 * number for number in numbers]


def ask(pool, model, *numbers):
    """Ask 0, then the numbers while the model is busy with 0."""

    async def one_before_the_others():
        first = asyncio.ensure_future(pool.do_together(Model.double, model, 0))
        await asyncio.to_thread(model.entered.wait, 10)
        others = [
            asyncio.ensure_future(pool.do_together(Model.double, model, number))
            for number in numbers
        ]
        await asyncio.sleep(0)
        model.open.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    return asyncio.run(one_before_the_others())


def test_questions_that_wait_for_a_busy_model_share_one_call(pool):
    model = Model()
    assert ask(pool, model, 3, 1, 2) == [0, 6, 2, 4]
    assert model.asked == [[0], [3, 1, 2]]


def test_an_error_concerns_only_its_own_question(pool):
    _, one, wrong, two = ask(pool, Model(), 1, -1, 2)
    assert (one, two) == (2, 4)
    assert isinstance(wrong, ProblemError) and wrong.status == 422


def test_a_busy_model_does_not_delay_another(pool):
    busy, free = Model(), Model()
    free.open.set()

    async def both():
        first = asyncio.ensure_future(pool.do_together(Model.double, busy, 1))
        await asyncio.to_thread(busy.entered.wait, 10)
        assert await pool.do_together(Model.double, free, 2) == 4
        busy.open.set()
        return await first

    assert asyncio.run(both()) == 2


def test_questions_that_wait_count_as_taken_and_have_a_time_limit():
    pool, model = WorkerPool(Limits(workers=1, waiting=1, seconds=0.05)), Model()

    async def three():
        asked = [pool.do_together(Model.double, model, number) for number in (1, 2, 3)]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert sorted(one.status for one in asyncio.run(three())) == [503, 504, 504]
    model.open.set()
    pool.close()
    assert pool.taken == 0


def test_a_question_whose_time_is_over_is_not_answered():
    pool, model = WorkerPool(Limits(seconds=0.05)), Model()

    async def one_after_the_other():
        first = asyncio.ensure_future(pool.do_together(Model.double, model, 0))
        await asyncio.to_thread(model.entered.wait, 10)
        late = pool.do_together(Model.double, model, 1)
        return await asyncio.gather(first, late, return_exceptions=True)

    assert [one.status for one in asyncio.run(one_after_the_other())] == [504, 504]
    model.open.set()
    pool.close()
    assert [0] in model.asked and [1] not in model.asked


def test_a_closed_pool_rejects_every_question():
    pool = WorkerPool(Limits())
    pool.close()
    for number in (1, 2):
        with pytest.raises(ProblemError, match="shutting down"):
            asyncio.run(pool.do_together(Model.double, Model(), number))
    assert pool.taken == 0
