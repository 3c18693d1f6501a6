"""Label Studio's protocol: suggested choices, known drafts, annotations saved once."""

import pytest
from live_server import serving, wait_until

from labelkin.curation.saved_work import export_documents, read_saved_documents

CHOICES = """<View><Text name="text" value="$story"/>
<Choices name="topics" toName="text" choice="multiple">
<Choice value="gas"/><Choice value="crude-oil"/><Choice value="wheat"/>
<Choice value="Corn!" alias="corn"/><Choice value="grain"/>
<Choice value="unknown label"/></Choices></View>"""
TAXONOMY = """<View><Text name="text" value="$story"/><Taxonomy name="tree" toName="text">
<Choice value="farming"><Choice value="grain"><Choice value="wheat"/></Choice></Choice>
<Choice value="gas"/></Taxonomy></View>"""
DEEP = TAXONOMY.replace("<Choice", '<Choice value="a">' * 60 + "<Choice", 1)
DEEP = DEEP.replace("</Taxonomy>", "</Choice>" * 60 + "</Taxonomy>")
PROJECT = {"id": 3, "created_at": "2026-11-16T10:00:00Z", "label_config": CHOICES}
pytestmark = pytest.mark.xdist_group("service")


def chosen(*choices, name="topics", kind="choices"):
    return [{"from_name": name, "to_name": "text", "type": kind, "value": {kind: list(choices)}}]


def predict(client, *stories, config=CHOICES, params=None, drafts=(), model="news"):
    tasks = [
        {"id": i, "data": {"story": story}, "drafts": list(drafts), "project": 3}
        for i, story in enumerate(stories)
    ]
    body = {"tasks": tasks, "label_config": config, "params": params, "project": "3.17"}
    answer = client.post(f"/label-studio/{model}/predict", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def event(number=1, choices=("gas",), action="ANNOTATION_CREATED", story="Gas.", **more):
    annotation = {"id": number, "task": 9, "result": chosen(*choices), **more}
    task = {"id": 9, "data": {"story": story}}
    return {"action": action, "project": PROJECT, "task": task, "annotation": annotation}


def test_health_setup_and_versions(client):
    assert client.get("/label-studio/news/health").json()["status"] == "UP"
    body = {"project": "3.17", "schema": CHOICES, "hostname": "http://x", "access_token": "secret"}
    version = client.post("/label-studio/news/setup", json=body).json()["model_version"]
    assert version.startswith("news ")
    assert client.get("/label-studio/news/versions").json() == {"versions": [version]}
    assert client.get("/label-studio/none/health").status_code == 404


def test_suggestions_are_the_decisions_of_the_model(client, newsroom, news_model):
    stories = newsroom.documents[newsroom.test[:80]]
    decided = news_model.predict(stories)
    names = news_model[-1].label_names_.tolist()
    probabilities = news_model.predict_proba(stories)
    results = predict(client, *stories)
    there = {"gas", "crude-oil", "wheat", "corn", "grain"}
    n_given = 0
    for row, probability, result in zip(decided, probabilities, results, strict=True):
        expected = {names[j] for j in row.nonzero()[0]} & there
        given = result["result"][0]["value"]["choices"] if result["result"] else []
        assert set(given) == expected
        assert given == sorted(given, key=lambda name: -result["scores"][name])
        assert set(result["scores"]) == there
        for name, score in result["scores"].items():
            assert score == pytest.approx(probability[names.index(name)], rel=1e-5)
        n_given += len(given)
    assert n_given > 5


def test_chosen_place_in_a_taxonomy_is_kept(client):
    twice = TAXONOMY.replace('<Choice value="gas"/>', '<Choice value="wheat"/>')
    for way in (["wheat"], ["farming", "grain", "wheat"]):
        params = {"context": {"result": chosen(way, name="tree", kind="taxonomy")}}
        [result] = predict(client, "The harvest.", config=twice, params=params)
        given = result["result"][0]["value"]["taxonomy"]
        assert [one for one in given if one[-1] == "wheat"] == [way]


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("$a.b", {"a": {"b": "Wheat and grain harvest."}}),
        ("$a[1]", {"a": ["", "Wheat and grain harvest."]}),
        ("A story: $a", {"a": "Wheat and grain harvest."}),
    ],
)
def test_texts_are_found_by_the_keys_of_label_studio(client, value, data):
    config = CHOICES.replace("$story", value).replace("<View>", "<View><![CDATA[ ]]>", 1)
    tasks = [{"id": 1, "data": data}]
    body = {"tasks": tasks, "label_config": config}
    [found] = client.post("/label-studio/news/predict", json=body).json()["results"]
    [expected] = predict(client, "Wheat and grain harvest.")
    assert found == expected
    assert found["result"]


@pytest.mark.parametrize("where", ["context", "draft"])
def test_choices_of_a_draft_are_known_labels(client, where):
    [before] = predict(client, "The harvest.")
    result = chosen("wheat")
    older = {"updated_at": "2026-01-01", "result": chosen("gas")}
    drafts = [{"updated_at": "2026-01-02", "result": result}, older] if where == "draft" else []
    params = {"context": {"result": result}} if where == "context" else None
    [after] = predict(client, "The harvest.", params=params, drafts=drafts)
    assert "wheat" in after["result"][0]["value"]["choices"]
    assert after["scores"]["wheat"] == 1
    assert after["scores"]["grain"] > before["scores"]["grain"]


