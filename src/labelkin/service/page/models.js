/** Which model answers: shown when there is one, chosen when there are several. */

import { find, make, setText } from "./dom.js";
import { t } from "./words.js";

/** Show the models, with the current one chosen; `onChoose(id)` when the person takes another. */
export function showModels(models, onChoose) {
  const several = models.length > 1;
  const choice = find("model-choice");
  choice.replaceChildren(...models.map(({ id, name }) => make("option", { value: id }, name)));
  choice.hidden = !several;
  find("model-label").hidden = !several;
  find("model-name").hidden = several;
  choice.onchange = () => onChoose(choice.value);
}

/** Show which model is the current one. */
export function showCurrentModel(models, id) {
  const model = models.find((one) => one.id === id);
  if (!model) return;
  find("model-choice").value = id;
  setText(find("model-name"), model.name);
  const sizes = [t("n-labels", { n: model.n_labels })];
  if (model.n_documents) sizes.push(t("n-training", { n: model.n_documents }));
  setText(find("model-sizes"), sizes.join(", "));
}
