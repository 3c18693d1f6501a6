"""Several content classifiers as one."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

import labelkin
from labelkin import LabelDependenceClassifier, NaiveBayes, NearestNeighbours, PerLabel, PlattSVM
from labelkin.content.ensemble import ContentEnsemble
from labelkin.content.members import MemberEvidence
from labelkin.estimator import fit_content
from labelkin.label_matrix import read_labels


def world(n=160, seed=0, n_labels=4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < np.linspace(0.2, 0.5, n_labels)).astype(int)
    X = 0.01 + rng.poisson(0.5 + 0.8 * np.repeat(Y, 3, axis=1))
    return X / np.linalg.norm(X, axis=1, keepdims=True), Y


MEMBERS = ["naive_bayes", "nearest_neighbours", "svm"]


def three(**options):
    members = [NaiveBayes(), NearestNeighbours(10), PlattSVM(random_state=0)]
    return ContentEnsemble(members, random_state=0, **options)


def evidence_by_hand(model, X, Y):
    """Return what the three say beyond the prior of unseen documents, and the prior."""
    prior = logit((Y.sum(axis=0) + 0.5) / (len(Y) + 1))
    z = [*(in_five_parts(m, X, Y) for m in model.members[:2])]
    z.append(fit_content(clone(model.members[2]), X, read_labels(Y), {}, out_of_fold=True))
    bayes = np.sign(z[0] - prior) * np.log1p(np.abs(z[0] - prior))
    share = (10 * expit(z[1]) + expit(prior)) / 11
    return np.stack([bayes, logit(share) - prior, z[2] - prior]), prior


def in_five_parts(member, X, Y):
    """Return the log-odds of every fifth of the documents, learned from the four others."""
    fold = np.empty(len(Y), dtype=int)
    fold[np.random.RandomState(0).permutation(len(Y))] = np.arange(len(Y)) % 5
    z = np.empty(Y.shape)
    for k in range(5):
        z[fold == k] = clone(member).fit(X[fold != k], Y[fold != k]).log_odds(X[fold == k])
    return z


def loss(theta, inputs, offset, y):
    log_odds = offset + np.tensordot(theta[:-1], inputs, 1) + theta[-1]
    return (np.logaddexp(0, log_odds) - y * log_odds).sum()


class TestUnseenDocuments:
    def test_members_are_evaluated_on_the_same_folds(self, monkeypatch):
        # Of twins, one of which is left out, a neighbour search would always find the other.
        rng = np.random.default_rng(0)
        X = np.repeat(rng.standard_normal((100, 300)), 2, axis=0)
        Y = np.repeat(rng.random((100, 3)) < 0.5, 2, axis=0).astype(int)
        given = evidence_given(monkeypatch)
        near = NearestNeighbours(1)
        ContentEnsemble([near, PlattSVM(random_state=0)], random_state=0).fit(X, Y)
        right = np.mean((given[0] > 0) == Y)
        assert 0.8 < right < 0.97  # 0.8 find their twin, the others are right by chance
        assert np.mean((near.fit_out_of_fold(X, Y) > 0) == Y) == 1

    def test_members_that_leave_one_out_do_so_without_others(self, monkeypatch):
        X, Y = world()
        given = evidence_given(monkeypatch)
        members = [NaiveBayes(), NearestNeighbours(10)]
        ContentEnsemble(members, random_state=0).fit(X, Y)
        for member, found in zip(members, given, strict=True):
            np.testing.assert_array_equal(found, clone(member).fit_out_of_fold(X, Y))


def evidence_given(monkeypatch):
    """Return a list that will hold the out-of-fold log-odds of the members."""
    kept, of = [], MemberEvidence.of
    monkeypatch.setattr(MemberEvidence, "of", lambda m, v, z, p: kept.extend(z) or of(m, v, z, p))
    return kept


class TestWeights:
    def test_weights_equal_scipy_optimum(self):
        X, Y = world()
        model = three(shrinkage=7.0).fit(X, Y)
        inputs, prior = evidence_by_hand(model, X, Y)
        kept = [k for k, name in enumerate(MEMBERS) if name not in model.dropped_]
        inputs = inputs[kept]
        offset = prior if model.prior_once_ else np.zeros_like(prior)
        inputs = inputs if model.prior_once_ else inputs + prior

        def shared(theta):
            return loss(theta, inputs, offset, Y) + 0.5e-3 * theta @ theta

        centre = minimize(shared, np.zeros(len(kept) + 1), options={"gtol": 1e-8}).x
        assert (centre[:-1] > 0).all()
        precision = np.array([*[7.0] * len(kept), 0.7])
        for j in range(4):

            def own(theta, j=j):
                far = 0.5 * precision @ (theta - centre) ** 2
                return loss(theta, inputs[..., j], offset[j], Y[:, j]) + far

            found = minimize(own, centre, options={"gtol": 1e-8}).x
            assert model.weights_[j] == pytest.approx(found[:-1], abs=1e-4)
            assert model.bias_[j] == pytest.approx(found[-1], abs=1e-4)

    def test_prior_is_added_once_if_brier_score_is_better(self):
        X, Y = world()
        model = three().fit(X, Y)
        inputs, prior = evidence_by_hand(model, X, Y)
        scores = {}
        inputs = inputs[[k for k, name in enumerate(MEMBERS) if name not in model.dropped_]]
        for once in (True, False):
            offset = prior if once else np.zeros_like(prior)
            z = inputs if once else inputs + prior
            theta = minimize(
                lambda t, z=z, o=offset: loss(t, z, o, Y) + 0.5e-3 * t @ t, np.zeros(len(z) + 1)
            ).x
            p = expit(offset + np.tensordot(theta[:-1], z, 1) + theta[-1])
            scores[once] = ((Y - p) ** 2).sum()
        assert model.prior_once_ == (scores[True] <= scores[False])

    def test_member_that_does_not_help_is_dropped(self):
        X, Y = world()
        rng = np.random.default_rng(1)
        noise = FunctionTransformer(lambda X: rng.random((len(X), 2)))
        wrong = ("wrong", FunctionTransformer(np.negative), _Contrary())
        model = ContentEnsemble([PlattSVM(random_state=0), wrong]).fit(X, Y)
        assert model.dropped_ == ["wrong"]
        assert [m.name for m in model.members_] == ["svm"]
        assert model.weights_.shape == (4, 1)
        assert ContentEnsemble([PlattSVM(random_state=0), ("noise", noise, _Contrary())]).fit(X, Y)

    def test_constant_labels_have_the_prior(self):
        X, Y = world()
        Y[:, 1], Y[:, 2] = 0, 1
        model = three().fit(X, Y)
        n = len(Y)
        assert model.log_odds(X)[:, 1] == pytest.approx(logit(0.5 / (n + 1)))
        assert model.log_odds(X)[:, 2] == pytest.approx(logit((n + 0.5) / (n + 1)))

    def test_merged_improbable_cells_change_little(self, monkeypatch):
        X, Y = world(400)
        Y[:, 0] = 0
        Y[:3, 0] = 1
        counted = three().fit(X, Y).log_odds(X)
        monkeypatch.setattr("labelkin.content.members._IMPROBABLE", -np.inf)
        visited = three().fit(X, Y).log_odds(X)
        assert expit(counted) == pytest.approx(expit(visited), abs=5e-3)

    def test_blocks_of_labels_have_the_same_weights(self, monkeypatch):
        X, Y = world()
        whole = three().fit_out_of_fold(X, Y)
        monkeypatch.setattr("labelkin.content.members._BLOCK_CELLS", 1)
        assert three().fit_out_of_fold(X, Y) == pytest.approx(whole, abs=1e-9)


class _Contrary(LogisticRegression):
    """Says the opposite of what it has learned, and learns the opposite."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


