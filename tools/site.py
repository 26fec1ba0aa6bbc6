"""Build the documentation into _docs/: with Quarto where it is installed, otherwise with Sphinx from the same notebooks."""
import re, shutil, subprocess, sys, tempfile
from importlib.metadata import distribution
from itertools import groupby
from pathlib import Path

import yaml
from nbdev.config import get_config
from nbdev.doclinks import _nbpath2html, nbglob
from nbdev.serve import proc_nbs
from nbformat import read, write
from nbformat.v4 import new_markdown_cell

KATEX = 'katex@0.16.22'
MATHJAX = 'sphinx-mathjax-offline/static/mathjax/tex-svg.js'  # one file, without fonts: browsers may refuse those from disk
CALLOUT = re.compile(r'^(:{3,}) *{?\.?callout-(\w+)(?:[^}\n]*title="([^"\n]*)")?[^}\n]*}?\n(?:\s*#+ +(.+)\n)?', re.M)
COMMANDS = re.compile(r'\[(`(?:fit|demo|info|main)`)]\([^)]*\)')  # nbdev takes them for functions of the command line; in prose `fit` is a method
FENCE = re.compile(r'(^```.*?^```$)', re.M | re.S)
STYLE = '''
body { --mystnb-source-margin-color: var(--color-brand-primary); --mystnb-source-border-color: var(--color-background-border) }
/* room for a line of code */
.content { width: 54em; max-width: 100% }
.lead { font-size: 1.15em; color: var(--color-foreground-secondary) }
a.source { float: right; font-size: smaller }
div.math, .output.text_html { overflow-x: auto; overflow-y: hidden }
.cell_output img { background: white }
table.align-default { margin-left: 0 }
table.dataframe { border: 0; border-collapse: collapse; font-size: var(--font-size--small) }
table.dataframe :is(th, td) { border: 0 solid var(--color-table-border); border-bottom-width: 1px }
table.dataframe :is(th, td) { padding: .25rem .75rem; text-align: right; white-space: nowrap }
'''

def step(text): print(f'site: {text}', flush=True)

def fetch_katex(dest):
    "Put into `dest` the part of KaTeX's `dist` that a page loads"
    if not shutil.which('npm'): sys.exit(f'npm, which fetches {KATEX} into {dest}, is missing: install it, or put the files there.')
    step(f'fetching {KATEX}')
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run(['npm', 'pack', '--silent', KATEX], cwd=tmp, check=True, stdout=subprocess.DEVNULL)
        shutil.unpack_archive(next(Path(tmp).glob('*.tgz')), tmp)
        # Quarto would make a page of the README
        shutil.copytree(f'{tmp}/package/dist', dest, ignore=shutil.ignore_patterns('*.md', '*.mjs', 'contrib'))

def quarto_site(cfg):
    "Let nbdev and Quarto build the site"
    from nbdev.quarto import nbdev_docs
    if not (cfg.nbs_path/'katex').exists(): fetch_katex(cfg.nbs_path/'katex')
    for p in cfg.config_path.glob('*.md'): p.touch()  # nbdev rewrites README.md and CONTRIBUTING.md if a notebook is newer
    step('rendering with Quarto')
    nbdev_docs.__wrapped__()

def sections(contents, caption=''):
    "(caption, notebooks) for each run of pages in a Quarto sidebar, in reading order"
    for is_page, entries in groupby(contents, lambda o: isinstance(o, str)):
        if is_page: yield caption, list(entries)
        else:
            for o in entries: yield from sections(o['contents'], f"{caption} / {o['section']}".strip(' /'))

def check(listed, nbs):
    "Stop unless the sidebar lists exactly the notebooks on disk"
    found = {Path(p).relative_to(nbs).as_posix() for p in nbglob(nbs)}
    if missing := sorted(set(listed) - found): sys.exit(f"_quarto.yml lists notebooks that do not exist: {', '.join(missing)}")
    if extra := sorted(found - set(listed)): sys.exit(f"The sidebar in _quarto.yml does not list {', '.join(extra)}")

def page_of(path):
    "The place of a notebook in the site, which nbdev names without its number: graph.ipynb for 00_graph.ipynb"
    return _nbpath2html(Path(path)).with_suffix('.ipynb')

