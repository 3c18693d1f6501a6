// node compare_layer.js LAYER_JS: reads {layer, documents, answers} from stdin, writes log-odds.
const { decompose } = require(process.argv[2]);
const { layer, contents, answers } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answerOf = (said, name) => (said.accepted.includes(name) ? 1 : said.rejected.includes(name) ? 0 : null);
const taken = answers.map((said) =>
  decompose(layer, contents[said.document], layer.labels.map((name) => answerOf(said, name))),
);
process.stdout.write(JSON.stringify(taken));