class TestOutOfFold:
    def test_brier_score_is_better_than_that_of_each_member(self):
        X, Y = world(500)
        both = three().fit(X[:300], Y[:300])
        ours = ((both.predict_proba(X[300:]) - Y[300:]) ** 2).mean()
        for member in both.members:
            alone = clone(member).fit(X[:300], Y[:300]).predict_proba(X[300:])
            assert ours < ((alone - Y[300:]) ** 2).mean() + 1e-3


class TestViews:
    TEXTS = np.array(["wheat harvest", "gold mine", "wheat price", "gold price"] * 8, dtype=object)
    TOPICS = [["grain"], ["gold"], ["grain"], ["gold"]] * 8

    def views(self):
        return ContentEnsemble(
            [
                ("words", TfidfVectorizer(), PlattSVM(random_state=0)),
                ("characters", TfidfVectorizer(analyzer="char_wb"), PlattSVM(random_state=0)),
            ]
        )

    def test_view_may_be_a_function(self):
        def lengths(texts):
            return np.array([[len(text), text.count("w")] for text in texts], dtype=float)

        members = [
            ("words", TfidfVectorizer(), PlattSVM()),
            ("counted", lengths, PerLabel(LogisticRegression())),
        ]
        model = ContentEnsemble(members, random_state=0).fit(self.TEXTS, self.TOPICS)
        assert {m.name for m in model.members_} | set(model.dropped_) == {"words", "counted"}
        assert model.predict_labels(self.TEXTS[:2]) == [("grain",), ("gold",)]

    def test_invalid_view_raises(self):
        with pytest.raises(TypeError, match="The view of member 'words' must be a transf"):
            ContentEnsemble([("words", 3, PlattSVM())]).fit(self.TEXTS, self.TOPICS)

    def test_empty_view_adds_nothing(self):
        model = self.views().fit(self.TEXTS, self.TOPICS)
        parts = model.decompose(np.array(["xyzzy wheats"], dtype=object))[1]
        assert (parts["words"] == 0).all()
        assert (parts["characters"] != 0).all()

    def test_terms_are_named_and_add_up(self):
        model = self.views().fit(self.TEXTS, self.TOPICS)
        (row,) = model.term_contributions(self.TEXTS[:1], [0, 1])
        assert [cell.log_odds for cell in row] == pytest.approx(
            model.log_odds(self.TEXTS[:1])[0], abs=1e-9
        )
        assert {"wheat", "harvest"} <= {term.term for term in row[0].terms}


