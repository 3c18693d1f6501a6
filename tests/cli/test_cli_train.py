"""``labelkin train``: the file is the pipeline a person would have made by hand."""

import json

import numpy as np
import pytest
from in_process import call
from sklearn.pipeline import make_pipeline

from labelkin import LabelDependenceClassifier, LogisticLabels, PlattSVM, corpora, load
from labelkin.evaluation import metrics
from labelkin.models.builder import STRONG
from labelkin.storage import read_header
from labelkin.text import TermWeights, WordCounts


@pytest.fixture(scope="module")
def by_hand(news_file):
    """The same model made in Python, and its out-of-fold evidence, content alone and posterior."""
    corpus = corpora.load(news_file)
    texts, labels = corpus.documents[corpus.train], corpus.Y[corpus.train]
    steps = make_pipeline(WordCounts(), TermWeights())
    vectors = steps.fit_transform(texts)
    content = PlattSVM(random_state=0).fit_out_of_fold(vectors, labels)
    classifier = LabelDependenceClassifier(PlattSVM(random_state=0), labels=LogisticLabels())
    posterior = classifier.fit_out_of_fold(vectors, labels)
    return make_pipeline(*steps, classifier), labels, content, posterior


def test_model_equals_the_same_model_in_python(model, by_hand, news):
    np.testing.assert_array_equal(
        load(model).predict_proba(news.documents), by_hand[0].predict_proba(news.documents)
    )


def test_summary_has_out_of_fold_scores(trained, by_hand):
    path, done = trained
    _, labels, content, posterior = by_hand
    scores = read_header(path).summary["cross_validated"]
    for name, evidence in (("content", content), ("model", posterior)):
        expected = metrics.evaluate(labels, evidence).scores()
        assert scores[name] == {metric: expected[metric] for metric in scores[name]}
        for value in scores[name].values():
            assert f"{value:.4f}" in done.out
    assert scores["content"] != scores["model"]


def small(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def tea(tmp_path):
    """Twelve short texts that anything can be trained on at once."""
    rows = [("hot tea with milk", ["milk", "tea"]), ("black tea", ["tea"]), ("cold milk", ["milk"])]
    return small(
        tmp_path / "tea.jsonl",
        *({"id": i, "text": t, "labels": y} for i, (t, y) in enumerate(rows * 4)),
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--content", "naive_bayes"], "content_=NaiveBayes"),
        (["--content", "nearest_neighbours"], "content_=NearestNeighbours"),
        (["--content", "svm, nb"], "content_=ContentEnsemble"),
        (["--labels", "svm"], "labels_=SVMLabels"),
        (["--thresholds", "0.3"], "thresholds_=FixedCut(cut=0.3, scale='log_odds')"),
        (["--thresholds", "macro_f1"], "thresholds_=SCutFBR()"),
        (["--thresholds", "document_f1"], "thresholds_=ExpectedF1(scale='log_odds')"),
        (["--thresholds", "scut"], "thresholds_=SCut()"),
        (["--thresholds", "expected_f1"], "thresholds_=ExpectedF1(scale='log_odds')"),
        (
            ["--at-least", "1", "--at-most", "2", "--thresholds", "mcut"],
            "LabelLimits(at_least=1, at_most=2, rule=MCut(scale='log_odds'))",
        ),
        (["--variant", "hard", "--evidence-weight", "0.5"], "variant='hard' weight=0.5"),
    ],
)
def test_every_choice_reaches_the_model(tea, tmp_path, options, expected):
    out = tmp_path / "tea.labelkin"
    call("train", tea, "-o", out, "--min-documents", 1, "--quiet", *options).done()
    fitted = load(out)[-1]
    said = (
        f"content_={fitted.content_!r} labels_={fitted.rescorer_.labels_!r} "
        f"thresholds_={fitted.thresholds_!r} variant={fitted.variant!r} "
        f"weight={fitted.evidence_weight_!r}"
    )
    assert expected in " ".join(said.split())


