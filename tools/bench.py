"""Side by side in one run: how many times faster is one way than another? Ratios only; the machines are noisy."""
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits
from tsnmf.constraints import sample_pairs
from tsnmf.snmf import enhanced_snmf, project_capped_simplex, update_embeddings
from tsnmf.tensor import svt_pair, t_svt_general


def blocks(n, k, seed=0):
    "A noisy block matrix, and its classes"
    y = np.arange(n) % k
    noise = np.random.default_rng(seed).random((n, n)) < .02
    S = sample_pairs(y, .05, seed).matrix().maximum(0).toarray() + (noise | noise.T)
    return np.minimum(S, 1.), y


def tensor_shrinking():
    "t-SVT of two symmetric slices, n = 1000: sum, difference and eigh / Fourier transform and SVD"
    T = np.random.default_rng(0).normal(size=(1000, 1000, 2))
    T += T.swapaxes(0, 1)
    Z, A = np.ascontiguousarray(T[:, :, 0]), np.ascontiguousarray(T[:, :, 1])
    return lambda: svt_pair(Z, A, 20.), lambda: t_svt_general(T, 20.)


def naive_enhanced_snmf(S, V, Vstar, n_iter, order, root, beta=5.):
    "One embedding after the other, forming S - V Vᵀ each time"
    for _ in range(n_iter):
        V = np.stack([update_embeddings(v[None], S @ v, Vstar, root)[0] for v in V])
        d = np.array([np.linalg.norm(S - v @ v.T, order)**2 + np.linalg.norm(v - Vstar, order)**2 for v in V])
        Vstar = np.tensordot(project_capped_simplex(-d / (2 * beta)), V, 1)


def ensembles(variant, order, n_iter):
    S, _ = blocks(575, 20)
    V, Vstar = np.random.default_rng(0).random((10, 575, 20)), np.random.default_rng(1).random((575, 20))
    fast = lambda: enhanced_snmf(S, 20, variant=variant, max_iter=n_iter, V_init=V, Vstar_init=Vstar)
    return fast, lambda: naive_enhanced_snmf(S, V, Vstar, n_iter, order, variant == 'paper')


def ensemble_reference():
    "enhanced SNMF, authors' program, n = 575, m = 10: all at once and Lanczos / one by one and SVD"
    return ensembles('reference', 2, 4)


def ensemble_paper():
    "enhanced SNMF, as printed, n = 575, m = 10: all at once and traces / one by one, forming S - V Vᵀ"
    return ensembles('paper', 'fro', 20)


def seconds(run, repeats):
    "The best of a few"
    times = []
    for _ in range(repeats):
        began = perf_counter()
        run()
        times.append(perf_counter() - began)
    return min(times)


def main():
    with threadpool_limits(1):
        for compare in tensor_shrinking, ensemble_reference, ensemble_paper:
            fast, slow = compare()
            fast()  # warm up
            quick, long = seconds(fast, 3), seconds(slow, 2)
            print(f'{long / quick:6.1f} ×   {compare.__doc__}   ({quick:.3f} s, {long:.3f} s)', flush=True)


if __name__ == '__main__': main()
