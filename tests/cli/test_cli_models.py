"""``inspect``, ``suggest``, ``evaluate`` and ``optimize`` return the library's results."""

import json

import numpy as np
import pytest
from in_process import call

from labelkin import (
    LabelDependenceClassifier,
    NaiveBayes,
    corpora,
    load,
    save,
)
from labelkin.evaluation.metrics import evaluate
from labelkin.explain import explain_terms
from labelkin.storage import read_header

TEXT = "The wheat harvest failed, and parliament votes on grain prices."


@pytest.fixture(scope="module")
def pipeline(model):
    return load(model)


class TestInspect:
    def test_json_equals_the_contents_of_the_file(self, model, pipeline):
        facts = json.loads(call("inspect", model, "--json").done())
        header = read_header(model)
        assert facts["labels"] == list(header.labels)
        assert facts["bytes"] == model.stat().st_size
        assert facts["versions"] == header.versions
        assert facts["summary"] == header.summary
        assert facts["terms"] == len(pipeline[0].vocabulary_)
        assert facts["evidence_weight"] == pipeline[-1].evidence_weight_
        assert [cut["label"] for cut in facts["cuts"]] == list(header.labels)
        assert len(facts["related"]) == 20
        strengths = [edge["strength"] for edge in facts["related"]]
        bounds = [abs(edge["bound"]) for edge in facts["related"]]
        assert bounds[:10] == sorted(bounds[:10], reverse=True)
        assert max(strengths[10:]) < 0 < min(strengths[:10])

    def test_model_without_label_evidence_has_no_related_labels(self, vector_model):
        facts = json.loads(call("inspect", vector_model, "--json").done())
        assert facts["labels"] == ["sea", "town"]
        assert facts["related"] == []
        assert "'sea', 'town'" in call("inspect", vector_model).done()

    def test_invalid_model_file_is_one_line(self, model, tmp_path):
        (tmp_path / "text").write_text("hello")
        assert "not a labelkin model file" in call("inspect", tmp_path / "text").refused()
        (tmp_path / "cut").write_bytes(model.read_bytes()[:-100])
        assert "cut" in call("inspect", tmp_path / "cut").refused()
        (tmp_path / "empty").touch()
        assert "empty" in call("inspect", tmp_path / "empty").refused()
        assert "does not exist" in call("inspect", tmp_path / "none").refused()
        call("inspect", tmp_path).refused()