def test_rules_of_a_table_are_kept_in_the_model(tea, tmp_path):
    (tmp_path / "rules.csv").write_text("narrower,broader\nmilk,tea\ncoffee,tea\n")
    done = call(
        "train", tea, "-o", tmp_path / "m", "--rules", tmp_path / "rules.csv", "--min-documents", 1
    )
    assert "1 rules about labels of the corpus, of 2 in" in done.err
    assert "1 labels of the rules are not in the corpus: 'coffee'." in done.err
    assert load(tmp_path / "m")[-1].rules.implies == (("milk", "tea"),)


def test_all_includes_test_documents(news_file, tmp_path):
    options = ["--content", "naive_bayes", "--evidence-weight", 1, "-q"]
    call("train", news_file, "-o", tmp_path / "part", *options).done()
    call("train", news_file, "-o", tmp_path / "all", *options, "--all").done()
    counts = [read_header(tmp_path / name).summary["documents"] for name in ("part", "all")]
    assert counts == [300, 420]


def test_numbers_are_scaled(tmp_path):
    head = ["@relation 'numbers: -C 2'", "@attribute a {0,1}", "@attribute b {0,1}"]
    head += ["@attribute x numeric", "@attribute y numeric", "@data"]
    rows = [f"{i % 2},{i % 3 == 0:d},{1e4 * (i % 2) - i},{i % 3}" for i in range(60)]
    (tmp_path / "n.arff").write_text("\n".join([*head, *rows]) + "\n")
    call("train", tmp_path / "n.arff", "-o", tmp_path / "m", "--content", "svm").done()
    steps = load(tmp_path / "m")
    assert [type(step).__name__ for step in (steps[0], steps[-1].content_)] == [
        *("StandardScaler", "PlattSVM")
    ]


def test_saved_work_is_learned_with_its_new_labels(tea, tmp_path):
    from labelkin.curation.saved_work import Entry, SavedWork, read_saved_documents

    path = tmp_path / "m.saved.sqlite"
    work = SavedWork(path)
    work.save([Entry("tea", "green tea", ("green", "tea")), Entry("tea", "milk", ("milk",))])
    work.close()
    rows = [{**json.loads(line), "split": "train"} for line in tea.open()]
    rows.append({"id": 12, "text": "black tea", "labels": ["tea"], "split": "test"})
    small(tea, *rows)
    options = ["--saved-work", path, "--min-documents", 1, "-q"]
    assert "\n1 test document" in call("train", tea, "-o", tmp_path / "m", *options).done()
    header = read_header(tmp_path / "m")
    assert header.labels == ("green", "milk", "tea")
    assert header.summary["documents"] == 14
    assert header.summary["saved_work"] == list(read_saved_documents(path).mark)


class TestTables:
    """The columns and separators of a table are what the options say."""

    def table(self, path, delimiter, separator, header):
        rows = [("hot tea with milk", "milk tea"), ("black tea", "tea"), ("cold milk", "milk")] * 4
        lines = [
            header,
            *((t, separator.join(y.split()), f"d{i}") for i, (t, y) in enumerate(rows)),
        ]
        path.write_text("".join(delimiter.join(line) + "\n" for line in lines))
        return path

    def test_other_names_and_separators_give_the_same_model(self, tea, tmp_path):
        path = self.table(tmp_path / "tea.csv", ";", "|", ("body", "tags", "key"))
        message = [f"--columns={named}" for named in ("text=body", "labels=tags", "id=key")]
        message += ["--separator", "|", "--delimiter", ";"]
        common = ["--min-documents", 1, "-q"]
        call("train", path, "-o", tmp_path / "table", *message, *common).done()
        call("train", tea, "-o", tmp_path / "lines", *common).done()
        texts = ["tea", "cold milk", "nothing"]
        np.testing.assert_array_equal(
            load(tmp_path / "table").predict_proba(texts),
            load(tmp_path / "lines").predict_proba(texts),
        )
        scores = [
            json.loads(call("evaluate", tmp_path / "table", corpus, "--json", *options).done())
            for corpus, options in ((path, message), (tea, []))
        ]
        assert scores[0] == scores[1]
        assert "labels       2: 'milk', 'tea'" in call("corpus", "info", path, *message).done()

    def test_wrong_separator_is_reported(self, tmp_path):
        path = self.table(tmp_path / "tea.tsv", "\t", ",", ("text", "labels", "id"))
        message = call("train", path, "-o", tmp_path / "m", "--min-documents", 1).refused()
        assert "',' is in 33% of the label cells, as in 'milk,tea'. Does it separate" in message
        arguments = ["train", path, "-o", tmp_path / "m", "--min-documents", 1]
        assert "3 labels: 'milk', 'milk,tea', 'tea'." in call(*arguments, "--separator", ";").err


