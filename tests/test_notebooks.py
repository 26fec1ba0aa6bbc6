"""Every notebook is clean, runs top to bottom, and was committed with the outputs of such a run."""
import json, os, subprocess, sys
from pathlib import Path
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(str(p.relative_to(ROOT)) for p in (ROOT/'nbs').rglob('*.ipynb')
                   if not any(part.startswith(('.', '_')) for part in p.relative_to(ROOT).parts))

@pytest.mark.parametrize('path', NOTEBOOKS)
def test_runs_with_the_outputs_it_was_saved_with(path, tmp_path, record_property):
    flags = os.environ.get('TSNMF_TEST_FLAGS', '')
    times = tmp_path/'seconds.json'
    done = subprocess.run([sys.executable, 'tools/notebooks.py', 'check', path, '--flags', flags, '--seconds', times], cwd=ROOT)
    if times.exists(): record_property('cells', json.loads(times.read_text()))  # travels with the report to the summary
    assert done.returncode == 0, f'{path}: see above'

@pytest.mark.parametrize('path', NOTEBOOKS)
def test_has_no_superfluous_metadata(path):
    from tools.notebooks import is_clean
    assert is_clean(ROOT/path), f'{path}: run nbdev_clean'

@pytest.mark.parametrize('path', NOTEBOOKS)
def test_shows_something(path):
    from tools.notebooks import code_cells, read_nb
    assert any(cell.outputs for cell in code_cells(read_nb(ROOT/path))), f'{path} has no saved output: make nbs'
