"""`make test` starts with the longest tests; it ends with the slowest cells and one plain count over everything it ran."""
import os, shutil
from pathlib import Path
import pytest

for name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS'):  # inherited by workers and by every program a test starts
    os.environ.setdefault(name, '1')

# Two workers are done soonest if what takes longest starts first. Names that are not here, or no longer exist, do no harm.
LONGEST = ['test_app', '_model.', 'test_site', '_runs.', '_loop.', 'labels_to_pairs', 'choosing_parameters',
           'how_much_supervision', 'first_clustering', 'reading_a_fit', '_labeller.', 'few_dozen_answers', 'baselines_similarity', '_cli.',
           'own_table', 'test_packaging', 'baselines_compared', '_admm.', '_snmf.', '_datasets.', '_widgets.']

@pytest.fixture(scope='session')
def root(): return Path(__file__).parent.parent

@pytest.fixture(scope='session')
def browser():
    "The Chromium of the system"
    sync_playwright = pytest.importorskip('playwright.sync_api').sync_playwright
    chromium = os.environ.get('CHROMIUM') or next(filter(None, map(shutil.which, ['chromium', 'chromium-browser', 'google-chrome'])), None)
    if not chromium: pytest.skip('no Chromium: set CHROMIUM to one')
    with sync_playwright() as p: yield p.chromium.launch(executable_path=chromium, args=['--no-sandbox'])

@pytest.fixture(scope='session')
def copy_sources(root):
    "Copies a folder of the clone, without the caches that tests of another worker may be writing there"
    def copy(name, target): return shutil.copytree(root/name, target/name, ignore=shutil.ignore_patterns('.*', '__pycache__'))
    return copy

def place(item):
    "Where a test stands in the list of the longest, or behind it"
    return next((i for i, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST))

def pytest_collection_modifyitems(items): items.sort(key=place)

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Notebooks, and batches of random problems, go to whichever worker is free; any other file of tests goes to one worker, for its tests share a server or a site.
    (xdist has marks for this, `--dist loadgroup`, which pytest 9.2 makes it overlook in silence.)"""
    from xdist.scheduler import LoadScopeScheduling
    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition('::')[0]
            return nodeid if file.endswith(('test_notebooks.py', 'test_facts.py')) else file
    return Files(config, log)

def slowest_cells(reporter, n=5):
    "(seconds, first line, test) of the `n` slowest notebook cells; workers send them along with their reports"
    reports = reporter.stats.get('passed', []) + reporter.stats.get('failed', [])
    cells = [(*cell, report.nodeid) for report in reports for name, cells in report.user_properties if name == 'cells'
             for cell in cells]
    return sorted(cells, reverse=True)[:n]

def pytest_terminal_summary(terminalreporter):
    cells = slowest_cells(terminalreporter)
    if not cells: return
    terminalreporter.section('slowest cells')
    for seconds, line, test in cells:
        notebook = test.partition('[')[2].rpartition(']')[0]
        terminalreporter.line(f'{seconds:6.1f} s  {notebook}: {line[:80]}')

def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    if reporter is None or config.option.collectonly: return
    count = {name: len(reporter.stats.get(name, [])) for name in ('passed', 'failed', 'error', 'skipped')}
    line = f"{count['passed']} passed, {count['failed'] + count['error']} failed"
    print(line + (f", {count['skipped']} skipped" if count['skipped'] else ''))
