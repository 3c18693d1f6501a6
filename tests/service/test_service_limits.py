"""Too much at a time is answered, each kind with its problem; what was taken is finished."""

import asyncio
import threading

import pytest
from live_server import serving, wait_until

from labelkin.service import Limits
from labelkin.service.messages import ProblemError
from labelkin.service.work import WorkerPool

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(scope="module")
def small(news_file, tmp_path_factory):
    journal = tmp_path_factory.mktemp("small") / "journal.sqlite"
    limits = Limits(text_characters=100, batch_documents=3, known_labels=2, label_characters=30)
    with serving(news_file, journal=journal, limits=limits) as client:
        yield client


def kind(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["type"].removeprefix("urn:labelkin:problem:")


LONG = {"text": "x" * 101}


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("/api/models/news/suggest", LONG, (413, "text-too-long")),
        ("/api/models/news/explain", {**LONG, "label": "gas"}, (413, "text-too-long")),
        ("/api/models/news/documents", LONG, (413, "text-too-long")),
        ("/v1/projects/news/suggest-batch", {"documents": [LONG]}, (413, "text-too-long")),
        ("/v1/projects/news/learn", [{**LONG, "subjects": []}], (413, "text-too-long")),
        (
            "/v1/projects/news/suggest-batch",
            {"documents": [{"text": ""}] * 4},
            (413, "batch-too-large"),
        ),
        (
            "/v1/projects/news/learn",
            [{"text": "", "subjects": []}] * 4,
            (413, "batch-too-large"),
        ),
        (
            "/api/models/news/suggest",
            {"text": "", "accepted": ["gas", "wheat", "corn"]},
            (422, "too-many-labels"),
        ),
        (
            "/v1/projects/news/learn",
            [{"text": "", "subjects": [{"uri": "y" * 31}]}],
            (422, "label-too-long"),
        ),
        (
            "/api/models/news/documents",
            {"text": "", "rejected": ["y" * 31]},
            (422, "label-too-long"),
        ),
    ],
)
def test_each_bound_has_its_problem(small, path, body, problem):
    assert kind(small.post(path, json=body)) == problem
    assert small.get("/api/models/news/journal").json()["documents"] == 0


def test_a_long_form_is_a_problem(small):
    assert kind(small.post("/v1/projects/news/suggest", data=LONG)) == (413, "text-too-long")


@pytest.mark.parametrize("limits", [{"workers": 0}, {"waiting": -1}, {"seconds": float("nan")}])
def test_limits_must_make_sense(limits):
    (name,) = limits
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        Limits(**limits)


class Door:
    """Work that takes as long as the test wants."""

    def __init__(self):
        self.entered, self.open = threading.Semaphore(0), threading.Event()

    def work(self):
        self.entered.release()
        assert self.open.wait(10)
        return "done"


def test_who_comes_when_all_is_taken_is_sent_away_at_once():
    async def story():
        door, pool = Door(), WorkerPool(Limits(workers=2, waiting=1))
        tasks = [asyncio.create_task(pool.do(door.work)) for _ in range(3)]
        await asyncio.to_thread(door.entered.acquire)
        with pytest.raises(ProblemError, match="At most 3 requests") as busy:
            await pool.do(door.work)
        assert (busy.value.status, busy.value.headers) == (503, {"Retry-After": "1"})
        door.open.set()
        assert await asyncio.gather(*tasks) == ["done"] * 3
        assert await pool.do(door.work) == "done"
        pool.close()
        assert pool.taken == 0

    asyncio.run(story())


def test_what_takes_too_long_is_a_problem_and_keeps_its_place_until_it_ends():
    async def story():
        door, pool = Door(), WorkerPool(Limits(workers=1, waiting=0, seconds=0.05))
        with pytest.raises(ProblemError, match=r"within 0\.05 s") as late:
            await pool.do(door.work)
        assert late.value.status == 504
        with pytest.raises(ProblemError) as busy:
            await pool.do(door.work)
        assert busy.value.status == 503
        door.open.set()
        pool.close()
        assert pool.taken == 0

    asyncio.run(story())


def test_what_waits_when_its_time_is_over_is_never_begun():
    async def story():
        door, pool = Door(), WorkerPool(Limits(workers=1, waiting=1, seconds=0.05))
        tasks = [asyncio.create_task(pool.do(door.work)) for _ in range(2)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [result.status for result in results] == [504, 504]
        door.open.set()
        pool.close()
        assert door.entered.acquire(blocking=False)
        assert not door.entered.acquire(blocking=False)

    asyncio.run(story())


def test_faults_of_the_work_come_through():
    def work():
        raise ZeroDivisionError("here")

    async def story():
        pool = WorkerPool(Limits())
        with pytest.raises(ZeroDivisionError, match="here"):
            await pool.do(work)
        pool.close()
        with pytest.raises(ProblemError, match="shutting down"):
            await pool.do(work)
        assert pool.taken == 0

    asyncio.run(story())


def test_a_fault_of_ours_is_a_problem_without_details(news_file, tmp_path, monkeypatch):
    from labelkin.service import answers

    def work(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(answers, "suggest", work)
    with serving(news_file, journal=tmp_path / "journal.sqlite") as client:
        answer = client.post("/api/models/news/suggest", json={"text": "a"})
        assert kind(answer) == (500, "fault")
        assert "secret" not in answer.text
        assert 'status="500"} 1.0' in client.get("/metrics").text


def test_many_at_once_beyond_the_bound_get_503_and_the_others_an_answer(
    news_file, tmp_path, monkeypatch
):
    from labelkin.service import answers

    door = Door()
    monkeypatch.setattr(answers, "suggest", lambda *_: door.work())
    limits = Limits(workers=1, waiting=1)
    with serving(news_file, journal=tmp_path / "journal.sqlite", limits=limits) as client:
        request = {"url": "/api/models/news/suggest", "json": {"text": ""}}
        threads = [threading.Thread(target=client.post, kwargs=request) for _ in range(2)]
        for thread in threads:
            thread.start()
        door.entered.acquire()
        wait_until(lambda: "labelkin_requests_in_work 2.0" in client.get("/metrics").text)
        answer = client.post(**request)
        assert kind(answer) == (503, "busy")
        assert answer.headers["retry-after"] == "1"
        door.open.set()
        for thread in threads:
            thread.join()
