"""Saved work: acknowledged entries are on the disk, damage and moved files are errors."""

import json
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from labelkin.curation.corrections import Decision
from labelkin.curation.saved_work import (
    Entry,
    Mark,
    SavedWork,
    Withdrawal,
    back_up,
    check_saved_work,
    export_documents,
    read_answers,
    read_saved_documents,
)

ENTRIES = [
    Entry("news", f"Text {i} of Zürich. " + "gas " * (i % 40), ("gas", f"l{i % 5}"), ("tea",))
    for i in range(200)
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "news.saved.sqlite"


@pytest.fixture
def saved(path):
    made = SavedWork(path)
    yield made
    made.close()


@pytest.fixture
def written(path):
    """A closed file with 200 documents."""
    saved = SavedWork(path)
    saved.save(ENTRIES)
    saved.close()
    return path


def rows(path):
    """Read the file with SQLite alone."""
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT text, accepted, rejected FROM documents ORDER BY id")
        return [(text, json.loads(yes), json.loads(no)) for text, yes, no in found]


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_saved_entries_are_synchronised_to_the_disk_and_visible_to_other_processes(saved, path):
    assert saved.save([Entry("m", "text", ("a",))]) == [1]
    assert rows(path) == [("text", ["a"], [])]
    assert saved._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert saved._database.execute("PRAGMA synchronous").fetchone() == (2,)


def test_entries_are_saved_whole_or_not_at_all(saved, path):
    with pytest.raises(UnicodeEncodeError):
        saved.save([Entry("m", "good", ()), Entry("m", "half \ud800", ())])
    assert saved.save([Entry("m", "after", ())])
    assert [text for text, _, _ in rows(path)] == ["after"]
    assert saved.count("m") == 1


def test_threads_that_wait_share_a_transaction(saved, path, monkeypatch):
    n_transactions, save_waiting = [], SavedWork._save_waiting

    def slow(*args):
        n_transactions.append(1)
        time.sleep(0.02)
        save_waiting(*args)

    monkeypatch.setattr(SavedWork, "_save_waiting", slow)
    with ThreadPoolExecutor(20) as threads:
        numbers = list(threads.map(lambda i: saved.save([Entry("m", str(i), ())]), range(100)))
    assert [texts for texts, _, _ in sorted(rows(path))] == sorted(map(str, range(100)))
    assert sorted(number for (number,) in numbers) == list(range(1, 101))
    assert len(n_transactions) < 100


def test_a_full_disk_is_an_error_and_loses_nothing(saved, path):
    saved.save([Entry("m", "x" * 20_000, ())])
    (pages,) = saved._database.execute("PRAGMA page_count").fetchone()
    saved._database.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(OSError, match="full") as caught:
        saved.save([Entry("m", "y" * 50_000, ())])
    assert caught.value.filename == str(path)
    saved._database.execute("PRAGMA max_page_count=10000")
    assert saved.save([Entry("m", "z" * 50_000, ())]) == [2]
    assert [text[0] for text in read_saved_documents(path).documents] == ["x", "z"]


def test_a_read_only_file_is_an_error_and_loses_nothing(saved, path):
    saved.save([Entry("m", "kept", ())])
    saved._database.execute("PRAGMA query_only=1")
    with pytest.raises(OSError, match="readonly") as caught:
        saved.save([Entry("m", "lost", ())])
    assert caught.value.filename == str(path)
    assert read_saved_documents(path).documents == ["kept"]


def test_entries_are_returned_by_model_and_after_a_number(saved, path):
    saved.save([Entry(model, str(i), (f"l{i}",)) for i, model in enumerate("abab")])
    mark = read_saved_documents(path).mark
    saved.save([Entry("a", "late", ("l9",))])
    entries, last = saved.entries("a")
    assert ([entry.accepted for entry in entries], last) == ([("l0",), ("l2",), ("l9",)], 5)
    assert {entry.text for entry in entries} == {""}
    assert saved.entries("a", saved.first_after(mark)) == ([Entry("a", "", ("l9",))], 5)
    assert saved.first_after(Mark("another file", 4)) == saved.first_after(None) == 0
    assert saved.entries("b", 4) == ([], 4)
    assert read_saved_documents(path, model="b").documents == ["1", "3"]


def test_a_later_entry_of_an_origin_replaces_the_earlier_one(saved, path):
    first = Entry("news", "text", ("a",), (), "studio 1")
    (number,) = saved.save([first])
    assert saved.save([first]) == [number]
    (later,) = saved.save([first._replace(accepted=("b",))])
    assert later > number
    assert saved.n_replaced == 1
    assert saved.save([Withdrawal("news", "studio 1")]) == [later]
    assert saved.save([Withdrawal("news", "studio 1")]) == [later]
    assert saved.save([Withdrawal("news", "unknown")]) == [0]
    assert (saved.entries("news")[0], saved.count()) == ([], 0)
    assert saved.save([first._replace(is_new=True)]) == [later], "a late message restores it"
    saved.save([first, first._replace(accepted=("c",)), Entry("news", "text", ("a",))])
    assert [entry.accepted for entry in saved.entries("news")[0]] == [("c",), ("a",)]
    assert read_saved_documents(path).label_sets == [("c",), ("a",)]


def test_the_last_answer_to_an_issue_counts(saved, path):
    saved.save([Decision("1", "tea", True, "keep"), Decision("2", "tea", True, "change")])
    saved.save([Decision("1", "tea", True, "cannot say", fingerprint="x1")])
    assert [one[:4] for one in saved.answers()] == [
        ("2", "tea", True, "change"),
        ("1", "tea", True, "cannot say"),
    ]
    saved.save([Decision("2", "tea", True)])
    assert [(one.document, one.fingerprint) for one in read_answers(path)] == [("1", "x1")]
    assert saved.count() == 0


def corrupt(path):
    path.write_bytes(b"This is not a database. " * 100)


def foreign(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE mine (x)")


def newer(path):
    SavedWork(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA user_version=9")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (corrupt, "must be saved work of labelkin, got another file"),
        (foreign, "must be saved work of labelkin in format 3, got another SQLite file"),
        (newer, "in format 3, got format 9"),
    ],
)
def test_other_files_are_an_error_and_stay_as_they_are(path, make, reason):
    make(path)
    before = path.read_bytes()
    for opened in (SavedWork, read_saved_documents, check_saved_work):
        with pytest.raises(ValueError, match=reason):
            opened(path)
    assert path.read_bytes() == before


def page_of(path, text):
    return path.read_bytes().index(text) // 4096


def tear(path, page):
    raw = bytearray(path.read_bytes())
    raw[page * 4096 : (page + 1) * 4096] = random.Random(0).randbytes(4096)
    path.write_bytes(raw)


def change(path, statement, *values):
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA ignore_check_constraints=1")
        database.execute(statement, values)
    database.close()


DAMAGE = {
    "a page": lambda path: tear(path, page_of(path, b"Text 70 of")),
    "the root page": lambda path: tear(path, 2),
    "labels that are not JSON": lambda path: change(
        path, "UPDATE documents SET accepted = '[' WHERE id = 7"
    ),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_an_error_that_names_the_file_and_a_hint(written, how, tmp_path):
    DAMAGE[how](written)
    before = written.read_bytes()
    copy = tmp_path / "copy.sqlite"
    readers = (SavedWork, read_saved_documents, check_saved_work, lambda path: back_up(path, copy))
    for opened in readers:
        with pytest.raises(ValueError, match=r"is damaged: .*Restore a backup") as caught:
            opened(written)
        assert str(written) in str(caught.value)
    assert not copy.exists()
    assert written.read_bytes() == before


def test_a_moved_deleted_or_replaced_file_acknowledges_nothing(saved, path, tmp_path):
    saved.save([Entry("m", "kept", ())])
    for file in (path, path.with_name(path.name + "-wal")):
        away = file.rename(tmp_path / "away")
        for attempt in (lambda: saved.save([Entry("m", "lost", ())]), saved.check_writable):
            with pytest.raises(OSError, match="was moved, deleted or replaced") as caught:
                attempt()
            assert caught.value.filename == str(file)
        file.write_bytes(away.read_bytes())
        with pytest.raises(OSError, match="was moved, deleted or replaced"):
            saved.save([Entry("m", "lost", ())])
        away.replace(file)
    saved.check_writable()
    assert saved.save([Entry("m", "again", ())]) == [2]
    assert read_saved_documents(path).documents == ["kept", "again"]


def test_a_file_that_is_deleted_during_the_commit_is_noticed(saved, path, monkeypatch):
    write = SavedWork._write

    def deleting(*args):
        path.unlink()
        return write(*args)

    monkeypatch.setattr(SavedWork, "_write", deleting)
    with pytest.raises(OSError, match="was moved, deleted or replaced"):
        saved.save([Entry("m", "lost", ())])


def test_one_process_writes_and_others_read(saved, path):
    saved.save([Entry("m", "before", ())])
    with pytest.raises(ValueError, match=r"must have one writer, and another process writes"):
        SavedWork(path)
    program = "import sys; from pathlib import Path; from labelkin.curation.saved_work import *\n"
    writing = run(f"{program}SavedWork(Path(sys.argv[1]))", path)
    assert "must have one writer" in writing.stderr
    reading = run(f"{program}print(read_saved_documents(sys.argv[1]).documents)", path)
    assert reading.stdout.strip() == "['before']"
    assert saved.save([Entry("m", "after", ())]) == [2]
    saved.close()
    SavedWork(path).close()


def test_only_its_owner_may_read_the_files(saved, path):
    saved.save([Entry("m", "secret", ())])
    for file in path.parent.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file


def test_after_a_kill_the_log_has_everything_and_a_backup_too(path, tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from labelkin.curation.saved_work import *\n"
        "saved = SavedWork(Path(sys.argv[1]))\n"
        "saved.save([Entry('m', str(i), ('a',)) for i in range(30)])\n"
        "saved.save([Decision('1', 'tea', True, 'keep')])\n"
        "os.kill(os.getpid(), 9)"
    )
    run(program, path)
    assert back_up(path, tmp_path / "b.sqlite") == 31
    moved = shutil.move(tmp_path / "b.sqlite", tmp_path / "alone.sqlite")
    assert read_saved_documents(moved).documents == [str(i) for i in range(30)]
    assert [one.answer for one in read_answers(path)] == ["keep"]
    assert check_saved_work(path) == 31


def test_a_backup_is_made_while_a_service_writes(written, tmp_path):
    saved, copy = SavedWork(written), tmp_path / "copy.sqlite"
    saved.save([Entry("news", "late", ())])
    assert back_up(written, copy) == check_saved_work(written) == 201
    assert saved.save([Entry("news", "later", ())]) == [202]
    saved.close()
    assert read_saved_documents(copy).documents[-1] == "late"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {file.name for file in tmp_path.iterdir()} == {
        copy.name,
        written.name,
        f"{written.name}-lock",
    }
    with pytest.raises(FileExistsError, match="must be a new file"):
        back_up(written, copy)


def test_exported_documents_have_all_that_was_saved(written):
    found = list(export_documents(written))
    assert [one["text"] for one in found] == [entry.text for entry in ENTRIES]
    first = found[0]
    assert (first["labels"], first["rejected"], first["model"]) == (["gas", "l0"], ["tea"], "news")
