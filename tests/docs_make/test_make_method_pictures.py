"""The pictures of the method: the worked example's own numbers, the same bytes again."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is in the extra plot")

from docs.make.method_pictures import FOLDER, main

PAGE = (FOLDER / "method.md").read_text(encoding="utf-8")


def test_the_pictures_show_the_numbers_of_the_page(tmp_path, capsys):
    main(["--out", str(tmp_path)])
    paths = [Path(line) for line in capsys.readouterr().out.split()]
    assert [path.name for path in paths] == ["method-sum.svg", "method-weights.svg"]
    for probability in (0.06, 0.75, 0.92):
        assert f"{probability:.2f}" in PAGE
        assert f">{probability:.0%}<" in paths[0].read_text(encoding="utf-8")
    for path in paths:
        assert path.name in PAGE and (FOLDER / path.name).exists()


def test_a_picture_is_the_same_bytes_again(tmp_path, capsys):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        main(["--out", str(tmp_path / name)])
    first, second = ((tmp_path / name / "method-sum.svg").read_bytes() for name in ("a", "b"))
    assert first == second
