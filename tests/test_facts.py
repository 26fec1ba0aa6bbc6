"""Whatever the data: facts are kept, no cluster is empty, and what cannot be kept is refused with a proof."""
import warnings
from itertools import product

import numpy as np, pytest
from sklearn.datasets import make_blobs, make_moons
from tsnmf import TSNMF, Constraints
from tsnmf.checks import ConstraintError
from tsnmf.constraints import random_pairs
from tsnmf.graph import knn_graph
from tsnmf.runs import unsure

KINDS = 'blobs', 'moons', 'noise', 'copies', 'precomputed'
QUICK = dict(n_embeddings=2, max_iter=1, snmf_max_iter=50, random_state=0)


def samples(kind, n, k, rng):
    "Samples of a kind; their classes do not matter, since the hidden clustering has nothing to do with them"
    seed = int(rng.integers(2**31))
    if kind == 'moons': return make_moons(n, noise=.1, random_state=seed)[0]
    if kind == 'noise': return rng.random((n, 3))
    X = make_blobs(n, centers=k, random_state=seed)[0]
    return X[rng.integers(max(3, n // 4), size=n)] if kind == 'copies' else X


def facts(n, k, rng):
    "Pairs that a hidden clustering with k clusters answers, at times about every sample"
    hidden = np.append(np.arange(k), rng.integers(k, size=n - k))
    rng.shuffle(hidden)
    pairs = rng.integers(n, size=(int(rng.integers(1, 3 * n)), 2))
    if rng.random() < .3: pairs = np.vstack([pairs, np.column_stack([np.arange(n), rng.permutation(n)])])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    return Constraints(n, pairs[same], pairs[~same])


@pytest.mark.parametrize('batch', range(20))
def test_facts_are_kept_and_no_cluster_is_empty(batch):
    for seed in range(25 * batch, 25 * batch + 25):
        rng = np.random.default_rng(seed)
        n, k = int(8 * 25**rng.random()), int(rng.integers(2, 9))  # 8 to 200, small ones more often
        known = facts(n, min(k, n // 2), rng)
        kind = KINDS[seed % len(KINDS)]
        X = samples(kind, n, k, rng)
        model = TSNMF(k, **QUICK)
        if kind == 'precomputed': model.set_params(affinity='precomputed')
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            warnings.filterwarnings('ignore', 'an inner solver reached')
            if len(known.deduce(k).partition) < k: warnings.filterwarnings('ignore', '.*clusters instead of')
            model.fit(knn_graph(X) if kind == 'precomputed' else X, known)
        assert known.satisfaction(model.labels_) == 1 and not len(model.broken_pairs_), seed
        assert len(np.unique(model.labels_)) == min(k, len(known.deduce(k).partition)), seed
        assert (model.embedding_.argmax(axis=1) == model.labels_).all(), seed


def is_impossible(pairs, sign, k):
    "By trying every clustering of the samples that the pairs speak of"
    samples, place = np.unique(pairs, return_inverse=True)
    i, j = place.reshape(-1, 2).T
    for labels in product(range(k), repeat=len(samples) - 1):
        labels = np.array((0, *labels))
        if ((labels[i] == labels[j]) == (sign > 0)).all(): return False
    return True


@pytest.mark.parametrize('batch', range(4))
def test_a_contradiction_that_only_k_reveals_is_refused_with_a_true_witness(batch):
    for seed in range(50 * batch, 50 * batch + 50):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 6))
        n = int(rng.integers(2 * k + 2, 120))
        known = facts(n, k, rng)
        who = rng.choice(n, k + 1, replace=False)
        clash = [(int(a), int(b)) for i, a in enumerate(who) for b in who[i + 1:]]
        told = {tuple(sorted(pair)) for pair in clash}
        must = [pair for pair in map(tuple, known.must_link.tolist()) if pair not in told]
        bad = Constraints(n, must, [*map(tuple, known.cannot_link.tolist()), *clash])
        with pytest.raises(ConstraintError) as refused: bad.deduce(k)
        if not refused.value.witness: continue  # must-links join two of them: a contradiction without k
        pairs, sign = refused.value.witness
        Z = bad.matrix()
        assert (np.asarray(Z[pairs[:, 0], pairs[:, 1]]).ravel() == sign).all()  # they were given
        if k ** (len(np.unique(pairs)) - 1) < 300_000: assert is_impossible(pairs, sign, k), seed
        with pytest.raises(ConstraintError, match='n_clusters|contradictory'): TSNMF(k, **QUICK).fit(rng.random((n, 2)), bad)


@pytest.mark.filterwarnings('error::tsnmf.checks.ConstraintWarning')
@pytest.mark.parametrize('n_unsure, margin', [(30, .05), (400, .2)])
def test_facts_among_unsure_answers_stay_facts_and_the_others_are_judged(n_unsure, margin):
    X, y = make_blobs(90, centers=3, cluster_std=2.5, random_state=0)
    facts, others = random_pairs(y, 40, random_state=0), unsure(random_pairs(y, n_unsure, random_state=1), .6, seed=0)
    rows = [np.column_stack([others.pairs, others.sure])[others.sign == s] for s in (1, -1)]
    known = Constraints(90, [*facts.must_link.tolist(), *rows[0].tolist()], [*facts.cannot_link.tolist(), *rows[1].tolist()], strict=False)
    model = TSNMF(3, random_state=0).fit(X, known)
    assert facts.satisfaction(model.labels_) == 1
    assert max(judged.information for judged in model.choice_) > .02
    right = np.array([y[i] == y[j] for i, j in known.pairs]) == (known.sign > 0)
    assert model.believed_[right].mean() > model.believed_[~right].mean() + margin
