"""`make test` ends with one plain count over everything it ran."""
from pathlib import Path
import pytest

@pytest.fixture(scope='session')
def root(): return Path(__file__).parent.parent

def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    if reporter is None or config.option.collectonly: return
    count = {name: len(reporter.stats.get(name, [])) for name in ('passed', 'failed', 'error', 'skipped')}
    line = f"{count['passed']} passed, {count['failed'] + count['error']} failed"
    print(line + (f", {count['skipped']} skipped" if count['skipped'] else ''))