class TestSuggest:
    def test_suggestions_equal_those_of_the_library(self, model, pipeline):
        answer = json.loads(call("suggest", model, TEXT, "--top", 5, "--json").done())
        expected = pipeline[-1].suggest(pipeline[:-1].transform([TEXT]), top=5)[0]
        message = [(s["label"], s["probability"]) for s in answer["suggestions"]]
        assert message == [(s.label, s.probability) for s in expected]
        decided = pipeline[-1].label_sets(pipeline.predict([TEXT]))[0]
        given = [s["label"] for s in answer["suggestions"] if s["given"]]
        assert set(given) == set(decided) & {label for label, _ in message}

    def test_parts_add_up_and_words_equal_those_of_the_library(self, model, pipeline):
        (top,) = json.loads(call("suggest", model, TEXT, "--top", 1, "--json").done())[
            "suggestions"
        ]
        np.testing.assert_allclose(sum(top["parts"].values()), top["log_odds"], atol=1e-9)
        labels = sum(label["log_odds"] for label in top["labels"]) + top["constant"]
        evidence = top["parts"]["predicted labels"] + top["parts"].get("known labels", 0)
        np.testing.assert_allclose(labels, evidence, atol=1e-9)
        [[words]] = explain_terms(pipeline, [TEXT], [top["label"]], top=6)
        assert top["words"] == [[t.term, t.log_odds] for t in words.terms]

    def test_accepted_and_rejected_labels_change_the_others(self, model, pipeline):
        options = ["--accept", "corn", "--reject", "parliament", "--json", "--top", 38]
        answer = json.loads(call("suggest", model, TEXT, *options).done())
        known = {"accepted": ["corn"], "rejected": ["parliament"]}
        assert answer["known"] == known
        vectors = pipeline[:-1].transform([TEXT])
        expected = pipeline[-1].suggest(vectors, top=38, known=known)[0]
        assert [(s["label"], s["probability"]) for s in answer["suggestions"]] == [
            (s.label, s.probability) for s in expected
        ]
        assert {"corn", "parliament"}.isdisjoint(s["label"] for s in answer["suggestions"])

    def test_few_known_words_are_reported(self, model):
        message = "the model knows few words of the text"
        assert message in call("suggest", model, "zzyzx").err
        assert message in call("suggest", model, "Der Preis von Tee ist gestern gestiegen.").err
        assert message not in call("suggest", model, TEXT).err

    @pytest.mark.parametrize("name", ["missing.txt", "texts/missing", "My text.docx", "a.PDF"])
    def test_a_file_that_does_not_exist_is_an_error(self, model, name):
        assert f"{name}: No such file. If it is" in call("suggest", model, name).refused()
        assert "probability" in call("suggest", model, name, "--text").done()

    def test_a_file_of_documents_is_rejected(self, model, tmp_path):
        (tmp_path / "a.csv").write_text("id,text\n1,tea\n")
        message = call("suggest", model, tmp_path / "a.csv").refused()
        assert "must be one document, and is a file of documents. Use labelkin predict." in message

    def test_nearest_documents_explain_nearest_neighbours(self, news_file, tmp_path):
        path = tmp_path / "knn"
        call("train", news_file, "-o", path, "--content", "nearest_neighbours", "-q").done()
        printed = call("suggest", path, TEXT, "--explain", "--top", 1).done()
        assert "nearest training documents: " in printed

    def test_wrong_calls(self, model, vector_model, tmp_path):
        message = call("suggest", model, TEXT, "--accept", "grian").refused()
        assert "--accept must be one of the 38 labels of the model, got 'grian'" in message
        assert "Did you mean 'grain'" in message
        assert "It has 'aviation'" in call("suggest", model, TEXT, "--reject", "zzz").refused()
        message = call("suggest", model, TEXT, "--accept", "corn", "--reject", "corn").refused()
        assert "accepted or rejected, got 'corn' both" in message
        assert "document 0" not in message
        assert "takes vectors" in call("suggest", vector_model, TEXT).refused()
        assert "encoding" in call("suggest", model, "-", stdin=b"caf\xe9\x81").refused()
        assert "--top" in call("suggest", model, TEXT, "--top", 0).refused()

    def test_model_without_label_evidence_is_rejected(self, tmp_path):
        from sklearn.pipeline import make_pipeline

        from labelkin.text import WordCounts

        model = make_pipeline(WordCounts(min_documents=1), NaiveBayes())
        path = save(model.fit(["tea", "milk"], [["a"], ["b"]]), tmp_path / "m")
        assert "to react to labels" in call("suggest", path, TEXT).refused()


