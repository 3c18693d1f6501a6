"""Is one system better than another, or was it luck? Two sign tests and a paired bootstrap.

:func:`micro_sign_test` and :func:`macro_sign_test` are the paper's s-test and S-test, on decisions.
:func:`paired_bootstrap` gives an interval and a P value for the difference in any metric, on
decisions or log-odds. Each returns a record that names both systems and carries a sign, read as in
the paper: ``≪`` and ``<`` say that the baseline is worse than the proposal, ``≫`` and ``>`` that it
is better (P < 0.01 and P < 0.05), ``~`` that nothing was shown. :func:`rank_test` compares many
systems over several corpora.
"""

from labelkin.evaluation.significance.bootstrap import (
    SUMMED_METRICS,
    Bootstrap,
    SummedMetric,
    paired_bootstrap,
)
from labelkin.evaluation.significance.ranks import RankTest, rank_test
from labelkin.evaluation.significance.sign_tests import (
    SignTest,
    macro_sign_test,
    micro_sign_test,
    sign_test_p_value,
)

__all__ = [
    "SUMMED_METRICS",
    "Bootstrap",
    "RankTest",
    "SignTest",
    "SummedMetric",
    "macro_sign_test",
    "micro_sign_test",
    "paired_bootstrap",
    "rank_test",
    "sign_test_p_value",
]
