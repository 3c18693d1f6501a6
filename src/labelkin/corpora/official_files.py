"""The files of known corpora at their official homes.

A size or a checksum stands here only if a source that can be cited gives it; the source is named.
"""

from __future__ import annotations

from labelkin.corpora.download import RemoteFile

MULAN_HOME = "http://mulan.sourceforge.net/datasets-mlc.html"
OHSUMED_HOME = "http://disi.unitn.it/moschitti/corpora.htm"
RCV1_HOME = "http://www.jmlr.org/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm"
REUTERS_HOME = "http://www.daviddlewis.com/resources/testcollections/reuters21578/"

# Lewis' page calls the copies at UCI identical and asks to take those.
REUTERS_FILE = RemoteFile(
    name="reuters21578.tar.gz",
    urls=(
        "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/"
        "reuters21578.tar.gz",
        f"{REUTERS_HOME}reuters21578.tar.gz",
    ),
    size=8_150_596,
    sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
    vouched_by="github.com/huggingface/datasets, datasets/reuters21578/dataset_infos.json",
)

OHSUMED_FILE = RemoteFile(
    name="ohsumed-first-20000-docs.tar.gz",
    urls=("http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
)


def mulan_file(name: str) -> RemoteFile:
    """Return the archive of a corpus of MULAN."""
    address = f"https://sourceforge.net/projects/mulan/files/datasets/{name}.rar/download"
    return RemoteFile(name=f"{name}.rar", urls=(address,))


def _rcv1_file(path: str, figshare: int, sha256: str) -> RemoteFile:
    """Return a file of the article's online appendix; scikit-learn has a copy at figshare."""
    return RemoteFile(
        name=path.rsplit("/", maxsplit=1)[-1],
        urls=(
            f"http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/{path}",
            f"https://ndownloader.figshare.com/files/{figshare}",
        ),
        sha256=sha256,
        vouched_by="scikit-learn 1.9, sklearn/datasets/_rcv1.py, of its copy",
    )


RCV1_FILES = (
    _rcv1_file(
        "a13-vector-files/lyrl2004_vectors_train.dat.gz",
        5976057,
        "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
    ),
    _rcv1_file(
        "a13-vector-files/lyrl2004_vectors_test_pt0.dat.gz",
        5976069,
        "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
    ),
    _rcv1_file(
        "a13-vector-files/lyrl2004_vectors_test_pt1.dat.gz",
        5976066,
        "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
    ),
    _rcv1_file(
        "a13-vector-files/lyrl2004_vectors_test_pt2.dat.gz",
        5976063,
        "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
    ),
    _rcv1_file(
        "a13-vector-files/lyrl2004_vectors_test_pt3.dat.gz",
        5976060,
        "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
    ),
    _rcv1_file(
        "a08-topic-qrels/rcv1-v2.topics.qrels.gz",
        5976048,
        "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    ),
)