class TestReading:
    MESSY = "Nr;Überblick;Schlagwörter\n" + "".join(
        f'{i};"hot tea, or\nmilk";{labels}\n'
        for i, labels in enumerate(["tea | milk |", "tea", "", "n/a", "milk"] * 4)
    )
    COLUMNS = ("--columns=text=Überblick", "--columns=labels=Schlagwörter", "--columns=id=Nr")

    def test_reading_is_reported_and_repeated_by_predict(self, tmp_path):
        path, out = tmp_path / "messy.csv", tmp_path / "m"
        path.write_bytes(self.MESSY.encode("utf-8-sig"))
        done = call("train", path, "-o", out, "--min-documents", 1, *self.COLUMNS)
        done.done()
        assert (
            "20 documents, 4 without labels, 3 labels: 'milk', 'n/a', 'tea', columns separated by "
            "semicolons, separator '|', text from 'Überblick', labels from 'Schlagwörter', id from "
            "'Nr'. Those without labels are kept; --unlabelled skip leaves them out." in done.err
        )
        assert "Note: 'n/a' is a label here" in done.err
        answers = call("predict", out, path, *self.COLUMNS, "-q").done().splitlines()
        assert [json.loads(answer)["id"] for answer in answers] == [str(i) for i in range(20)]

    def test_documents_without_labels_can_be_skipped(self, tmp_path):
        path, out = tmp_path / "messy.csv", tmp_path / "m"
        path.write_text(self.MESSY)
        options = ["--min-documents", 1, "--unlabelled", "skip", *self.COLUMNS]
        done = call("train", path, "-o", out, *options)
        done.done()
        assert "20 documents, 4 without labels left out, 3 labels" in done.err
        assert read_header(out).summary["documents"] == 16
        found = json.loads(call("evaluate", out, path, *self.COLUMNS, "--json", "-q").done())
        assert (found["documents"], found["labelled_documents"]) == (20, 16)
        said = call("evaluate", out, path, *self.COLUMNS).err
        assert "are over the 16 documents that have labels." in said

    def test_test_documents_are_held_out_and_scored(self, trained, model, news_file):
        _, done = trained
        assert "120 test documents held out and scored at the end; --all also learns" in done.err
        _, scored = done.out.split("120 test documents")
        found = json.loads(call("evaluate", model, news_file, "--json", "-q").done())
        assert f"{found['scores']['micro_f1']:.4f}" in scored


class TestWrongCalls:
    def test_other_files_are_not_overwritten(self, tea, tmp_path):
        before = tea.read_bytes()
        assert "another file than the input" in call("train", tea, "-o", tea).refused()
        link = tmp_path / "link"
        link.symlink_to(tea)
        assert "another file than the input" in call("train", tea, "-o", link).refused()
        assert tea.read_bytes() == before
        other = tmp_path / "notes.txt"
        other.write_text("mine")
        assert "must be a new file" in call("train", tea, "-o", other).refused()
        assert other.read_text() == "mine"

    def test_replace_overwrites_a_model(self, tea, tmp_path):
        arguments = ["train", tea, "-o", tmp_path / "m", "--min-documents", 1, "-q"]
        call(*arguments).done()
        message = call(*arguments, "--content", "naive_bayes").refused()
        assert "exists: --replace overwrites it" in message
        call(*arguments, "--content", "naive_bayes", "--replace").done()
        assert read_header(tmp_path / "m").summary["options"]["content"] == "naive_bayes"

    def test_missing_folder_is_an_error_before_training(self, tmp_path):
        message = call("train", "newsroom", "-o", tmp_path / "no" / "m").refused()
        assert "must be in a folder that exists" in message
        assert "is a folder" in call("train", "newsroom", "-o", tmp_path).refused()

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (["--thresholds", "best"], "a rule (fixed_cut, global_cut, scut"),
            (["--thresholds", "2"], "strictly between 0 and 1"),
            (["--evidence-weight", "-1"], "--evidence-weight must be a number of at least 0"),
            (["--at-least", "3", "--at-most", "2"], "--at-most must be a whole number"),
            (["--stop-words", "nowhere.txt"], "auto, smart, none or a file"),
            (["--encoding", "klingon"], "--encoding must be one that Python knows, got 'klingon'"),
            (["--rules", "nowhere.csv"], "does not exist"),
            (["--min-documents", "50"], "Lower --min-documents or give more"),
            (["--columns", "text=head"], "'head' must be the document's text, got no 'head'"),
            (["--separator", "|"], "separator must be of a table"),
        ],
    )
    def test_wrong_options_are_one_line(self, tea, tmp_path, options, expected):
        assert expected in call("train", tea, "-o", tmp_path / "m", *options, "-q").refused()
        assert not (tmp_path / "m").exists()

    def test_invalid_saved_work_is_an_error(self, tea, tmp_path):
        message = call("train", tea, "-o", tmp_path / "m", "--saved-work", tea, "-q").refused()
        assert "tea.jsonl" in message


