"""README.md and its pictures are what nbs/index.ipynb makes of them."""
from tools.readme import IMAGES, build

def test_readme_is_in_step_with_the_index_notebook(root):
    text, pictures = build()
    assert (root/'README.md').read_text(encoding='utf-8') == text, 'README.md is not made from nbs/index.ipynb: make readme'
    assert {f'{IMAGES}/{p.name}': p.read_bytes() for p in (root/IMAGES).glob('readme-*.png')} == pictures, 'pictures: make readme'
