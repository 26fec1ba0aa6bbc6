"""`make test` ends with one plain count over everything it ran."""
import os, shutil
from pathlib import Path
import pytest

@pytest.fixture(scope='session')
def root(): return Path(__file__).parent.parent

@pytest.fixture(scope='session')
def browser():
    "The Chromium of the system"
    sync_playwright = pytest.importorskip('playwright.sync_api').sync_playwright
    chromium = os.environ.get('CHROMIUM') or next(filter(None, map(shutil.which, ['chromium', 'chromium-browser', 'google-chrome'])), None)
    if not chromium: pytest.skip('no Chromium: set CHROMIUM to one')
    with sync_playwright() as p: yield p.chromium.launch(executable_path=chromium, args=['--no-sandbox'])

def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    if reporter is None or config.option.collectonly: return
    count = {name: len(reporter.stats.get(name, [])) for name in ('passed', 'failed', 'error', 'skipped')}
    line = f"{count['passed']} passed, {count['failed'] + count['error']} failed"
    print(line + (f", {count['skipped']} skipped" if count['skipped'] else ''))
