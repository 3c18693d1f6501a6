"""Damage is found wherever it is, what can be read is saved, and copies have everything."""

import json
import random
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys

import pytest

from labelkin.cli import main
from labelkin.curation.corrections import Decision
from labelkin.service import journal_upkeep, read_journal
from labelkin.service.journal import Entry, Journal

pytestmark = pytest.mark.xdist_group("service")
ENTRIES = [
    Entry("news", f"Text {i} of Zürich. " + "gas " * (i % 40), ("gas", f"l{i % 5}"), ("tea",))
    for i in range(200)
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A journal of 200 documents, closed: one file."""
    path = tmp_path_factory.mktemp("journals") / "news.journal.sqlite"
    journal = Journal(path)
    journal.append(ENTRIES).result()
    journal.close()
    return path


@pytest.fixture
def path(written, tmp_path):
    return shutil.copy(written, tmp_path / "news.journal.sqlite")


def change(path, statement, *values):
    with sqlite3.connect(path) as database:
        database.execute(statement, values)
    database.close()


def page_of(path, text):
    """Return the number of the page that holds a text."""
    return path.read_bytes().index(text) // 4096


def tear(path, page):
    raw = bytearray(path.read_bytes())
    raw[page * 4096 : (page + 1) * 4096] = random.Random(0).randbytes(4096)
    path.write_bytes(raw)


def flip(path, text, bit=2):
    raw = bytearray(path.read_bytes())
    raw[raw.index(text)] ^= bit
    path.write_bytes(raw)


DAMAGE = {
    "a letter of a text": lambda path: flip(path, b"Text 70 of"),
    "a label": lambda path: flip(path, b'l3"]'),
    "a model's name": lambda path: flip(path, b'news["gas"'),
    "bytes that are no text": lambda path: flip(path, b"Text 71", 0x80),
    "labels that are none": lambda path: change(
        path, "UPDATE documents SET accepted = '[1,null,{}]' WHERE id = 7"
    ),
    "no JSON": lambda path: change(path, "UPDATE documents SET accepted = '[' WHERE id = 7"),
    "a number": lambda path: change(path, "UPDATE documents SET text = x'00ff' WHERE id = 7"),
    "deep JSON": lambda path: change(
        path, "UPDATE documents SET accepted = ? WHERE id = 7", "[" * 100_000
    ),
    "a page": lambda path: tear(path, page_of(path, b"Text 70 of")),
    "the root page": lambda path: tear(path, 2),
    "a missing table": lambda path: change(path, "DROP TABLE documents"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_found_before_anything_is_learned(path, how, capsys):
    DAMAGE[how](path)
    before = path.read_bytes()
    for opened in (Journal, read_journal):
        with pytest.raises(ValueError, match=r"is damaged: .*labelkin journal recover") as caught:
            opened(path)
        assert str(path) in str(caught.value)
    assert not journal_upkeep.check(path).is_whole
    with pytest.raises(SystemExit, match="1"):
        main(["journal", "check", str(path)])
    assert "labelkin journal recover" in capsys.readouterr().err
    if how != "a missing table":
        assert path.read_bytes() == before


@pytest.fixture
def answered(tmp_path):
    """A journal of documents of another program, and of an answer to an issue."""
    path = tmp_path / "answered.sqlite"
    journal = Journal(path)
    journal.append([Entry("news", "text", ("gas",), (), f"studio {i}") for i in range(300)])
    journal.append([Decision("7", "gas", True, "wrong")]).result()
    journal.close()
    return path


@pytest.mark.parametrize(
    "statement",
    ["UPDATE answers SET label = 'tea'", "UPDATE origins SET origin = 'other' WHERE id = 7"],
)
def test_damage_of_other_entries_than_documents_is_found_when_it_is_opened(answered, statement):
    change(answered, statement)
    with pytest.raises(ValueError, match=r"is damaged: entry \d of (answers|origins)"):
        Journal(answered)


def test_damage_that_no_entry_shows_is_found_when_it_is_opened(path):
    """A page of documents in the list of free ones: what is written next would go over it."""
    raw = bytearray(path.read_bytes())
    raw[32:40] = struct.pack(">II", page_of(path, b"Text 70 of") + 1, 1)
    path.write_bytes(raw)
    assert len(read_journal(path).documents) == len(ENTRIES)
    with pytest.raises(ValueError, match=r"is damaged: .*labelkin journal recover"):
        Journal(path)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("how", DAMAGE)
def test_what_can_be_read_is_saved(path, tmp_path, how):
    DAMAGE[how](path)
    before, new = path.read_bytes(), tmp_path / "new.sqlite"
    found = journal_upkeep.recover(path, new)
    assert path.read_bytes() == before
    saved = read_journal(new)
    texts = [entry.text for entry in ENTRIES]
    assert set(saved.documents) <= set(texts)
    assert len(saved.documents) == found.sound
    if how not in ("the root page", "a missing table"):
        assert found.sound + len(found.damaged) == len(ENTRIES)
        assert len(found.damaged) < 60 if how == "a page" else len(found.damaged) == 1
        assert saved.mark == read_journal_mark(path)
    assert journal_upkeep.check(new) == (found.sound, 0, [], [])
    journal = Journal(new)  # and it can be gone on with
    journal.append(ENTRIES[:1]).result()
    journal.close()
    again = tmp_path / "again.sqlite"
    assert journal_upkeep.recover(new, again) == (found.sound + 1, 0, [], [])
    assert journal_upkeep.check(again).is_whole


def read_journal_mark(path):
    with sqlite3.connect(path) as database:
        (name,) = database.execute("SELECT value FROM about WHERE name = 'journal'").fetchone()
    database.close()
    return (name, len(ENTRIES))


def test_a_whole_journal_is_called_whole(path, capsys):
    assert journal_upkeep.check(path) == (200, 0, [], [])
    with pytest.raises(SystemExit, match="0"):
        main(["journal", "check", str(path)])
    assert capsys.readouterr().out == "sound      200\ndamaged    0\n"


def test_a_random_flip_of_any_bit_is_found_or_harmless(written, tmp_path, long_proofs):
    """Nothing is read that was not written, whatever bit of the file is wrong."""
    raw, draw = written.read_bytes(), random.Random(1)
    texts = {(entry.text, entry.accepted) for entry in ENTRIES}
    for i in range(2000 if long_proofs else 60):
        path = tmp_path / f"{i}.sqlite"
        changed = bytearray(raw)
        changed[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        try:
            documents, label_sets, _ = read_journal(path)
        except ValueError:
            continue
        assert set(zip(documents, label_sets, strict=True)) <= texts
        path.unlink()


def test_a_killed_service_leaves_everything_in_the_log_and_a_backup_has_it(tmp_path):
    path, program = (
        tmp_path / "j.sqlite",
        (
            "import os, sys; from pathlib import Path; from labelkin.service.journal import *\n"
            "journal = Journal(Path(sys.argv[1]))\n"
            "journal.append([Entry('m', str(i), ('a',)) for i in range(30)]).result()\n"
            "os.kill(os.getpid(), 9)"
        ),
    )
    subprocess.run([sys.executable, "-c", program, path], check=False)
    assert journal_upkeep.check(path).sound == 30
    assert journal_upkeep.recover(path, tmp_path / "r.sqlite").sound == 30
    assert journal_upkeep.back_up(path, tmp_path / "b.sqlite") == 30
    moved = shutil.move(tmp_path / "b.sqlite", tmp_path / "alone.sqlite")
    assert read_journal(moved).documents == [str(i) for i in range(30)]


def test_a_backup_is_made_while_a_service_writes(path, tmp_path):
    journal = Journal(path)
    journal.append([Entry("news", "late", ())]).result()
    copy = tmp_path / "copy.sqlite"
    assert journal_upkeep.back_up(path, copy) == 201
    assert journal_upkeep.check(path).sound == 201
    assert journal.append([Entry("news", "later", ())]).result() == [202]
    journal.close()
    assert read_journal(copy).documents[-1] == "late"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == [copy.name, path.name]
    with pytest.raises(FileExistsError, match="must be a new file"):
        journal_upkeep.back_up(path, copy)


def test_a_damaged_journal_is_not_backed_up_as_if_it_were_whole(path, tmp_path):
    flip(path, b"Text 70 of")
    with pytest.raises(ValueError, match="is damaged"):
        journal_upkeep.back_up(path, tmp_path / "copy.sqlite")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_export_can_be_trained_on(path, tmp_path, capfdbinary):
    out = tmp_path / "saved.jsonl"
    with pytest.raises(SystemExit, match="0"):
        main(["journal", "export", str(path), "--out", str(out)])
    with pytest.raises(SystemExit, match="0"):
        main(["journal", "export", str(path)])
    assert capfdbinary.readouterr().out == out.read_bytes()
    from labelkin import corpora

    loaded = corpora.load(str(out))
    assert list(loaded.documents) == [entry.text for entry in ENTRIES]
    first = json.loads(out.read_text().splitlines()[0])
    assert (first["labels"], first["rejected"], first["model"]) == (["gas", "l0"], ["tea"], "news")


def test_journals_of_the_first_format_are_written_anew(tmp_path):
    path = tmp_path / "old.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
            "INSERT INTO about VALUES ('journal', 'x');"
            "CREATE TABLE documents (id INTEGER PRIMARY KEY AUTOINCREMENT, written TEXT NOT NULL, "
            "model TEXT NOT NULL, text TEXT NOT NULL, accepted TEXT NOT NULL, "
            "rejected TEXT NOT NULL);"
            "INSERT INTO documents VALUES (1, 'now', 'm', 'Gas.', '[\"gas\"]', '[]');"
            f"PRAGMA application_id={0x6C6B696E}; PRAGMA user_version=1;"
        )
    database.close()
    with pytest.raises(ValueError, match=r"has format 1.*labelkin journal recover"):
        Journal(path)
    found = journal_upkeep.recover(path, tmp_path / "new.sqlite")
    assert (found.sound, found.unchecked, found.damaged) == (0, 1, [])
    assert read_journal(tmp_path / "new.sqlite").label_sets == [("gas",)]