def slug(title):
    "The anchor that Pandoc, and so nbdev's links, give to a heading"
    return re.sub(r'^[\W\d_]+', '', re.sub(r'[^\w. -]', '', title.lower()).replace(' ', '-'))

def local(url, headings):
    "`url` as a path within the site, or unchanged if it leads elsewhere"
    cfg = get_config()
    path, _, anchor = re.sub(f'^{re.escape(cfg.doc_host + cfg.doc_baseurl)}(?![^/#])/?', '/', url).partition('#')
    if path == '/': path = '/index.html'
    if ':' in path or not path.endswith(('.html', '.ipynb')): return url
    page = page_of(path)
    if path[0] == '/':  # nbdev links every method it knows: lead to its class, or to the page, if it has no heading
        known = headings.get(page.relative_to('/'), ())
        anchor = next((a for a in (anchor, anchor.split('.')[0]) if a in known), '')
    return page.as_posix() + (anchor and f'#{anchor}')

def admonition(m):
    "The opening of a Quarto callout as MyST's"
    fence, kind, title, heading = m.groups()
    return f'{fence}{{admonition}} {title or heading or kind.title()}\n:class: {kind}\n\n'

def to_myst(text, headings):
    "Quarto's markdown in MyST's dialect, code fences left alone"
    def prose(s):
        s = COMMANDS.sub(r'\1', s)
        s = re.sub(r'(]\(|]: +)([^)\s]+)', lambda m: m[1] + local(m[2], headings), s)
        s = re.sub(r'(?<![^\n]\n)^---$', '<hr class="docutils">\n', s, flags=re.M)  # docutils forbids a rule right after a heading
        s = re.sub(r'(\[source]\([^)]*\)){target=[^}]*}', r'\1{.source}', s)
        return CALLOUT.sub(admonition, re.sub(r'(?<=\)){target=[^}]*}', '', s))
    return ''.join(o if i % 2 else prose(o) for i, o in enumerate(FENCE.split(text)))

def title_cell(cell):
    "Front matter as a heading and a lead paragraph"
    fm = yaml.safe_load(cell.source.split('---\n')[1])
    return new_markdown_cell(f"# {fm['title']}" + (f"\n\n{{.lead}}\n{fm['description']}" if 'description' in fm else ''))

def code_cells(cell):
    "The cells that show what Quarto would show of `cell`, given its `#|` options"
    head = re.match(r'(#\|.*\n?)*', cell.source)[0]
    opts = yaml.safe_load('\n'.join(re.findall(r'^#\| *([\w-]+:.*)', head, re.M))) or {}
    if opts.get('include') is False: return []
    cell.source = cell.source[len(head):]
    echo, output = opts.get('echo') is not False and cell.source.strip(), opts.get('output')
    data = [(o, o.get('data', {})) for o in cell.outputs if output is not False]
    # live widgets would need a kernel, and scripts from elsewhere
    cell.outputs = [o for o, d in data if output != 'asis' and 'application/vnd.jupyter.widget-view+json' not in d]
    cell.metadata = dict(tags=['hide-input'] * (opts.get('code-fold') is True) if echo else ['remove-input'])
    if 'fig-alt' in opts: cell.metadata['mystnb'] = dict(image=dict(alt=opts['fig-alt']))
    asis = [d.get('text/markdown') or d.get('text/html') or o.get('text', '') for o, d in data if output == 'asis']
    return ([cell] if echo or cell.outputs else []) + [new_markdown_cell(text) for text in asis]

def drop_signatures(cells):
    "Where the source of a function is shown, its documentation need not repeat the signature"
    for doc, shown in zip(cells, cells[1:]):
        if 'show_doc(' in doc.source and 'Exported source' in shown.source:
            for o in doc.outputs: o.data['text/markdown'] = re.sub(r'```python\n.*?```\n*', '', o.data['text/markdown'], flags=re.S)

def convert(path):
    "The processed notebook at `path`, in cells that myst-nb shows as Quarto would"
    nb = read(path, 4)
    drop_signatures(nb.cells)
    how = dict(raw=lambda c: [title_cell(c) if c.source.startswith('---') else c], code=code_cells, markdown=lambda c: [c])
    nb.cells = [new for c in nb.cells for new in how[c.cell_type](c)]
    nb.metadata = dict(language_info=dict(name='python', pygments_lexer='ipython3'))
    return nb

