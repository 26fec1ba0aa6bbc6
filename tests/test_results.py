"The pages about the paper, and beyond it, show what is in results/, or say what is missing."
import json
from pathlib import Path

import pytest

NBS = Path(__file__).parent.parent/'nbs'
PAGES = [page for folder in ('paper', 'evidence') for page in sorted((NBS/folder).glob('*.ipynb'))]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_page_without_its_results(page, tmp_path, monkeypatch):
    (tmp_path/'results').mkdir()
    monkeypatch.chdir(tmp_path)
    code = [''.join(cell['source']) for cell in json.loads(page.read_text())['cells'] if cell['cell_type'] == 'code']
    cells = [source for source in code if not source.startswith('#| slow')]  # those need data, too
    names = {}
    with pytest.raises(FileNotFoundError, match=f'{page.stem}.* is not in results/: make it with `tsnmf reproduce {page.stem}`'):
        for cell in cells: exec(compile(cell, page.name, 'exec'), names)
