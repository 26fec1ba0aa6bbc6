"""README.md and its pictures are what nbs/index.ipynb makes of them, and its figures are measured ones."""
import json, re

from tools.readme import IMAGES, build

def test_readme_is_in_step_with_the_index_notebook(root):
    text, pictures = build()
    assert (root/'README.md').read_text(encoding='utf-8') == text, 'README.md is not made from nbs/index.ipynb: make readme'
    assert {f'{IMAGES}/{p.name}': p.read_bytes() for p in (root/IMAGES).glob('readme-*.png')} == pictures, 'pictures: make readme'


def test_figures_of_the_front_page_are_read_and_come_with_their_spread(root):
    cells = [''.join(cell['source']) for cell in json.loads((root/'nbs'/'index.ipynb').read_text(encoding='utf-8'))['cells']]
    tables = [source for source in cells if re.search(r'^Markdown\(.*markdown\(', source, re.M)]
    assert len(tables) == 6 and not [source for source in tables if 'TSNMF(' in source or '.fit' in source]  # nothing is computed there
    lines = [re.split(r' *\| *', line)[1:-1] for line in (root/'README.md').read_text(encoding='utf-8').splitlines() if line.startswith('| ')]
    alone = [line for line in lines if [cell for cell in line if re.match(r'\**[01]\.\d{3}', cell) and '±' not in cell]]
    assert len([line for line in lines if '±' in ''.join(line)]) >= 15
    assert all(sum('±' not in cell for cell in line[1:]) == 1 for line in alone)  # one draw of a program that takes hours, which the text below says
