"""``inspect``, ``suggest`` and ``evaluate``: what a model file says, held against the library."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from in_process import call

from labelkin import (
    LabelDependenceClassifier,
    LabelRescorer,
    NaiveBayes,
    PlattSVM,
    corpora,
    load,
    save,
)
from labelkin.evaluation.metrics import evaluate
from labelkin.explain import explain_terms
from labelkin.prediction import FittedModel
from labelkin.storage import read_header

TEXT = "The wheat harvest failed, and parliament votes on grain prices."


@pytest.fixture(scope="module")
def pipeline(model):
    return load(model)


class TestInspect:
    def test_it_tells_what_the_file_holds(self, model, pipeline):
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

    def test_people_read_the_same(self, model):
        printed = call("inspect", model, "--top", 1).done()
        for expected in ("38: 'aviation', 'coffee'", "PlattSVM(random_state=0)", "content alone",
                         "trained: documents 300", "most related labels"):  # fmt: skip
            assert expected in printed
        assert not any(line.endswith(" ") for line in printed.splitlines())

    def test_a_model_without_label_evidence_has_no_bonds(self, vector_model):
        facts = json.loads(call("inspect", vector_model, "--json").done())
        assert facts["labels"] == ["sea", "town"]
        assert facts["related"] == []
        assert "'sea', 'town'" in call("inspect", vector_model).done()

    def test_a_foreign_or_broken_file_is_one_line(self, model, tmp_path):
        (tmp_path / "text").write_text("hello")
        assert "not a labelkin model file" in call("inspect", tmp_path / "text").refused()
        (tmp_path / "cut").write_bytes(model.read_bytes()[:-100])
        assert "cut" in call("inspect", tmp_path / "cut").refused()
        (tmp_path / "empty").touch()
        assert "empty" in call("inspect", tmp_path / "empty").refused()
        told = call("inspect", tmp_path / "none").refused()
        assert "There is no model file" in told
        assert "labelkin train writes one" in told
        call("inspect", tmp_path).refused()


class TestSuggest:
    def test_labels_are_ranked_as_the_library_ranks_them(self, model, pipeline):
        answer = json.loads(call("suggest", model, TEXT, "--top", 5, "--json").done())
        expected = pipeline[-1].suggest(pipeline[:-1].transform([TEXT]), top=5)[0]
        told = [(s["label"], s["probability"]) for s in answer["suggestions"]]
        assert told == [(s.label, s.probability) for s in expected]
        decided = pipeline[-1].label_sets(pipeline.predict([TEXT]))[0]
        given = [s["label"] for s in answer["suggestions"] if s["given"]]
        assert set(given) == set(decided) & {label for label, _ in told}

    def test_the_parts_add_up_and_words_are_those_of_the_library(self, model, pipeline):
        (top,) = json.loads(call("suggest", model, TEXT, "--top", 1, "--json").done())[
            "suggestions"
        ]
        np.testing.assert_allclose(sum(top["parts"].values()), top["log_odds"], atol=1e-9)
        labels = sum(label["log_odds"] for label in top["labels"]) + top["constant"]
        evidence = top["parts"]["predicted labels"] + top["parts"].get("known labels", 0)
        np.testing.assert_allclose(labels, evidence, atol=1e-9)
        [[words]] = explain_terms(pipeline, [TEXT], [top["label"]], top=6)
        assert top["words"] == [[t.term, t.log_odds] for t in words.terms]

    def test_others_react_to_what_is_accepted_and_refused(self, model, pipeline):
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

    def test_people_see_a_table_and_the_reasons(self, model):
        printed = call("suggest", model, TEXT, "--explain", "--top", 2, "--accept", "grain").done()
        assert printed.splitlines()[0].split() == [
            "label", "probability", "assigned", "prior", "content", "other", "labels",
        ]  # fmt: skip
        assert "accepted: grain" in printed.splitlines()
        assert "words: " in printed
        assert "grain (accepted)" in printed
        assert "words: " not in call("suggest", model, TEXT).done()

    def test_the_words_and_all_else_add_up_to_the_content(self, model):
        printed = call("suggest", model, TEXT, "--explain", "--top", 3).done()
        told = [line for line in printed.splitlines() if line.startswith("  words: ")]
        assert len(told) == 3
        for line in told:
            *shares, content = map(float, re.findall(r"[+-]\d+\.\d\d", line))
            assert "all else" in line
            np.testing.assert_allclose(sum(shares), content, atol=0.005 * len(shares) + 0.006)

    @pytest.mark.parametrize("options", [(), ("--explain",), ("--json", "--accept", "grain")])
    def test_words_content_and_posterior_are_computed_once(self, model, monkeypatch, options):
        calls = Counter()

        def count(owner, name):
            compute = getattr(owner, name)

            def counted(*arguments, **keywords):
                calls[name] += 1
                return compute(*arguments, **keywords)

            monkeypatch.setattr(owner, name, counted)

        count(FittedModel, "content")
        count(PlattSVM, "log_odds")
        for name in ("posterior", "rescore", "explain"):
            count(LabelRescorer, name)
        call("suggest", model, TEXT, *options).done()
        assert calls == {"content": 1, "log_odds": 1, "posterior": 1}

    def test_a_text_without_a_known_word_is_told(self, model):
        told = "the model knows few words of the text"
        assert told in call("suggest", model, "zzyzx").err
        assert told in call("suggest", model, "Der Preis von Tee ist gestern gestiegen.").err
        assert told not in call("suggest", model, TEXT).err

    @pytest.mark.parametrize("name", ["missing.txt", "texts/missing", "My text.docx", "a.PDF"])
    def test_a_file_that_does_not_exist_is_an_error(self, model, name):
        assert f"{name}: No such file. If it is" in call("suggest", model, name).refused()
        assert "probability" in call("suggest", model, name, "--text").done()

    def test_a_file_of_documents_is_rejected(self, model, tmp_path):
        (tmp_path / "a.csv").write_text("id,text\n1,tea\n")
        told = call("suggest", model, tmp_path / "a.csv").refused()
        assert "must be one document, and is a file of documents. Use labelkin predict." in told

    def test_the_text_may_come_from_stdin(self, model):
        assert (
            call("suggest", model, "-", stdin=TEXT.encode()).out == call("suggest", model, TEXT).out
        )

    def test_neighbours_are_named_where_words_are_not(self, news_file, tmp_path):
        path = tmp_path / "knn"
        call("train", news_file, "-o", path, "--content", "nearest_neighbours", "-q").done()
        printed = call("suggest", path, TEXT, "--explain", "--top", 1).done()
        assert "nearest training documents: " in printed

    def test_wrong_calls(self, model, vector_model, tmp_path):
        told = call("suggest", model, TEXT, "--accept", "grian").refused()
        assert "--accept must be one of the 38 labels of the model, got 'grian'" in told
        assert "Did you mean 'grain'" in told
        assert "It has 'aviation'" in call("suggest", model, TEXT, "--reject", "zzz").refused()
        told = call("suggest", model, TEXT, "--accept", "corn", "--reject", "corn").refused()
        assert "accepted or rejected, got 'corn' both" in told
        assert "document 0" not in told
        assert "takes vectors" in call("suggest", vector_model, TEXT).refused()
        assert "encoding" in call("suggest", model, "-", stdin=b"caf\xe9\x81").refused()
        assert "--top" in call("suggest", model, TEXT, "--top", 0).refused()

    def test_a_model_that_cannot_react(self, tmp_path):
        from sklearn.pipeline import make_pipeline

        from labelkin.text import WordCounts

        model = make_pipeline(WordCounts(min_documents=1), NaiveBayes())
        path = save(model.fit(["tea", "milk"], [["a"], ["b"]]), tmp_path / "m")
        assert "to react to labels" in call("suggest", path, TEXT).refused()


class TestEvaluate:
    def test_scores_are_those_of_the_library_on_the_test_part(self, model, pipeline, news_file):
        told = json.loads(call("evaluate", model, news_file, "--json", "--per-label").done())
        corpus = corpora.load(news_file)
        texts, truth = corpus.documents[corpus.test], corpus.Y[corpus.test]
        log_odds = pipeline[-1].log_odds(pipeline[:-1].transform(texts))
        expected = evaluate(truth, log_odds, pipeline.predict(texts))
        assert told["documents"] == 120
        assert told["part"] == "test"
        assert set(told["scores"]) == set(expected.scores())
        for name, value in expected.scores().items():
            np.testing.assert_allclose(told["scores"][name], value, rtol=1e-12)
        f1 = [row["f1"] for row in told["per_label"]]
        np.testing.assert_allclose(f1, expected.per_label()["f1"])
        assert {type(row[n]) for row in told["per_label"] for n in ("known", "true")} == {int}

    def test_other_parts_and_tables_for_people(self, model, news_file):
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

    def test_a_corpus_without_a_split_is_judged_whole(self, model, tmp_path):
        rows = [{"id": i, "text": "wheat and corn", "labels": ["corn", "odd"]} for i in range(3)]
        path = tmp_path / "plain.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = call("evaluate", model, path, "--json")
        told = json.loads(done.done())
        assert (told["part"], told["documents"], told["labels"]) == ("all", 3, 38)
        assert told["unknown_labels"] == ["odd"]
        assert "1 labels are unknown to the model and left out: 'odd'." in done.err
        assert "37 labels of the model are in none of the documents: 'aviation'" in done.err
        assert (
            "has no test documents"
            in call("evaluate", model, path, "--part", "test", "-q").refused()
        )

    def test_documents_that_the_model_has_learnt_from_are_told(self, model, news_file):
        told = "trained on documents of news that it is evaluated on here"
        assert told in call("evaluate", model, news_file, "--part", "all").err
        assert told in call("evaluate", model, news_file, "--part", "train").err
        assert told not in call("evaluate", model, news_file).err

    def test_wrong_calls(self, model, vector_model, news_file, tmp_path):
        told = call("evaluate", vector_model, news_file).refused()
        assert "takes vectors, and news has texts" in told
        foreign = tmp_path / "foreign.jsonl"
        foreign.write_text('{"id": 1, "text": "a", "labels": ["zoo"]}\n')
        assert "none in common" in call("evaluate", model, foreign, "-q").refused()
        assert "no file or folder" in call("evaluate", model, tmp_path / "no.csv").refused()


def test_a_model_for_vectors_is_evaluated_on_vectors(tmp_path):
    (tmp_path / "v.svm").write_text("0,1 1:2 2:1\n0 1:1\n1 2:3\n" * 4)
    corpus = corpora.load(tmp_path / "v.svm")
    model = LabelDependenceClassifier(NaiveBayes()).fit(corpus.documents, corpus.Y)
    path = save(model, tmp_path / "m")
    told = json.loads(call("evaluate", path, tmp_path / "v.svm", "--json").done())
    expected = evaluate(corpus.Y, model.log_odds(corpus.documents))
    np.testing.assert_allclose(told["scores"]["log_loss"], expected["log_loss"])


def test_a_file_is_the_document_not_its_name(model, tmp_path):
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


def test_the_best_is_what_predict_then_scores(model, news, news_file, limits, tmp_path):
    best = limits["best"]["micro_f1"]
    options = ["--top", best["limit"], "--threshold", best["threshold"], "-q"]
    answers = call("predict", model, news_file, *options).done().splitlines()
    pairs = list(zip(map(json.loads, answers), news.label_sets(), strict=True))[300:]
    right = sum(len(set(answer["labels"]) & set(labels)) for answer, labels in pairs)
    n_given = sum(len(answer["labels"]) for answer, _ in pairs)
    n_true = sum(len(labels) for _, labels in pairs)
    assert 2 * right / (n_given + n_true) == pytest.approx(best["score"], abs=1e-9)
    assert limits["documents"] == 120


def test_the_model_s_own_thresholds_stand_beside_it(model, news_file, limits):
    scores = json.loads(call("evaluate", model, news_file, "--json", "-q").done())["scores"]
    assert limits["own_thresholds"]["document_f1"] == pytest.approx(scores["document_f1"])


def test_optimize_prints_best_limits(model, news_file, limits):
    printed = call("optimize", model, news_file).done()
    assert f"{limits['best']['document_f1']['score']:.4f}" in printed