class TestEvaluate:
    def test_scores_are_those_of_the_library_on_the_test_part(self, model, pipeline, news_file):
        message = json.loads(call("evaluate", model, news_file, "--json", "--per-label").done())
        corpus = corpora.load(news_file)
        texts, truth = corpus.documents[corpus.test], corpus.Y[corpus.test]
        log_odds = pipeline[-1].log_odds(pipeline[:-1].transform(texts))
        expected = evaluate(truth, log_odds, pipeline.predict(texts))
        assert message["documents"] == 120
        assert message["part"] == "test"
        assert set(message["scores"]) == set(expected.scores())
        for name, value in expected.scores().items():
            np.testing.assert_allclose(message["scores"][name], value, rtol=1e-12)
        f1 = [row["f1"] for row in message["per_label"]]
        np.testing.assert_allclose(f1, expected.per_label()["f1"])
        assert {type(row[n]) for row in message["per_label"] for n in ("known", "true")} == {int}

    def test_tables_of_all_documents(self, model, news_file):
        done = call("evaluate", model, news_file, "--part", "all", "--per-label")
        first = done.out.splitlines()[0]
        scores = json.loads(call("evaluate", model, news_file, "--part", "all", "--json").out)
        right, found, f1 = (scores["scores"][f"micro_{x}"] for x in ("precision", "recall", "f1"))
        assert first.startswith("420 documents (all), 38 labels. ")
        assert f"{right:.0%} of the assigned labels are right (micro precision), " in first
        assert f"and {found:.0%} of the right labels are found (micro recall)." in first
        assert first.endswith(f"micro F1 {f1:.3f}.")
        assert "micro_f1" in done.out
        assert "wheat" in done.out
        assert call("evaluate", model, news_file, "-q").err == ""

    def test_corpus_without_a_split_is_evaluated_whole(self, model, tmp_path):
        rows = [{"id": i, "text": "wheat and corn", "labels": ["corn", "odd"]} for i in range(3)]
        path = tmp_path / "plain.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = call("evaluate", model, path, "--json")
        message = json.loads(done.done())
        assert (message["part"], message["documents"], message["labels"]) == ("all", 3, 38)
        assert message["unknown_labels"] == ["odd"]
        assert "1 labels are unknown to the model and left out: 'odd'." in done.err
        assert "37 labels of the model are in none of the documents: 'aviation'" in done.err
        assert (
            "has no test documents"
            in call("evaluate", model, path, "--part", "test", "-q").refused()
        )

    def test_evaluation_on_training_documents_is_reported(self, model, news_file):
        message = "trained on documents of news that it is evaluated on here"
        assert message in call("evaluate", model, news_file, "--part", "all").err
        assert message in call("evaluate", model, news_file, "--part", "train").err
        assert message not in call("evaluate", model, news_file).err


def test_a_model_for_vectors_is_evaluated_on_vectors(tmp_path):
    (tmp_path / "v.svm").write_text("0,1 1:2 2:1\n0 1:1\n1 2:3\n" * 4)
    corpus = corpora.load(tmp_path / "v.svm")
    model = LabelDependenceClassifier(NaiveBayes()).fit(corpus.documents, corpus.Y)
    path = save(model, tmp_path / "m")
    message = json.loads(call("evaluate", path, tmp_path / "v.svm", "--json").done())
    expected = evaluate(corpus.Y, model.log_odds(corpus.documents))
    np.testing.assert_allclose(message["scores"]["log_loss"], expected["log_loss"])


def test_text_of_a_file_is_the_document(model, tmp_path):
    path = tmp_path / "wheat.txt"
    path.write_bytes("The café raised the price of coffee.\n".encode("cp1252"))
    done = call("suggest", model, path, "--json")
    text = call("suggest", model, "The café raised the price of coffee.\n", "--json").done()
    assert done.done() == text
    assert "wheat.txt is a file: its 37 characters are the document." in done.err
    assert call("suggest", model, "word " * 2000).code == 0


@pytest.fixture(scope="module")
def limits(model, news_file):
    return json.loads(call("optimize", model, news_file, "--json", "-q").done())


def test_best_limits_equal_the_score_of_predict(model, news, news_file, limits, tmp_path):
    best = limits["best"]["micro_f1"]
    options = ["--top", best["limit"], "--threshold", best["threshold"], "-q"]
    answers = call("predict", model, news_file, *options).done().splitlines()
    pairs = list(zip(map(json.loads, answers), news.label_sets(), strict=True))[300:]
    right = sum(len(set(answer["labels"]) & set(labels)) for answer, labels in pairs)
    n_given = sum(len(answer["labels"]) for answer, _ in pairs)
    n_true = sum(len(labels) for _, labels in pairs)
    assert 2 * right / (n_given + n_true) == pytest.approx(best["score"], abs=1e-9)
    assert limits["documents"] == 120


def test_optimize_prints_best_limits(model, news_file, limits):
    printed = call("optimize", model, news_file).done()
    assert f"{limits['best']['document_f1']['score']:.4f}" in printed
