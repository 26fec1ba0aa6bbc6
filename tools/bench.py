"""Side by side in one run: how much faster is one way than another, and how does it grow? Ratios; the machines are noisy.

    python tools/bench.py                    all of it
    python tools/bench.py --against paper    whole fits: the default and one other, at all sizes where that is bearable
    python tools/bench.py --large            whole fits of the default from a thousand samples to a million, time and memory
    python tools/bench.py --parts            single steps: the fast way and the plain one
    python tools/bench.py --threads          what it is worth that small problems run on one thread
    python tools/bench.py --before REV       the package as it is and as it was in that revision of the repository

Every fit runs in a process of its own, one after the other, so that its peak memory is its own.
"""
import argparse
import csv
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import warnings
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits
from tsnmf.baselines import ConstrainedSpectral
from tsnmf.constraints import random_pairs, sample_pairs
from tsnmf.model import TSNMF
from tsnmf.runs import SIZES as CLOUDS
from tsnmf.runs import Run, execute
from tsnmf.snmf import enhanced_snmf, project_capped_simplex, update_embeddings
from tsnmf.tensor import svt_pair, t_svt_general

SIZES = {165: 15, 340: 30, 400: 40, 575: 20, 1404: 36, 2000: 18, 4000: 18, 8670: 18}  # samples: clusters; the first as in the paper's sets
METHODS = dict(default=TSNMF, paper=TSNMF.paper, reference=TSNMF.reference, spectral=ConstrainedSpectral)
PARTIAL = 1000  # samples from which of the reference only the first of its three outer iterations is measured: all take an hour
LIMITS = dict(default=8670, paper=575, reference=1404, spectral=4000)  # samples; beyond them a fit takes hours, or the matrix of all pairs too much space
LEVELS = {'10 % of pairs': lambda y: sample_pairs(y, .1, 0), 'n/2 pairs': lambda y: random_pairs(y, len(y) // 2, random_state=0)}


def blobs(n, k):
    "Overlapping clusters in 50 dimensions"
    X, y = make_blobs(n, 50, centers=k, cluster_std=4., center_box=(-4, 4), random_state=0)
    return X - X.min(), y


def one_fit(method, n, level):
    "Seconds and peak gigabytes of one fit, in this process"
    X, y = blobs(n, SIZES[n])
    known = LEVELS[level](y)
    warnings.simplefilter('ignore')
    began = perf_counter()
    METHODS[method](SIZES[n], random_state=0, **(dict(max_iter=1) if method == 'reference' and n > PARTIAL else {})).fit(X, known)
    unit = 2**30 if sys.platform == 'darwin' else 2**20
    print(perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def measure(method, n, level):
    "The same in a process of its own"
    out = subprocess.run([sys.executable, __file__, '--one', method, str(n), level], capture_output=True, text=True, check=True)
    return tuple(map(float, out.stdout.split()))


def exponent(times):
    "Growth between 1000 samples and the largest: the p of time ~ n^p, fitted"
    n, t = np.array([(n, t) for n, (t, _) in times.items() if n > 1000]).T
    return np.polyfit(np.log(n), np.log(t), 1)[0] if len(n) > 1 else np.nan


def whole_fits(others, sizes, levels):
    "A table of fits, and how their times grow"
    results = {}
    for level in levels:
        print(f'\n{level}\n{"n":>6} {"method":10} {"seconds":>9} {"GB":>6}   how many times as long as the default', flush=True)
        for n in sizes:
            for method in ('default', *others):
                if n > LIMITS[method] or (level != '10 % of pairs' and (method in ('paper', 'reference') or n > 4000)): continue
                seconds, memory = measure(method, n, level)
                results.setdefault((level, method), {})[n] = seconds, memory
                ratio = '' if method == 'default' else f'{seconds / results[level, "default"][n][0]:8.2f}'
                if method == 'reference' and n > PARTIAL: ratio += '   (the first of three outer iterations)'
                print(f'{n:6} {method:10} {seconds:9.2f} {memory:6.2f}   {ratio}', flush=True)
    for (level, method), times in results.items(): print(f'{level}, {method}: time grows like n^{exponent(times):.2f} beyond 1000 samples')
    return results


def one_large(name):
    "Seconds and peak gigabytes of a fit of many samples, in this process"
    row = execute(Run(name, 'TSNMF', protocol='count', amount=min(CLOUDS[name], 10_000), normalize=None))
    print(row['seconds'], row['memory'] / 1024, row['ARI'])


def large_fits():
    "Sixteen features, twenty classes of unequal size, as many pairs as samples, but ten thousand at most"
    times = {}
    print(f'\n{"n":>8} {"seconds":>9} {"GB":>6} {"ARI":>6}', flush=True)
    for name, n in CLOUDS.items():
        out = subprocess.run([sys.executable, __file__, '--one', 'large', str(n), name], capture_output=True, text=True, check=True)
        seconds, memory, score = map(float, out.stdout.split())
        times[n] = seconds, memory
        print(f'{n:8} {seconds:9.1f} {memory:6.2f} {score:6.3f}', flush=True)
    print(f'time grows like n^{exponent(times):.2f} beyond 1000 samples')
    return {('10 000 pairs', 'default'): times}


def plot(results, path):
    "Time and memory over the number of samples"
    fig = Figure(figsize=(10, 4), layout='constrained')
    axes = fig.subplots(1, 2)
    for (level, method), times in results.items():
        for i, ax in enumerate(axes):
            ax.loglog(list(times), [value[i] for value in times.values()], {'10 % of pairs': 'o-'}.get(level, 's--'), color=f'C{list(METHODS).index(method)}', label=f'{method}, {level}')
    sizes = sorted({n for times in results.values() for n in times})
    for ax, name in zip(axes, ('seconds', 'peak memory, GB')):
        ax.set(xlabel='samples', title=name)
        ax.set_xticks(sizes, sizes, rotation=45)
        ax.set_xticks([], minor=True)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter('{x:g}')
        ax.yaxis.set_minor_formatter('')
    axes[0].legend(frameon=False, fontsize=8)
    fig.savefig(path, dpi=120)
    print(f'picture: {path}')


def table(results, path):
    "The same as a CSV file"
    rows = [(level, method, n, f'{seconds:.2f}', f'{memory:.2f}') for (level, method), times in results.items() for n, (seconds, memory) in times.items()]
    with open(path, 'w', newline='') as file: csv.writer(file, lineterminator='\n').writerows([('level', 'method', 'n', 'seconds', 'GB'), *rows])
    print(f'table: {path}')


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


ROOT = Path(__file__).parent.parent
FIT = """
import sys, warnings
from time import perf_counter
from tsnmf import TSNMF, datasets
from tsnmf.constraints import random_pairs, sample_pairs
name, n, threads = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if threads == 'all':
    from tsnmf import checks
    checks.SMALL = 0
warnings.simplefilter('ignore')
found = datasets.load(name, None if name == 'digits' else 'both')
X, y = found.data[:n], found.target[:n]
known = sample_pairs(y, .1, 0) if name != 'digits' else random_pairs(y, n // 2, random_state=0)
began = perf_counter()
TSNMF(len(set(y)), random_state=0).fit(X, known)
print(perf_counter() - began)
"""  # run by any version of the package: only what all have


def fit_seconds(folder, name, n, threads='few'):
    "Seconds of one fit of digits or of a data set, by the package in `folder`, in a process of its own"
    out = subprocess.run([sys.executable, '-c', FIT, name, str(n), threads], capture_output=True, text=True, cwd=folder,
                         env={**os.environ, 'PYTHONPATH': str(folder)})
    if out.returncode: raise RuntimeError(out.stderr.strip().splitlines()[-1])
    return float(out.stdout)


def before_and_after(revision):
    "Fits by the package of an earlier revision and by the present one, in turns"
    archive = subprocess.run(['git', 'archive', revision, 'tsnmf'], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as old:
        tarfile.open(fileobj=BytesIO(archive)).extractall(old)
        print(f'\n{"":22} {revision[:12]:>12} {"now":>9}   how many times as fast as before', flush=True)
        for name, n in ('digits', 300), ('digits', 1000), ('binalpha', 1404):
            try: times = [[fit_seconds(folder, name, n) for folder in (old, ROOT)] for _ in range(3)]
            except RuntimeError as error:
                print(f'{name} ({n}): {error}')
                continue
            was, now = np.min(times, axis=0)
            print(f'{name + f" ({n} samples)":22} {was:12.2f} {now:9.2f} {was / now:8.2f} ×', flush=True)


@contextmanager
def busy(processes):
    "A machine on which others work, too"
    others = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(processes)]
    try: yield
    finally:
        for other in others: other.kill()


def thread_limits():
    "One thread for small problems, or all: on a quiet machine, and on one with as many other processes as cores"
    cores = os.cpu_count()
    print(f'\n{"":32} {"one thread":>11} {f"{cores} threads":>11}   how many times as long', flush=True)
    for name, others in dict(quiet=0, busy=cores).items():
        for n in 300, 1000, 1797:
            with busy(others): one, all_ = (min(fit_seconds(ROOT, 'digits', n, threads) for _ in range(2)) for threads in ('few', 'all'))
            print(f'{f"{name} machine, {n} digits":32} {one:11.2f} {all_:11.2f} {all_ / one:8.2f} ×', flush=True)


def seconds(run, repeats):
    "The best of a few"
    times = []
    for _ in range(repeats):
        began = perf_counter()
        run()
        times.append(perf_counter() - began)
    return min(times)


def single_parts():
    "Steps of the algorithms: the fast way and the plain one, on one thread"
    with threadpool_limits(1):
        for compare in tensor_shrinking, ensemble_reference, ensemble_paper:
            fast, slow = compare()
            fast()  # warm up
            quick, long = seconds(fast, 3), seconds(slow, 2)
            print(f'{long / quick:6.1f} ×   {compare.__doc__}   ({quick:.3f} s, {long:.3f} s)', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--against', choices=[m for m in METHODS if m != 'default'], help='compare the default with this one only')
    parser.add_argument('--sizes', type=int, nargs='+', choices=SIZES, default=list(SIZES), help='numbers of samples')
    parser.add_argument('--levels', nargs='+', choices=LEVELS, default=list(LEVELS), help='amounts of supervision')
    parser.add_argument('--large', action='store_true', help='a thousand samples to a million')
    parser.add_argument('--parts', action='store_true', help='single steps only')
    parser.add_argument('--threads', action='store_true', help='one thread or all, on a quiet and on a busy machine')
    parser.add_argument('--before', metavar='REV', help='an earlier revision, such as v0.1.0, and now')
    parser.add_argument('--output', default='bench.png', help='picture (default bench.png); the table is beside it')
    parser.add_argument('--one', nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one and args.one[0] == 'large': return one_large(args.one[2])
    if args.one: return one_fit(args.one[0], int(args.one[1]), args.one[2])
    if args.before: return before_and_after(args.before)
    if args.threads: return thread_limits()
    if not args.against and not args.large: single_parts()
    if args.parts: return
    if not args.against and not args.large: thread_limits()
    others = [args.against] if args.against else [m for m in METHODS if m != 'default']
    results = {} if args.large else whole_fits(others, args.sizes, args.levels)
    if not args.against: results |= large_fits()
    plot(results, args.output)
    table(results, Path(args.output).with_suffix('.csv'))


if __name__ == '__main__': main()