class TestExplanations:
    def test_the_parts_of_the_members_add_up(self):
        X, Y = world()
        model = three().fit(X, Y)
        parts = model.decompose(X)[1]
        assert list(parts) == ["prior", *(m.name for m in model.members_)]
        assert sum(parts.values()) == pytest.approx(model.log_odds(X), abs=1e-9)


class TestInputs:
    def test_unknown_cells_are_left_out(self):
        X, Y = world()
        holes = Y.astype(float)
        holes[::7, 0] = np.nan
        other = holes.copy()
        model = ContentEnsemble([PlattSVM(random_state=0), NearestNeighbours(10)], random_state=0)
        first = clone(model).fit(X, holes).log_odds(X)
        assert np.isfinite(first).all()
        assert (clone(model).fit(X, other).log_odds(X) == first).all()
        rows = np.flatnonzero(~np.isnan(holes[:, 0]))
        alone = clone(model).fit(X[rows], Y[rows])
        assert np.corrcoef(first[:, 0], alone.log_odds(X)[:, 0])[0, 1] > 0.95

    def test_sample_weight_0_leaves_a_document_out(self):
        X, Y = world()
        model = ContentEnsemble(
            [NaiveBayes(), PerLabel(LogisticRegression(), random_state=0)], random_state=0
        )
        weight = np.ones(len(Y))
        assert clone(model).fit(X, Y, sample_weight=weight).log_odds(X) == pytest.approx(
            clone(model).fit(X, Y).log_odds(X), abs=1e-6
        )
        weight[:40] = 0
        assert np.isfinite(clone(model).fit(X, Y, sample_weight=weight).log_odds(X)).all()

    def test_all_cells_as_candidates_equal_dense_scores(self):
        X, Y = world()
        dense = ContentEnsemble([NaiveBayes(), PlattSVM(random_state=0)], random_state=0)
        members = [NaiveBayes(top=4), PlattSVM(top=4, random_state=0)]
        cells = ContentEnsemble(members, random_state=0)
        unseen = cells.fit_out_of_fold(X, Y)
        assert sparse.issparse(unseen)
        assert unseen.toarray() == pytest.approx(dense.fit_out_of_fold(X, Y), abs=1e-9)
        assert cells.log_odds(X).toarray() == pytest.approx(dense.log_odds(X), abs=1e-9)

    @pytest.mark.parametrize(
        ("members", "message"),
        [
            ([], "members must be a list of classifiers, got"),
            ("svm", "members must be a list of classifiers, got 'svm'"),
            ([("a", 1, 2, 3)], r"A member must be a classifier, \(name, classifier\)"),
            ([("prior", PlattSVM())], "a name other than 'prior', got 'prior'"),
        ],
    )
    def test_invalid_values_raise(self, members, message):
        X, Y = world(20)
        with pytest.raises(ValueError, match=message):
            ContentEnsemble(members).fit(X, Y)


class TestParts:
    def test_members_add_up_to_the_content(self):
        X, Y = world()
        model = LabelDependenceClassifier(three(), random_state=0).fit(X, Y)
        for explanation in model.explain(X[:3], top=4)[0]:
            assert set(explanation.members) == {
                *(member.name for member in model.content_.members_),
                "all members",
            }
            assert sum(explanation.members.values()) == pytest.approx(explanation.parts["content"])
            j = explanation.label
            parts = model.content_.decompose(X[:1])[1]
            for member in model.content_.members_:
                assert explanation.members[member.name] == pytest.approx(parts[member.name][0, j])

    def test_members_of_candidates_add_up_to_the_content(self):
        X, Y = world()
        members = [NearestNeighbours(10, top=2), PlattSVM(random_state=0, top=2)]
        model = LabelDependenceClassifier(members, random_state=0).fit(X, Y)
        for explanation in model.explain(X[:1], top=4)[0]:
            assert sum(explanation.members.values()) == pytest.approx(explanation.parts["content"])


def test_strong_preset_leaves_out_the_title_view_of_one_line_texts():
    news = labelkin.corpora.newsroom(300)
    texts = [text.replace("\n", " ") for text in news.documents]
    labels = read_labels(news.Y).label_sets()
    model = labelkin.preset("strong", random_state=0).fit(texts, labels)
    assert model.content_.dropped_[-1:] == ["title"]
    assert "title" not in [member.name for member in model.content_.members_]
    assert model.predict(texts[:2]).shape[0] == 2
