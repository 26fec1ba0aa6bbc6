"""Run notebooks the way `nbdev_test` does, and keep the outputs: to save them, or to compare them with the saved ones."""
import argparse, json, os, sys, time
from pathlib import Path

for name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS'):  # many small products: on a busy machine more threads only wait for each other
    os.environ.setdefault(name, '1')

import nbdev.test
from execnb.nbio import nb2str, read_nb, write_nb
from execnb.shell import CaptureShell
from nbdev.clean import _nbdev_clean
from nbdev.config import get_config


def first_line(cell):
    "The first line that is not an instruction to nbdev"
    lines = [line for line in cell.source.splitlines() if line.strip() and not line.startswith('#|')]
    return lines[0] if lines else ''


class Recorder(CaptureShell):
    "The shell of `nbdev_test`, which otherwise throws away what it has run"
    ran = None
    seconds = []  # (how long, first line) of each cell

    def cell(self, cell, **kwargs):
        if cell.cell_type != 'code': return
        cell.outputs = []
        start = time.perf_counter()
        super().cell(cell, **kwargs)
        Recorder.seconds.append((time.perf_counter() - start, first_line(cell)))

    def run_all(self, nb, **kwargs):
        Recorder.ran = nb
        super().run_all(nb, **kwargs)


def execute(path, flags=()):
    "The notebook at `path` with fresh outputs (skipped cells keep theirs), or None if a cell fails"
    cfg = get_config()
    nbdev.test.CaptureShell = Recorder
    ok, _ = nbdev.test.test_nb(Path(path).absolute(), skip_flags=cfg.tst_flags.split(), force_flags=flags,
                               basepath=cfg.config_path)
    return Recorder.ran if ok else None


def code_cells(nb): return [c for c in nb.cells if c.cell_type == 'code']


def save(path, ran):
    "Store the outputs of `ran` in the notebook at `path`, without superfluous metadata"
    nb = read_nb(path)
    for cell, fresh in zip(code_cells(nb), code_cells(ran)): cell.outputs = fresh.outputs
    _nbdev_clean(nb)
    write_nb(nb, path)


def is_clean(path):
    "Is the file exactly what `nbdev_clean` would leave?"
    nb = read_nb(path)
    _nbdev_clean(nb)
    return nb2str(nb) == Path(path).read_text(encoding='utf-8')


def said(outputs):
    "What a cell has printed, or warned of"
    return ''.join(''.join(o.get('text', '')) for o in outputs).strip()


def stale_cells(path, ran):
    "The first lines of cells that have saved outputs and give none when run, or the other way round; then with what they print"
    pairs = zip(code_cells(read_nb(path)), code_cells(ran))
    return [' → '.join(filter(None, [first_line(saved), said(fresh.outputs)]))
            for saved, fresh in pairs if bool(saved.outputs) != bool(fresh.outputs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('action', choices=['run', 'check'])
    parser.add_argument('notebooks', nargs='+')
    parser.add_argument('--flags', default='', help='also run cells with these flags, e.g. slow')
    parser.add_argument('--seconds', type=Path, metavar='FILE', help='write here how long each cell took')
    args = parser.parse_args()
    failed = False
    for path in args.notebooks:
        print(f'== {args.action} {path}', flush=True)
        ran = execute(path, args.flags.split())
        if ran is None: failed = True
        elif args.action == 'run': save(path, ran)
        elif stale := stale_cells(path, ran):
            failed = True
            print(f'saved outputs are not those of a run (make nbs NBS={path} mends it); cells:', *stale, sep='\n  ')
    if args.seconds: args.seconds.write_text(json.dumps(Recorder.seconds))
    sys.exit(failed)


if __name__ == '__main__': main()