def toctree(caption, pages):
    "One group of the navigation"
    names = [p.with_suffix('').as_posix() for p in map(page_of, pages) if p != Path('index.ipynb')]
    return '\n'.join(['```{toctree}', ':hidden:', caption and f':caption: {caption}', '', *names, '```']) if names else ''

def write_sources(src, nbs, groups):
    "Fill the folder `src` with what Sphinx reads"
    texts = {page: [c for c in nb.cells if c.cell_type == 'markdown'] for page, nb in nbs.items()}
    headings = {page: {slug(h) for c in cells for h in re.findall('^#+ +(.+)', c.source, re.M)} for page, cells in texts.items()}
    for c in sum(texts.values(), []): c.source = to_myst(c.source, headings)
    nbs[Path('index.ipynb')].cells.append(new_markdown_cell('\n\n'.join(toctree(*group) for group in groups)))
    for page, nb in nbs.items(): write(nb, src/page)
    (src/'_static').mkdir()
    (src/'_static'/'site.css').write_text(STYLE)
    shutil.copy(distribution('sphinx-mathjax-offline').locate_file(MATHJAX), src/'_static')

def plain_maths(app, doctree):
    "Hand formulas to MathJax as written: numbered by their tags only, and not wrapped in `split`, which forbids tags"
    for node in doctree.findall(lambda n: n.tagname == 'math_block'): node['number'], node['classes'] = None, ['amsmath']

def run_sphinx(src, out, title, origin):
    "Build `src` into `out`; any warning, such as a broken link, is a failure"
    from sphinx.application import Sphinx
    cfg = get_config()
    def link_notebook(app, page, template, context, doctree):
        if nb := origin.get(Path(f'{page}.ipynb')):
            context['theme_source_view_link'] = f'{cfg.git_url}/blob/{cfg.branch}/{cfg.nbs_path.name}/{nb}'
    app = Sphinx(src, None, out, src/'_doctrees', 'html', status=None, warningiserror=True, confoverrides=dict(
        project=title, html_title=title, copyright=cfg.copyright, extensions=['myst_nb', 'sphinx.ext.githubpages'],
        include_patterns=[p.as_posix() for p in origin],
        nb_execution_mode='off', nb_render_markdown_format='myst', nb_merge_streams=True,
        myst_enable_extensions=['amsmath', 'attrs_block', 'attrs_inline', 'colon_fence', 'deflist', 'dollarmath', 'html_image'],
        myst_heading_anchors=6, myst_heading_slug_func=slug,
        suppress_warnings=['config.cache', 'myst.header'],  # a function as a setting; show_doc's headings of level 3
        html_theme='furo', html_theme_options=dict(top_of_page_buttons=['view']), mathjax_path='tex-svg.js',
        html_static_path=['_static'], html_css_files=['site.css'], html_copy_source=False, html_show_sphinx=False, html_use_index=False))
    app.connect('doctree-read', plain_maths)
    app.connect('html-page-context', link_notebook)
    app.build()
    return app.statuscode

def sphinx_site(cfg):
    "Build the site without Quarto"
    site = yaml.safe_load((cfg.config_path/'_quarto.yml').read_text(encoding='utf-8'))['website']
    groups = list(sections(site['sidebar']['contents']))
    origin = {page_of(p): p for _, group in groups for p in group}
    check(origin.values(), cfg.nbs_path)
    step('processing the notebooks with nbdev')
    proc = proc_nbs(force=True)
    src = shutil.copytree(proc, proc/'_site')  # with the pictures that notebooks refer to
    write_sources(src, {page: convert(proc/nb) for page, nb in origin.items()}, groups)
    step(f'rendering {len(origin)} pages with Sphinx')
    html = proc/'_html'  # not at once into _docs: myst-nb leaves a folder beside its output
    if run_sphinx(src, html, site['title'], origin): sys.exit('The site has the faults above.')
    shutil.rmtree(cfg.doc_path, ignore_errors=True)
    shutil.move(html, cfg.doc_path)

def main():
    cfg = get_config()
    sys.path.insert(0, str(cfg.config_path))  # `show_doc` imports the package, installed or not
    quarto_site(cfg) if shutil.which('quarto') else sphinx_site(cfg)
    step(f"done: {cfg.doc_path/'index.html'}")

if __name__ == '__main__': main()
