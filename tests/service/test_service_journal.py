"""The journal keeps what it is given, all of it or none, and leaves other files alone."""

import json
import os
import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelkin.service import journal as journal_module
from labelkin.service import read_journal
from labelkin.service.journal import Entry, Journal, Mark
from labelkin.service.journal_file import explained

pytestmark = pytest.mark.xdist_group("service")
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
labels = st.lists(texts).map(tuple)
entries = st.builds(Entry, st.just("m"), texts, labels, labels, origin=st.just(""))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


@pytest.fixture
def journal(path):
    made = Journal(path)
    yield made
    made.close()


def rows(path):
    """Read the file by SQLite alone."""
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT text, accepted, rejected FROM documents ORDER BY id")
        return [(text, json.loads(yes), json.loads(no)) for text, yes, no in found]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(given=st.lists(st.lists(entries, max_size=4), max_size=4))
def test_what_goes_in_comes_out_in_order(tmp_path_factory, given):
    path = tmp_path_factory.mktemp("journal") / "journal.sqlite"
    journal = Journal(path)
    ids = [number for batch in given for number in journal.append(batch).result()]
    journal.close()
    flat = [entry for batch in given for entry in batch]
    assert ids == list(range(1, len(flat) + 1))
    assert rows(path) == [(e.text, list(e.accepted), list(e.rejected)) for e in flat]
    documents, label_sets, mark = read_journal(path)
    assert documents == [entry.text for entry in flat]
    assert label_sets == [entry.accepted for entry in flat]
    assert mark.last == len(flat)


def test_an_answer_means_that_another_process_can_read_it(journal, path):
    (number,) = journal.append([Entry("m", "text", ("a",))]).result()
    assert rows(path) == [("text", ["a"], [])]
    assert number == 1


def test_it_is_written_through_to_the_disk(journal):
    with sqlite3.connect(journal.path) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert journal._database.execute("PRAGMA synchronous").fetchone() == (2,)


def test_documents_that_wait_share_a_commit(path, monkeypatch):
    """While one batch is being written, all others wait; they go together."""
    began, may_go_on, commits = Future(), Future(), []
    real = journal_module.insert

    def slow(database, entries):
        if not began.done():
            began.set_result(None)
            may_go_on.result(timeout=10)
        return real(database, entries)

    monkeypatch.setattr(journal_module, "insert", slow)
    journal = Journal(path)
    journal.listen(commits.append)
    futures = [journal.append([Entry("m", "0", ())])]
    began.result(timeout=10)
    futures += [journal.append([Entry("m", str(i), ())]) for i in range(1, 50)]
    assert not any(future.done() for future in futures)
    may_go_on.set_result(None)
    wait(futures, timeout=10)
    journal.close()
    assert [len(commit) for commit in commits] == [1, 49]
    assert [future.result() for future in futures] == [[i + 1] for i in range(50)]


def test_nobody_is_answered_before_the_commit(path, monkeypatch):
    real, known, answered = journal_module.insert, Future(), []

    def watched(database, entries):
        ids = real(database, entries)
        assert database.in_transaction
        answered.append(known.result(timeout=10).done())
        return ids

    monkeypatch.setattr(journal_module, "insert", watched)
    journal = Journal(path)
    future = journal.append([Entry("m", "text", ())])
    known.set_result(future)
    assert future.result(timeout=10) == [1]
    journal.close()
    assert answered == [False]


def test_a_batch_is_written_whole_or_not_at_all(journal, path):
    with pytest.raises(UnicodeEncodeError):
        journal.append([Entry("m", "good", ()), Entry("m", "half \ud800", ())]).result()
    assert journal.append([Entry("m", "after", ())]).result()
    assert [text for text, _, _ in rows(path)] == ["after"]
    assert journal.n_documents == {"m": 1}


def test_nobody_is_answered_when_the_disk_is_full(path, monkeypatch):
    def full(database, entries):
        raise sqlite3.OperationalError("database or disk is full")

    journal = Journal(path)
    heard = []
    journal.listen(heard.append)
    monkeypatch.setattr(journal_module, "insert", full)
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        journal.append([Entry("m", "text", ())]).result()
    journal.close()
    assert heard == []
    assert rows(path) == []


def test_closing_writes_what_waits(path):
    journal = Journal(path)
    futures = [journal.append([Entry("m", str(i), ())]) for i in range(500)]
    journal.close()
    assert all(future.done() for future in futures)
    assert len(rows(path)) == 500
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        journal.append([Entry("m", "late", ())]).result()