@pytest.mark.parametrize("content", ["nearest_neighbours", "svm"])
def test_candidates_are_trained_evaluated_and_suggested(news_file, tmp_path, content):
    model = tmp_path / "few.labelkin"
    train = ("train", news_file, "-o", model, "--content", content, "--top", "8", "-q")
    header, alone, together = call(*train).done().splitlines()[:3]
    assert header.split("  ")[-1] == "candidate recall"
    assert 0.5 < float(alone.split()[-1]) == float(together.split()[-1]) <= 1
    scores = json.loads(call("evaluate", model, news_file, "--json").done())
    assert 0.5 < scores["scores"]["candidate_recall"] <= 1
    text = "wheat and corn prices rose after the harvest"
    suggested = json.loads(call("suggest", model, text, "--json").done())
    assert suggested


TITLED = [
    ("Tea", "Hot, with sugar, in a cup.", "tea"),
    ("Coffee", "Hot, with milk, in a cup.", "coffee"),
    ("", "Tea leaves and sugar.", "tea"),
    ("Coffee beans", "Black, with milk.", "coffee;milk"),
] * 6


@pytest.fixture
def titled_file(tmp_path):
    lines = ["headline,text,labels", *(f'{t},"{x}",{y}' for t, x, y in TITLED)]
    (tmp_path / "titled.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "titled.csv"


class TestEnsembles:
    def test_views_of_texts_and_a_title_column(self, titled_file, tmp_path):
        columns = ["--columns", "title=headline"]
        options = ["--views", "title,body,characters", "--min-documents", 1, *columns]
        call("train", titled_file, "-o", tmp_path / "m", *options).done()
        content = load(tmp_path / "m").content_
        names = {member.name for member in content.members_} | set(content.dropped_)
        assert names == {"title", "body", "characters"}
        message = call("predict", tmp_path / "m", titled_file, *columns, "--top", 1).done()
        given = [json.loads(line)["labels"][0] for line in message.splitlines()]
        assert given[:2] == ["tea", "coffee"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--views", "abstract"], "views must be of text, title, lead"),
            (["--views", "title", "--columns", "text=text"], "needs titles, and titled has none"),
            (["--content", "svm,tree"], "content must be one of"),
        ],
    )
    def test_invalid_views_are_errors(self, titled_file, tmp_path, options, message):
        assert message in call("train", titled_file, "-o", tmp_path / "m", *options, "-q").refused()

    def test_presets(self, titled_file, tmp_path):
        base = ["train", titled_file, "--columns", "title=headline", "--min-documents", 1]
        call(*base, "-o", tmp_path / "fast", "--preset", "fast", "-q").done()
        assert type(load(tmp_path / "fast")[-1].content_).__name__ == "NaiveBayes"
        call(*base, "-o", tmp_path / "default", "--preset", "default").done()
        assert type(load(tmp_path / "default")[-1].content_).__name__ == "PlattSVM"
        call(*base, "-o", tmp_path / "strong", "--preset", "strong").done()
        strong = load(tmp_path / "strong")
        assert [name for name, *_ in strong.content.members] == list(STRONG)
        assert strong.thresholds_.at_least_ == 1
        assert strong.predict(["Quite other words"]).sum() == 1
