"""Every class of the table is restored and predicts the same bytes."""

import io
from datetime import UTC, datetime

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    MultiLabelBinarizer,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from labelkin import (
    ContentEnsemble,
    LabelDependenceClassifier,
    LabelRescorer,
    LearnedWeight,
    LogisticLabels,
    NaiveBayes,
    NearestNeighbours,
    PaperClassifier,
    PerLabel,
    PlattSVM,
    RandomForest,
    RescoredClassifier,
    SVMLabels,
)
from labelkin.content import MultilabelContent
from labelkin.method.label_evidence import PerLabelEvidence
from labelkin.research import related
from labelkin.storage import load, read_header, save
from labelkin.storage.trusted import PLACES
from labelkin.text import TermSelection, TermWeights, TextView, WordCounts
from labelkin.thresholds import (
    ExpectedF1,
    FixedCut,
    GlobalCut,
    LabelLimits,
    MCut,
    PCut,
    RCut,
    SCut,
    SCutFBR,
)
from labelkin.vocabulary import Concept, Vocabulary
from labelkin.vocabulary.rules import Rules

NUMPY = [name.removeprefix("numpy.") for name in PLACES if name.startswith("numpy.")]
rng = np.random.default_rng(5)
X = rng.poisson(1.0, (60, 5)).astype(float)
y = (X[:, 0] + rng.normal(0, 0.5, 60) > 1).astype(int)
Y = (X[:, :3] + rng.normal(0, 0.5, (60, 3)) > 1).astype(int)
SETS = [
    [name for name, has in zip(("wheat", "corn", "gold"), row, strict=True) if has] for row in Y
]
WORDS = np.array(["wheat", "corn", "gold", "ship", "price"])
TEXTS = [" ".join(np.repeat(WORDS, row.astype(int))) or "nothing" for row in X]
SPARSE = sparse.csr_matrix(X)
SCORES = np.clip(Y * 0.4 + rng.random((60, 3)) * 0.6, 0.01, 0.99)


def kind(model):
    """Name a parameter: the same in every process, which a repr with addresses is not."""
    return type(model).__name__


TRANSFORMERS = [
    ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", MinMaxScaler(), slice(2, 5))]),
    FeatureUnion([("scaled", StandardScaler()), ("logs", FunctionTransformer(np.log1p))]),
    *(FunctionTransformer(getattr(np, name)) for name in NUMPY if "log" not in name),
    *(make_pipeline(MinMaxScaler((1, 2)), FunctionTransformer(f)) for f in (np.log, np.log2)),
    make_pipeline(MinMaxScaler((1, 2)), FunctionTransformer(np.log10, kw_args={"where": True})),
    FunctionTransformer(),
    MaxAbsScaler(),
    MinMaxScaler(clip=True),
    Normalizer(),
    SelectKBest(chi2, k=2),
    SelectKBest(mutual_info_classif, k=2),
    SelectPercentile(f_classif),
    StandardScaler(),
    TermSelection(k=2),
    TermWeights("ltc"),
    TfidfTransformer(),
    TruncatedSVD(2, random_state=0),
    VarianceThreshold(0.1),
]
VECTORISERS = [
    CountVectorizer(min_df=2),
    CountVectorizer(vocabulary=["gold", "corn"]),
    HashingVectorizer(n_features=32),
    TextView("characters"),
    TextView("lead", title_weight=0.5, counts=WordCounts(min_documents=1, stem=False)),
    TfidfVectorizer(ngram_range=(1, 2), stop_words="english", dtype=np.float32),
    WordCounts(min_documents=1, stem=False),
    WordCounts(min_documents=1, stem=False, stop_words={"gold", "ship"}),
]
BINARY = [
    BernoulliNB(),
    CalibratedClassifierCV(LinearSVC(), cv=3),
    ComplementNB(),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearSVC(random_state=0),
    LogisticRegression(),
    MLPClassifier((4,), max_iter=3, random_state=0),
    MLPClassifier((4,), max_iter=3, solver="sgd", early_stopping=True, random_state=0),
    MultinomialNB(),
    RidgeClassifier(),
    SGDClassifier(loss="log_loss", random_state=0),
]
MULTILABEL = [
    MultilabelContent(MLPClassifier((4,), max_iter=3, random_state=0)),
    ContentEnsemble([NaiveBayes(), NearestNeighbours(3)], random_state=0),
    RandomForest(5, random_state=0),
    RescoredClassifier(NaiveBayes(), cv=2),
    MultiOutputClassifier(LogisticRegression()),
    NaiveBayes(alpha=0.5),
    NearestNeighbours(3),
    OneVsRestClassifier(LogisticRegression()),
    PerLabel(LogisticRegression()),
    PlattSVM(random_state=0),
    LabelDependenceClassifier(random_state=0),
    PaperClassifier(NaiveBayes(), "svm", "hard"),
    LabelDependenceClassifier(
        NaiveBayes(),
        labels=SVMLabels(),
        variant="hard",
        evidence_weight=1.0,
        thresholds="macro_f1",
        rules=Rules(implies=[(0, 2)]),
    ),
    LabelDependenceClassifier(
        NearestNeighbours(3), labels=LogisticRegression(), evidence_weight=0.5
    ),
    LabelDependenceClassifier(NaiveBayes(), thresholds=LabelLimits(MCut(), at_least=1)),
    LabelDependenceClassifier(LogisticRegression(), rules=Rules(exclusive=[(0, 1)])),
    LabelDependenceClassifier(NaiveBayes(), labels=PerLabelEvidence(GaussianNB()), calibrate=True),
    LabelDependenceClassifier(NaiveBayes(), keep_out_of_fold=True),
    LabelDependenceClassifier(NaiveBayes(), variant=SCut(), evidence_weight=LearnedWeight()),
    RescoredClassifier(LogisticRegression(), cv=2, random_state=0),
    related.ClassifierChain(NaiveBayes()),
    related.ChainEnsemble(LogisticRegression(), n_chains=2, random_state=0),
    related.ProbabilisticChain(random_state=0),
    related.StackedRelevance(LogisticRegression(), random_state=0),
    related.DependentRelevance(random_state=0),
    related.DependencyNetwork(random_state=0, n_samples=5),
    related.MLkNN(3),
    related.BRkNN(3, metric="cosine"),
    related.IBLR(3, ridge=0.1),
    related.MixtureModel(),
    related.ParametricMixture(order=2),
    related.LabelPowerset(NaiveBayes(), min_documents=3),
    related.RAkEL(random_state=0, subset_size=2),
]
RULES = [
    ExpectedF1(),
    FixedCut(0.4),
    GlobalCut("micro_f1"),
    LabelLimits(SCut(), at_least=1, at_most=2),
    MCut(),
    PCut(),
    RCut(),
    SCut(),
    SCutFBR(),
]


