"""README.md from nbs/index.ipynb, as it was saved: text, code, outputs, pictures. No Quarto needed."""
import re
from pathlib import Path

from nbconvert import MarkdownExporter
from nbformat import read

ROOT = Path(__file__).parent.parent
IMAGES = 'nbs/images'


def directives(source):
    "The `#| key: value` lines of a cell, and the rest of it"
    lines = source.splitlines()
    found = dict(re.match(r'#\|\s*([\w-]+):?\s*(.*)', line).groups() for line in lines if line.startswith('#|'))
    return found, '\n'.join(line for line in lines if not line.startswith('#|'))


def prepare(nb):
    "Drop what the README does not show; return the descriptions of its pictures"
    descriptions = []
    for cell in list(nb.cells):
        if cell.cell_type == 'markdown': cell.source = re.sub(r'\]\((?!https?:|#)([^)]+\.ipynb)\)', r'](nbs/\1)', cell.source)
        else:
            found, cell.source = directives(cell.source)
            descriptions += [found.get('fig-alt', 'figure') for o in cell.outputs if 'image/png' in o.get('data', {})]
            if 'hide' in found: nb.cells.remove(cell)
            elif found.get('echo') == 'false': cell.metadata['transient'] = {'remove_source': True}
    return descriptions


def build():
    "The text of the README and its pictures {path: bytes}"
    nb = read(ROOT/'nbs'/'index.ipynb', as_version=4)
    nb.metadata['language_info'] = {'name': 'python'}  # nbdev's clean removes it; nbconvert marks code blocks by it
    descriptions = prepare(nb)
    text, resources = MarkdownExporter().from_notebook_node(nb)
    pictures = {}
    for i, (name, content) in enumerate(resources.get('outputs', {}).items()):
        path = f'{IMAGES}/readme-{i}.png'
        pictures[path] = content
        text = text.replace(f'![png]({name})', f'![{descriptions[i]}]({path})')
    text = re.sub(r'\n([ \t]*\n){2,}', '\n\n', text)
    return '<!-- made from nbs/index.ipynb by `make readme`: change that -->\n\n' + text.strip() + '\n', pictures


def main():
    text, pictures = build()
    for old in (ROOT/IMAGES).glob('readme-*.png'): old.unlink()
    for path, content in pictures.items():
        (ROOT/path).parent.mkdir(exist_ok=True)
        (ROOT/path).write_bytes(content)
    (ROOT/'README.md').write_text(text, encoding='utf-8')
    print(f'== README.md: {len(text.splitlines())} lines, {len(pictures)} picture(s)')


if __name__ == '__main__': main()
