"""What users have reported, each as a test that fails without its correction."""
import pickle, subprocess, sys, warnings

import numpy as np, pytest
from sklearn.datasets import load_digits, load_iris, make_blobs
from tsnmf import TSNMF, Constraints
from tsnmf.baselines import SNMF
from tsnmf.checks import ConstraintError, ConstraintWarning
from tsnmf.constraints import random_pairs
from tsnmf.graph import knn_graph, nearest_neighbors
from tsnmf.metrics import clustering_accuracy, constraint_satisfaction

BLOBS, CLASSES = make_blobs(60, centers=3, random_state=0)


def test_a_lone_cannot_link_between_near_samples_is_kept():
    X = np.array([[0, 0], [0, .1], [.1, 0], [5, 5], [5, 5.1], [5.1, 5]])
    labels = TSNMF(2, random_state=0).fit_predict(X, cannot_link=[(0, 1)])
    assert labels[0] != labels[1]


@pytest.mark.parametrize('k', [2, 3])
def test_a_sample_and_its_nearest_neighbour_can_be_told_apart(k):
    X, _ = make_blobs(100, centers=2, random_state=1)
    nearest = nearest_neighbors(X, 1)[0].ravel()
    for i in range(0, 100, 20):
        labels = TSNMF(k, random_state=0, n_embeddings=2, max_iter=1).fit_predict(X, cannot_link=[(i, int(nearest[i]))])
        assert labels[i] != labels[nearest[i]]


def test_hundreds_of_cannot_links_move_the_clusters():
    X, y = make_blobs(150, centers=3, cluster_std=1.5, random_state=5)
    known = Constraints(150, cannot_link=random_pairs(y, 640, random_state=0).cannot_link)
    labels = TSNMF(3, random_state=0).fit_predict(X, known)
    assert known.satisfaction(labels) == 1 and clustering_accuracy(y, labels) >= .93


@pytest.mark.parametrize('unknown', [-1, '-1', '', None, np.nan])
def test_unknown_labels_among_words_are_unknown(unknown):
    partial = ['abc'[c] if i < 6 else unknown for i, c in enumerate(CLASSES)]
    assert Constraints.from_labels(partial).n_must_link == Constraints.from_labels(np.where(np.arange(60) < 6, CLASSES, -1)).n_must_link
    assert np.bincount(TSNMF(3, random_state=0).fit_predict(BLOBS, partial)).min() > 5


def test_the_unit_of_a_precomputed_similarity_does_not_matter():
    X, y = make_blobs(90, centers=3, random_state=0, cluster_std=2)
    known, S = random_pairs(y, 60, random_state=1), knn_graph(X)
    labels = [TSNMF(3, affinity='precomputed', random_state=0).fit_predict(S * unit, known) for unit in (.01, 1, 10)]
    for others in labels[1:]: assert (others == labels[0]).all()


@pytest.mark.parametrize('unit, offset', [(1, 1e9), (2.**-560, 0), (2.**660, 0)])
def test_units_and_offsets_of_the_samples_do_not_matter(unit, offset):
    X = load_digits().data[:200]
    expected = TSNMF(10, random_state=0).fit(X).labels_
    model = TSNMF(10, random_state=0).fit(X * unit + offset)
    assert (model.labels_ == expected).all() and (model.predict(X * unit + offset) == expected).all()


def test_a_width_that_makes_all_weights_vanish_is_told():
    with pytest.warns(UserWarning, match='unit length'): SNMF(3, random_state=0, max_iter=2).fit(BLOBS * 1000)


@pytest.mark.parametrize('wrong', [dict(sigma=np.nan), dict(variant='Paper'), dict(lam=-1), dict(init='kmeans')])
def test_parameters_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=list(wrong)[0]): TSNMF(3, **wrong).fit(BLOBS)


def test_pairs_that_are_not_kept_are_told():
    known = random_pairs(CLASSES, 60, random_state=0)
    with pytest.warns(ConstraintWarning, match='not kept'): model = TSNMF.paper(3, random_state=0).fit(BLOBS, known)
    assert len(model.broken_pairs_) == round(len(known.pairs) * (1 - constraint_satisfaction(model.labels_, known)))


@pytest.mark.parametrize('k, apart', [(2, [(0, 20), (20, 40), (0, 40)]), (1, [(0, 1)])])
def test_impossible_wishes_are_refused(k, apart):
    with pytest.raises(ConstraintError, match=f'n_clusters={k} is too small'): TSNMF(k).fit(BLOBS, cannot_link=apart)


def test_more_classes_than_clusters_are_told():
    with pytest.warns(ConstraintWarning, match='3 classes for n_clusters=2'): TSNMF(2, random_state=0).fit(BLOBS, CLASSES)


@pytest.mark.parametrize('k', [6, 10])
def test_as_many_clusters_as_asked_for_and_columns_that_match(k):
    X, y = load_iris(return_X_y=True)
    model = TSNMF(k, random_state=0).fit(X, random_pairs(y, 400, random_state=1))
    assert len(np.unique(model.labels_)) == k and (model.embedding_.argmax(axis=1) == model.labels_).all()


def test_prediction_of_samples_that_were_fitted_is_their_label_in_another_process_too(tmp_path):
    X, y = make_blobs(90, centers=3, random_state=0, cluster_std=2)
    model = TSNMF(3, random_state=0).fit(X, random_pairs(y, 60, random_state=1))
    assert (model.predict(X) == model.labels_).all()
    (tmp_path/'model').write_bytes(pickle.dumps((model, X)))
    script = f'import pickle; m, X = pickle.load(open({str(tmp_path/"model")!r}, "rb")); assert (m.predict(X) == m.labels_).all()'
    subprocess.run([sys.executable, '-c', script], check=True)


def test_labels_for_everybody_cost_next_to_nothing():
    import tracemalloc
    X, y = make_blobs(8000, centers=10, n_features=10, random_state=0)
    tracemalloc.start()
    labels = TSNMF(10, random_state=0).fit(X, y).labels_
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert clustering_accuracy(y, labels) == 1 and peak < 200


def test_many_groups_do_not_overflow():
    n = 100_000
    y = np.random.default_rng(0).integers(10, size=n)
    known = random_pairs(y, 200_000, random_state=0)
    assert known.closure().apart.min() >= 0 and known.closure().satisfaction(y) == 1


def test_many_answers_that_contradict_each_other_are_evidence():
    X, y = make_blobs(60, centers=3, random_state=0)
    known = random_pairs(y, 300, random_state=0)  # so many that nearly all of them follow from others
    sign = known.sign.copy()
    sign[::10] *= -1
    said = Constraints(60, known.pairs[sign > 0], known.pairs[sign < 0])
    assert said.contradictions()
    model = TSNMF(3, noise='auto', random_state=0).fit(X, said)
    assert clustering_accuracy(y, model.labels_) > .85 and .02 < model.noise_ < .2


def test_two_answers_that_contradict_each_other_are_evidence():
    X, _ = make_blobs(60, centers=2, random_state=0)
    assert len(TSNMF(2, noise='auto', random_state=0).fit(X, must_link=[(0, 1)], cannot_link=[(0, 1)]).labels_) == 60


def test_one_cluster_is_not_worth_a_warning():
    X, _ = make_blobs(60, centers=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert set(TSNMF(1).fit_predict(X)) == {0}