@pytest.fixture
def again(tmp_path):
    """Save, and load."""

    def save_and_load(model):
        return load(save(model, tmp_path / "model.labelkin"))

    return save_and_load


def answers(model, X):
    """All that a model says about documents, as bytes."""
    methods = ("predict", "decision_function", "predict_proba", "log_odds")
    found = [getattr(model, method)(X) for method in methods if hasattr(model, method)]
    if not found:
        found = [model.transform(X)]
    return [as_bytes(answer) for answer in found]


def as_bytes(answer):
    if sparse.issparse(answer):
        return type(answer), [as_bytes(part) for part in (answer.data, answer.indices)]
    return str(answer.dtype), answer.shape, answer.tobytes()


@pytest.mark.parametrize("model", TRANSFORMERS, ids=kind)
def test_transformer_is_restored(model, again):
    model = clone(model).fit(X, y)
    assert answers(again(model), X) == answers(model, X)


@pytest.mark.parametrize("model", VECTORISERS, ids=kind)
def test_vectorizer_is_restored(model, again):
    model = clone(model).fit(TEXTS)
    restored = again(model)
    assert answers(restored, TEXTS) == answers(model, TEXTS)
    if hasattr(model, "get_feature_names_out"):
        assert list(restored.get_feature_names_out()) == list(model.get_feature_names_out())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", BINARY, ids=kind)
def test_binary_classifier_is_restored(model, again):
    model = clone(model).fit(X, y)
    assert answers(again(model), X) == answers(model, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MULTILABEL, ids=kind)
def test_multilabel_classifier_is_restored(model, again):
    model = clone(model).fit(SPARSE, Y)
    restored = again(model)
    if isinstance(model, MultiOutputClassifier):  # a list of arrays
        found, computed = model.predict_proba(SPARSE), restored.predict_proba(SPARSE)
        assert list(map(as_bytes, computed)) == list(map(as_bytes, found))
    else:
        assert answers(restored, SPARSE) == answers(model, SPARSE)


@pytest.mark.parametrize("kind", ["sets", "sparse", "unknown", "classes", "named"])
@pytest.mark.parametrize("content", [NaiveBayes(), NearestNeighbours(4)], ids=kind)
def test_labels_of_every_kind_are_restored(content, kind, again):
    labels = {
        "sets": SETS,
        "sparse": sparse.csr_array(Y),
        "unknown": np.where(rng.random(Y.shape) < 0.1, np.nan, Y),
        "classes": np.array(["no", "yes"], dtype=object)[y],
        "named": [[(name, len(name)) for name in names] for names in map(sorted, SETS)],
    }[kind]
    if kind == "named":
        labels = [set(names) for names in labels]  # of tuples
    model = LabelDependenceClassifier(content).fit(SPARSE, labels)
    restored = again(model)
    assert answers_of_ours(restored) == answers_of_ours(model)
    assert restored.classes_.dtype == model.classes_.dtype
    assert list(restored.classes_) == list(model.classes_)


