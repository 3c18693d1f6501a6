"""Views of documents: titles, beginnings, bodies, characters."""

import numpy as np
import pytest
from sklearn.base import clone

from labelkin import PlattSVM
from labelkin.content.ensemble import ContentEnsemble
from labelkin.text import TermWeights, TextView, WordCounts, titled_texts

WORDS = WordCounts(min_documents=1, stem=False, stop_words=None)
DOCUMENTS = ["Corn\nShips carry corn and gold.", "Gold\nGold in a mine.", "No title, only corn."]


def terms(view, document):
    """Return the terms of a document, and the view's own names of them."""
    names = view.get_feature_names_out()
    return sorted(names[view.transform([document]).indices])


class TestTitles:
    @pytest.mark.parametrize(
        ("document", "title", "body"),
        [
            ("Corn\nShips.\nGold.", "Corn", "Ships.\nGold."),
            ("Ships carry corn.", "", "Ships carry corn."),
            ("\nShips.\nGold.", "", "Ships.\nGold."),
            ("Corn\n", "Corn", ""),
            ("", "", ""),
            ({"title": "Corn", "text": "Ships."}, "Corn", "Ships."),
            ({"title": "Corn,\n  gold", "abstract": "A", "body": "B"}, "Corn, gold", "A\nB"),
            ({"text": "Ships.\nGold."}, "", "Ships.\nGold."),
        ],
    )
    def test_are_first_lines_or_named(self, document, title, body):
        assert list(titled_texts([document])) == [(title, body)]

    @pytest.mark.parametrize("documents", ["one text", {"title": "one"}, 3])
    def test_of_one_document_are_an_error(self, documents):
        with pytest.raises(ValueError, match="iterable of texts or records"):
            list(titled_texts(documents))

    @pytest.mark.parametrize(
        ("document", "place"),
        [
            (None, "NoneType as .* document 1"),
            (b"x", "bytes"),
            ({"title": 0.5}, "float as 'title'"),
        ],
    )
    def test_of_other_types_are_an_error(self, document, place):
        with pytest.raises(TypeError, match=place):
            list(titled_texts(["fine", document]))


class TestView:
    @pytest.mark.parametrize(
        ("view", "expected"),
        [
            ("title", ["gold"]),
            ("body", ["carry", "corn", "ships"]),
            ("text", ["carry", "corn", "gold", "ships"]),
            ("lead", ["carry", "gold", "ships"]),
        ],
    )
    def test_sees_its_part(self, view, expected):
        found = TextView(view, n_words=3, counts=WORDS, scheme="tfidf").fit(
            ["gold ships\ncarry corn", "carry gold ships", "carry\ncorn ships gold"]
            if view != "title"
            else ["gold\ncorn", "corn\nx"]
        )
        assert terms(found, "Gold\nships carry corn") == expected

    def test_equals_counting_and_weighting_its_part(self):
        found = TextView("body", counts=WORDS).fit_transform(DOCUMENTS)
        bodies = [body for _, body in titled_texts(DOCUMENTS)]
        by_hand = TermWeights("ltc").fit_transform(clone(WORDS).fit_transform(bodies))
        assert (found != by_hand).nnz == 0

    def test_titles_stand_beside_it_with_their_weight(self):
        plain = TextView("text", counts=WORDS).fit(DOCUMENTS)
        both = TextView("text", title_weight=0.5, counts=WORDS).fit(DOCUMENTS)
        names = both.get_feature_names_out().tolist()
        n_terms = len(plain.get_feature_names_out())
        assert names[n_terms:] == ["corn (title)", "gold (title)"]
        found = both.transform(DOCUMENTS)
        assert (found[:, :n_terms] != plain.transform(DOCUMENTS)).nnz == 0
        lengths = np.sqrt(found[:, n_terms:].power(2).sum(axis=1)).ravel().tolist()
        assert lengths == [[0.5, 0.5, 0.0]]

    def test_characters_are_pieces_of_words(self):
        view = TextView("characters").fit(["corn"] * 5 + ["gold"] * 5)
        assert terms(view, "corns") == [" co", " cor", " corn", "cor", "corn", "orn"]

    def test_the_same_for_records_and_for_texts(self):
        view = TextView("text", title_weight=1, counts=WORDS).fit(DOCUMENTS)
        records = [{"title": title, "text": body} for title, body in titled_texts(DOCUMENTS)]
        assert (view.transform(DOCUMENTS) != view.transform(records)).nnz == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"view": "abstract"}, "view must be one of .*'abstract'"),
            ({"n_words": 0}, "n_words must be a whole number of at least 1, got 0"),
            ({"title_weight": -1}, "title_weight must be at least 0, got -1"),
        ],
    )
    def test_wrong_parameters_are_errors(self, options, message):
        with pytest.raises(ValueError, match=message):
            TextView(**options).fit(DOCUMENTS)


def titled_world(n=60):
    """Return documents whose titles say one label, their bodies another; a third has no title."""
    rng = np.random.default_rng(0)
    Y = (rng.random((n, 2)) < 0.5).astype(int)
    title = np.where(Y[:, 0], "Corn", "Gold")
    body = np.where(Y[:, 1], "ships at sea", "trains on land")
    texts = [f"{t}\n{b}" for t, b in zip(title, body, strict=True)]
    texts[::3] = [f"\n{b}" for b in body[::3]]
    return texts, Y


class TestInAnEnsemble:
    members = (
        ("title", TextView("title", counts=WORDS), PlattSVM(random_state=0)),
        ("body", TextView("body", counts=WORDS), PlattSVM(random_state=0)),
    )

    def test_a_missing_view_says_nothing(self):
        texts, Y = titled_world()
        model = ContentEnsemble(list(self.members), random_state=0).fit(texts, Y)
        parts = model.decompose(["\nships at sea", "Corn\nships at sea"])[1]
        assert "title" in parts
        assert not parts["title"][0].any()
        assert parts["title"][1, 0] > 1