def test_who_no_longer_waits_is_left_out(path, monkeypatch):
    journal = Journal(path)
    gone: Future = Future()
    gone.cancel()
    monkeypatch.setattr(journal_module, "Future", lambda: gone)
    journal.append([Entry("m", "gone", ())])
    monkeypatch.undo()
    journal.append([Entry("m", "here", ())]).result()
    journal.close()
    assert [text for text, _, _ in rows(path)] == ["here"]


def test_replay_is_by_model_and_after_the_mark(journal, path):
    journal.append([Entry(model, str(i), ()) for i, model in enumerate("abab")]).result()
    mark = read_journal(path).mark
    journal.append([Entry("a", "late", ())]).result()
    assert [entry.text for entry in journal.replay("a")] == ["0", "2", "late"]
    assert [entry.text for entry in journal.replay("a", after=mark)] == ["late"]
    other = Mark("another journal", 4)
    assert [entry.text for entry in journal.replay("b", after=other)] == ["1", "3"]
    assert read_journal(path, model="b").documents == ["1", "3"]


def test_what_is_not_committed_is_not_replayed(path, monkeypatch):
    """One connection would show its own half-written documents: its lock keeps readers out."""
    inserted, may_go_on = Future(), Future()
    real = journal_module.insert

    def slow(database, entries):
        real(database, entries)
        inserted.set_result(None)
        may_go_on.result(timeout=10)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(journal_module, "insert", slow)
    journal = Journal(path)
    failed = journal.append([Entry("m", "lost", ())])
    inserted.result(timeout=10)
    with ThreadPoolExecutor(1) as reader:
        replayed = reader.submit(journal.replay, "m")
        assert not wait([replayed], timeout=0.2).done
        may_go_on.set_result(None)
        assert replayed.result(timeout=10) == []
    with pytest.raises(sqlite3.OperationalError):
        failed.result(timeout=10)
    journal.close()


def test_it_goes_on_where_it_ended(path):
    for i in range(3):
        journal = Journal(path)
        assert journal.n_documents.total() == i
        journal.append([Entry("m", str(i), ())]).result()
        journal.close()
    assert [text for text, _, _ in rows(path)] == ["0", "1", "2"]


def damaged(path):
    path.write_bytes(b"This is no database. " * 100)


def foreign(path):
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")


def newer(path):
    Journal(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version=9")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (damaged, "is no journal of labelkin: file is not a database"),
        (foreign, "is an SQLite file, but no journal of labelkin"),
        (newer, "has format 9, and this version knows 2"),
    ],
)
def test_files_that_are_no_journals_are_an_error_and_left_alone(path, make, reason):
    make(path)
    before = path.read_bytes()
    for opened in (Journal, read_journal):
        with pytest.raises(ValueError, match=reason):
            opened(path)
    assert path.read_bytes() == before


def test_a_missing_journal_is_not_made_by_reading(path):
    with pytest.raises(FileNotFoundError, match="There is no journal at"):
        read_journal(path)
    assert not path.exists()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="Its folder must exist"):
        Journal(tmp_path / "nowhere" / "journal.sqlite")


def test_reading_needs_none_of_the_web():
    import subprocess
    import sys

    program = "import sys, labelkin.service; print({'fastapi', 'uvicorn'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "set()"


def test_a_journal_that_was_moved_deleted_or_replaced_acknowledges_nothing(journal, path, tmp_path):
    journal.append([Entry("m", "kept", ())]).result()
    for file in (path, path.with_name(path.name + "-wal")):
        away = file.rename(tmp_path / "away")
        for entries in ([Entry("m", "lost", ())], []):
            with pytest.raises(OSError, match="was moved, deleted or replaced") as caught:
                journal.append(entries).result()
            assert caught.value.filename == str(file)
        file.write_bytes(away.read_bytes())
        with pytest.raises(OSError, match="was moved, deleted or replaced"):
            journal.append([Entry("m", "lost", ())]).result()
        away.replace(file)
    assert journal.append([Entry("m", "again", ())]).result() == [2]
    assert read_journal(path).documents == ["kept", "again"]


def test_a_file_that_vanishes_during_the_commit_is_noticed(journal, path, monkeypatch):
    real = journal_module.insert

    def deleting(database, entries):
        path.unlink()
        return real(database, entries)

    monkeypatch.setattr(journal_module, "insert", deleting)
    with pytest.raises(OSError, match="was moved, deleted or replaced"):
        journal.append([Entry("m", "lost", ())]).result()