def answers_of_ours(model):
    return as_bytes(model.log_odds(SPARSE)), as_bytes(np.asarray(model.predict_proba(SPARSE)))


@pytest.mark.parametrize("labels", [LogisticLabels(), SVMLabels(), GaussianNB()], ids=kind)
@pytest.mark.parametrize("variant", ["hard", "soft"])
def test_rescorer_is_restored(labels, variant, again):
    model = LabelRescorer(labels, variant=variant, rules=Rules(implies=[("wheat", "corn")])).fit(
        SETS
    )
    known = {"accepted": ["wheat"]}
    restored = again(model)
    assert as_bytes(restored.rescore(SCORES)) == as_bytes(model.rescore(SCORES))
    assert as_bytes(restored.rescore(SCORES[:1], known)) == as_bytes(
        model.rescore(SCORES[:1], known)
    )


@pytest.mark.parametrize("rule", RULES, ids=kind)
def test_threshold_rule_is_restored(rule, again):
    rule = clone(rule).fit(SCORES, Y)
    restored = again(rule)
    assert as_bytes(restored.decide(SCORES)) == as_bytes(rule.decide(SCORES))
    assert repr(restored.table()) == repr(rule.table())


def test_all_classes_of_the_table_are_tested(tmp_path):
    stored = set()
    with pytest.warns(UserWarning):  # convergence, and a constant label
        constant = OneVsRestClassifier(LogisticRegression()).fit(X, np.c_[Y, np.ones(60, int)])
        fitted = [
            constant,
            *(clone(model).fit(X, y) for model in [*TRANSFORMERS, *BINARY]),
            *(clone(model).fit(TEXTS) for model in VECTORISERS),
            *(clone(model).fit(X, Y) for model in MULTILABEL),
            *(clone(rule).fit(SCORES, Y) for rule in RULES),
            MultiLabelBinarizer().fit(SETS),
            NearestNeighbours(3).fit(SPARSE, SETS),
        ]
    fitted[-1].concepts_ = Vocabulary.of([Concept("u:1", {"en": "wheat"})])
    for model in fitted:
        stored |= set(read_header(save(model, tmp_path / "model")).class_names)
    classes = {name for name in PLACES if not name.rpartition(".")[2].islower()}
    classes -= {"OmikujiContent", "OmikujiForest"}  # of packages/labelkin-omikuji
    assert classes - stored == set()


def test_restored_model_can_be_cloned_fitted_pickled_and_saved(again, tmp_path):
    model = LabelDependenceClassifier(NaiveBayes(alpha=0.3)).fit(X, Y)
    restored = again(model)
    assert as_bytes(clone(restored).fit(X, Y).log_odds(X)) == as_bytes(model.log_odds(X))
    assert as_bytes(restored.fit(X, Y).log_odds(X)) == as_bytes(model.log_odds(X))
    buffer = io.BytesIO()
    joblib.dump(again(model), buffer)
    buffer.seek(0)
    assert as_bytes(joblib.load(buffer).log_odds(X)) == as_bytes(model.log_odds(X))
    assert as_bytes(again(again(model)).log_odds(X)) == as_bytes(model.log_odds(X))


def test_shared_array_is_stored_once(tmp_path):
    model = Normalizer()
    model.first = model.second = np.arange(10_000.0)
    model.third = [Normalizer(), sparse.csr_array(model.first[None, :])]
    model.fourth = model.third * 2
    path = save(model, tmp_path / "model")
    assert 200_000 <= path.stat().st_size < 202_000
    restored = load(tmp_path / "model")
    assert restored.first is restored.second


def test_arrays_keep_memory_order_and_are_writable(again):
    model = PlattSVM(random_state=0).fit(X, Y)
    restored = again(model)
    assert restored.coef_.flags.f_contiguous == model.coef_.flags.f_contiguous
    assert restored.coef_.flags.writeable
    assert restored.coef_.ctypes.data % 64 == 0


def test_file_does_not_depend_on_order_of_sets(tmp_path, monkeypatch):
    class Noon(datetime):
        now = classmethod(lambda cls, zone: datetime(2024, 1, 1, 12, tzinfo=UTC))

    monkeypatch.setattr("labelkin.storage.file.datetime", Noon)
    ascending, descending = {0, 8}, {8, 0}
    assert list(ascending) != list(descending)  # they collide in a table of eight places
    for order in (ascending, descending):
        model = LabelRescorer().fit(SETS)
        model.note = order
        save(model, tmp_path / str(list(order)))
    first, second = (path.read_bytes() for path in tmp_path.iterdir())
    assert first == second
