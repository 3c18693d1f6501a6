"""
A gain is believed when chance is an unlikely explanation
=========================================================

Hard and soft labels (the paper's M1 and M2) against the content alone, with the paper's tests and a
bootstrap interval.
"""

from sklearn.feature_extraction.text import CountVectorizer

from labelkin import LabelRescorer, NaiveBayes, corpora, metrics, significance

news = corpora.newsroom(1500)
X = CountVectorizer().fit_transform(news.documents)
Y_train, Y_test = news.Y.rows(news.train), news.Y.rows(news.test)

# %% Content evidence is computed once; both variants start from it
content = NaiveBayes().fit(X[news.train], Y_train).log_odds(X[news.test])
for variant in ("hard", "soft"):
    rescorer = LabelRescorer(variant=variant, evidence_weight=1, scale="log_odds").fit(Y_train)
    posterior = rescorer.rescore(content)
    micro = significance.micro_sign_test(Y_test, content > 0, posterior > 0)
    macro = significance.macro_sign_test(Y_test, content > 0, posterior > 0)
    interval = significance.paired_bootstrap(
        Y_test, content > 0, posterior > 0, metrics.macro_f1, n_draws=300, random_state=0
    )
    print(f"{variant} labels")
    print(f"  s-test {micro.sign} (P = {micro.p_value:.3g})")
    print(f"  S-test {macro.sign} (P = {macro.p_value:.3g})")
    print(f"  macro F1 {interval.difference:+.4f} [{interval.low:+.4f}, {interval.high:+.4f}]")