def test_one_journal_has_one_writer(journal, path):
    with pytest.raises(ValueError, match=r"One service writes a journal, and .* by another"):
        Journal(path)
    import subprocess
    import sys

    program = "import sys; from pathlib import Path; from labelkin.service.journal import Journal\n"
    program += "try: Journal(Path(sys.argv[1]))\nexcept ValueError as error: print(error)"
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    assert "is being written by another" in done.stdout
    assert journal.append([Entry("m", "ours", ())]).result() == [1]
    assert read_journal(path).documents == ["ours"]
    journal.close()
    Journal(path).close()


def test_a_second_opening_takes_no_lock_from_the_first(journal, path):
    """Else a reader that ends would count as the last, and SQLite remove the log under us."""
    journal.append([Entry("m", "before", ())]).result()
    with pytest.raises(ValueError, match="is being written by another"):
        Journal(path)
    import subprocess
    import sys

    program = "import sys; from labelkin.service import read_journal; read_journal(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, path], check=True)
    assert journal.append([Entry("m", "after", ())]).result() == [2]
    assert read_journal(path).documents == ["before", "after"]


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ("attempt to write a readonly database", ValueError, "must be ours to write"),
        ("database is locked", ValueError, "is locked by another program"),
        ("database or disk is full", OSError, "cannot be written"),
        ("disk I/O error", OSError, "cannot be written"),
        ("database disk image is malformed", ValueError, "is damaged"),
    ],
)
def test_what_sqlite_says_names_the_file_and_only_damage_is_called_so(path, said, kind, reason):
    with pytest.raises(kind, match=reason) as caught, explained(path):
        raise sqlite3.OperationalError(said)
    assert str(path) in str(caught.value)
    assert ("damaged" in str(caught.value)) == (reason == "is damaged")


def test_only_its_owner_may_read_a_journal(journal, path):
    journal.append([Entry("m", "secret", ())]).result()
    for file in path.parent.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file


def test_whether_it_can_be_written_is_tried(journal, path):
    """A full disk: SQLite may have no further page."""
    journal.append([Entry("m", "x" * 20_000, ())]).result()
    journal._fresh_until = 0.0
    assert journal.append([]).result() == []
    (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
    journal._database.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.append([Entry("m", "y" * 50_000, ())]).result()
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.append([]).result()
    journal._database.execute("PRAGMA max_page_count=10000")
    assert journal.append([]).result() == []
    assert journal.append([Entry("m", "y" * 50_000, ())]).result() == [2]


def test_a_journal_has_a_greatest_size(path):
    journal = Journal(path, most_bytes=100_000)
    with pytest.raises(OSError, match="may have 100000 bytes"):
        for _ in range(20):
            journal.append([Entry("m", "z" * 20_000, ())]).result()
    assert journal.append([]).result() == []
    journal.close()


def test_what_is_no_ordinary_file_is_no_journal(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ValueError, match="is an ordinary file"):
        Journal(tmp_path / "fifo")


def test_labels_are_replayed_without_the_texts(journal):
    journal.append([Entry("m", "long" * 1000, ("a", "b"), ("c",))]).result()
    assert journal.replay("m", texts=False) == [Entry("m", "", ("a", "b"), ("c",))]


def test_what_comes_again_from_its_origin_is_not_written_again(tmp_path):
    from labelkin.service.journal import Withdrawal

    heard = []
    journal = Journal(tmp_path / "journal.sqlite")
    journal.listen(lambda entries: heard.append(len(entries)), lambda: heard.append("anew"))
    try:
        first = Entry("news", "text", ("a",), (), "studio 1")
        (number,) = journal.append([first]).result(10)
        assert journal.append([first]).result(10) == [number]
        (later,) = journal.append([first._replace(accepted=("b",))]).result(10)
        assert later > number
        assert journal.append([Withdrawal("news", "studio 1")]).result(10) == [later]
        assert journal.append([Withdrawal("news", "studio 1")]).result(10) == [0]
        assert journal.replay("news") == []
        assert journal.n_documents["news"] == 0
        twice = [first, first._replace(accepted=("c",)), Entry("news", "text", ("a",))]
        journal.append(twice).result(10)
        assert [entry.accepted for entry in journal.replay("news")] == [("c",), ("a",)]
        assert journal.n_documents["news"] == 2
    finally:
        journal.close()
    assert heard == [1, 0, "anew", "anew", 0, 2]
    assert read_journal(journal.path).label_sets == [("c",), ("a",)]