def test_uncertain_tasks_have_a_low_score(client, newsroom):
    results = predict(client, *newsroom.documents[newsroom.test[:40]])
    scores = [result["score"] for result in results]
    assert all(0 < score <= 1 for score in scores)
    open_ones = [sum(p * (1 - p) for p in result["scores"].values()) for result in results]
    surest, least = scores.index(max(scores)), scores.index(min(scores))
    assert open_ones[surest] < open_ones[least]


@pytest.fixture
def alone(news_file, tmp_path):
    saved_work = tmp_path / "saved.sqlite"
    with serving(news_file, saved_work=saved_work) as asking:
        yield asking, saved_work


def test_an_annotation_is_saved_once_and_changes_the_next_prediction(alone):
    client, saved_work = alone
    [before] = predict(client, "Something.")
    for _ in range(2):  # a webhook may come again
        for number in range(40):
            body = event(number, ("gas", "wheat", "unknown label"), story=f"Story {number}")
            answer = client.post("/label-studio/news/webhook", json=body)
            assert answer.json() == {"saved": 1, "withdrawn": 0}
    documents, label_sets, _ = read_saved_documents(saved_work)
    assert documents == [f"Story {number}" for number in range(40)]
    assert set(label_sets) == {("gas", "wheat", "unknown label")}

    def learned():
        return client.get("/api/models/news/saved").json()["learned"] == 40

    wait_until(learned)
    [after] = predict(client, "Something.")
    assert after["model_version"] != before["model_version"]
    params = {"context": {"result": chosen("gas")}}
    assert predict(client, "x", params=params)[0]["scores"]["wheat"] > before["scores"]["wheat"]
    assert client.get("/api/models/news/saved").json()["documents"] == 40


def test_an_update_replaces_and_a_deletion_withdraws(alone):
    client, saved_work = alone

    def send(body):
        answer = client.post("/label-studio/news/webhook", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def state():
        return client.get("/api/models/news/saved").json()

    send(event(1, ("gas",)))
    send(event(2, ("wheat",)))
    wait_until(lambda: state()["learned"] == 2)
    [first] = predict(client, "x")
    send(event(1, ("grain",), action="ANNOTATION_UPDATED"))
    assert read_saved_documents(saved_work).label_sets == [("wheat",), ("grain",)]
    wait_until(lambda: predict(client, "x")[0]["model_version"] != first["model_version"])
    assert state()["documents"] == state()["learned"] == 2
    assert send({"action": "TASKS_CREATED"}) == {"saved": 0, "withdrawn": 0}
    gone = {"action": "ANNOTATIONS_DELETED", "project": PROJECT, "annotations": [{"id": 2}]}
    assert send(gone)["withdrawn"] == 1
    assert send(event(1, (), was_cancelled=True, action="ANNOTATION_UPDATED"))["withdrawn"] == 1
    assert read_saved_documents(saved_work).label_sets == []
    wait_until(lambda: state()["learned"] == 0)
    assert state()["documents"] == 0
    send(gone)
    send(event(2, ("wheat",), action="ANNOTATION_UPDATED"))
    assert read_saved_documents(saved_work).label_sets == [("wheat",)]


def test_late_and_repeated_messages_change_nothing(alone):
    client, saved_work = alone

    def send(body):
        assert client.post("/label-studio/news/webhook", json=body).status_code == 200
        return read_saved_documents(saved_work).label_sets

    assert send(event(1, ("gas",))) == [("gas",)]
    assert send(event(1, ("grain",), action="ANNOTATION_UPDATED")) == [("grain",)]
    assert send(event(1, ("gas",))) == [("grain",)]
    gone = {"action": "ANNOTATIONS_DELETED", "project": PROJECT, "annotations": [{"id": 1}]}
    assert send(gone) == []
    assert send(event(1, ("gas",))) == []
    wait_until(lambda: client.get("/api/models/news/saved").json()["learned"] == 0)
    assert client.get("/api/models/news/saved").json()["documents"] == 0


def test_removed_suggestions_are_rejected_labels(alone):
    client, saved_work = alone
    body = event(5, ("gas",), prediction={"result": chosen("gas", "wheat")})
    client.post("/label-studio/news/webhook", json=body)
    [entry] = export_documents(saved_work)
    assert (entry["labels"], entry["rejected"]) == (["gas"], ["wheat"])


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ("<View>", "must be the XML of Label Studio"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><View/>', "got a document type"),
        ("<View/>", "got no choices"),
        pytest.param(DEEP, "nested more than 50 deep", id="deep choices"),
        pytest.param("<View>" * 10**5 + "</View>" * 10**5, "got no choices", id="deep"),
        (
            CHOICES.replace('alias="corn"', "").replace('Choice value="', 'Choice value="not '),
            "choices 'not gas'",
        ),
        (CHOICES.replace("<Text", '<Text valueType="url"'), "got no choices"),
    ],
)
def test_interface_without_labels_of_the_model_is_a_problem(client, config, rule):
    answer = client.post("/label-studio/news/setup", json={"schema": config})
    assert answer.status_code == 422
    assert rule in answer.json()["detail"]


def test_tasks_and_events_that_do_not_fit_are_problems(client):
    def problem(route, body):
        answer = client.post(f"/label-studio/news/{route}", json=body)
        return answer.status_code, answer.json()["detail"]

    for data in ({"story": [1]}, {"text": "Gas."}, None):
        body = {"tasks": [{"id": 1, "data": data}], "label_config": CHOICES}
        status, detail = problem("predict", body)
        assert (status, "must have texts in data, under 'story'" in detail) == (422, True)
    assert "send its payload" in problem("webhook", {"action": "ANNOTATION_CREATED"})[1]
    assert problem("predict", {"tasks": [{}] * 257, "label_config": CHOICES})[0] == 413
