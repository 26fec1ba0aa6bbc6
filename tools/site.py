"""Build the documentation into _docs/: with Quarto where it is installed, otherwise with Sphinx from the same notebooks.

nbdev processes the notebooks; `mend` corrects them; Quarto or Sphinx makes pages of them; `tidy` corrects the pages. Both
corrections are the same whoever builds."""
import posixpath, re, shutil, subprocess, sys, tempfile
from importlib.metadata import distribution
from itertools import groupby
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from nbdev.config import get_config
from nbdev.doclinks import _nbpath2html, nbglob
from nbdev.serve import proc_nbs
from nbformat import read, write
from nbformat.v4 import new_markdown_cell

KATEX = 'katex@0.16.22'
MATHJAX = 'sphinx-mathjax-offline/static/mathjax/tex-svg.js'  # one file, without fonts: browsers may refuse those from disk
CALLOUT = re.compile(r'^(:{3,}) *{?\.?callout-(\w+)(?:[^}\n]*title="([^"\n]*)")?[^}\n]*}?\n(?:\s*#+ +(.+)\n)?', re.M)
FENCE = re.compile(r'(^```.*?^```$)', re.M | re.S)
STYLE = '''
body { --mystnb-source-margin-color: var(--color-brand-primary); --mystnb-source-border-color: var(--color-background-border) }
/* room for a line of code */
.content { width: 58em; max-width: 100% }
div.highlight pre { white-space: pre-wrap; overflow-wrap: anywhere }
.lead { font-size: 1.15em; color: var(--color-foreground-secondary) }
a.source { float: right; font-size: smaller }
div.math, .output.text_html { overflow-x: auto; overflow-y: hidden }
.cell_output img { background: white }
/* on a telephone figures keep the size of their letters */
@media (max-width: 40em) {
  .cell_output { overflow-x: auto }
  .cell_output div.highlight pre { white-space: pre; overflow-wrap: normal }
  .cell_output img.wide { max-width: none; width: 40em; height: auto }
  article :is(td, th) { padding-left: .3rem; padding-right: .3rem }
  article td:last-child code { white-space: normal; overflow-wrap: anywhere }
  article td:nth-child(3) { min-width: 6em }
}
.sidebar-tree .chapter { opacity: .6; font-variant-numeric: tabular-nums; font-size: .85em }
.sidebar-tree summary { cursor: pointer }
article details.hide { margin: 0 0 1rem; padding: 0; border: 0; background: none; box-shadow: none }
article details.hide .admonition-title { margin: 0; padding: 0; border: 0; background: none }
article details.hide .admonition-title { color: var(--color-foreground-secondary); font-size: var(--font-size--small) }
article details.hide .admonition-title::before { display: none }
article :is(p, li) { overflow-wrap: anywhere }
article :is(td, th) p { overflow-wrap: normal }
article td:first-child code { white-space: nowrap }
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

# Corrections of processed notebooks

def mend_links(text, page, address):
    "Take back links that nbdev has put where they do not belong"
    name = rf'\[(`[^`\]]+`)]\({re.escape(address)}[^)]*\)'
    def prose(s):
        s = re.sub(rf'(\[[^][]*){name}([^][]*]\()', r'\1\2\3', s)  # within the text of another link
        word = rf'\[(`[a-z]+`)]\({re.escape(address)}/(?!{re.escape(page)}#)[^)]*\)'
        return re.sub(word, r'\1', s)  # a mere word, such as `fit`, rarely means the function of that name on another page
    return ''.join(re.sub(name, r'\1', o) if i % 2 else prose(o) for i, o in enumerate(FENCE.split(text)))

def drop_signatures(cells):
    "Where the source of a function is shown, its documentation need not repeat the signature"
    shown = '\n'.join(c.source for c in cells if 'Exported source' in c.source)
    names = set(re.findall(r'^(?:def|class) (\w+)', shown, re.M))
    for c in cells:
        documented = re.search(r'^show_doc\((\w+)', c.source, re.M)
        if not documented: continue
        c.outputs = [o for o in c.outputs if 'data' in o]  # nbdev warns of numpydoc's sections that it does not know
        if documented[1] not in names: continue
        for o in c.outputs: o.data['text/markdown'] = re.sub(r'```python\n.*?```\n*', '', o.data['text/markdown'], flags=re.S)

MEASURED = 'paper/', 'evidence/'  # pages that are read for what was measured, not for the code behind it

def only_imports(source):
    "Does a cell nothing but import?"
    lines = [line for line in source.splitlines() if line.strip() and line[0] not in '# )']
    return bool(lines) and all(re.match(r'(from|import) ', line) for line in lines)

def fold(cell, page=''):
    "Fold tests, private helpers, imports, and the code behind what was measured: they are there for whoever looks for them"
    public = re.findall(r'^(?:def|class) (?!_)\w|^[A-Z]', cell.source, re.M)
    private = re.findall(r'^(?:def|class) (_\w+)', cell.source, re.M)
    tests = re.search(r'^(?:.*: )?\s*(?:test_\w+\(|assert )', cell.source, re.M) and not cell.outputs
    if 'Exported source' in cell.source:
        if private and not public:
            cell.source = cell.source.replace('code-fold: show', 'code-fold: true').replace('Exported source', f'Helper: {", ".join(private)}')
        return
    if re.search(r'^#\| *(code-fold|echo: false|include: false)|^show_doc\(', cell.source, re.M): return
    summary = 'Tests' if tests else 'Imports' if only_imports(cell.source) else 'Code' if page.startswith(MEASURED) else ''
    if summary: cell.source = f'#| code-fold: true\n#| code-summary: "{summary}"\n{cell.source}'

def mend(nb, page, address):
    "Correct a processed notebook that becomes the `page` of a site at `address`"
    drop_signatures(nb.cells)
    for cell in nb.cells:
        if cell.cell_type == 'markdown': cell.source = mend_links(cell.source, page, address)
        elif cell.cell_type == 'code':
            for o in cell.outputs:
                if 'text/markdown' in o.get('data', {}): o.data['text/markdown'] = mend_links(o.data['text/markdown'], page, address)
            fold(cell, page)

def mend_file(path, page, address):
    nb = read(path, 4)
    mend(nb, page, address)
    write(nb, path)

# Corrections of pages

FOREIGN = re.compile('(https?:)?//')

def drop_foreign(soup):
    "Nothing is fetched from elsewhere. With require.js on a page, KaTeX would not find itself"
    for tag in soup.select('script, link[rel=stylesheet]'):
        kind = tag.get('type', '')
        widgets = kind.startswith('application/vnd.jupyter')  # of no use without a kernel
        if FOREIGN.match(tag.get('src') or tag.get('href') or '') or widgets or re.match(r'\s*define\(.jquery', tag.string or ''): tag.decompose()

def mend_anchors(soup, page, ids, address):
    "Links to the published site lead to the page beside this one; where an anchor does not exist, to its class or to the page"
    for a in soup.select('a[href]'):
        if not re.match(rf'{re.escape(address)}(?:[/#]|$)', a['href']): continue
        path, _, anchor = a['href'][len(address):].lstrip('/').partition('#')
        path = path or 'index.html'
        if path not in ids: continue
        anchor = next((x for x in (anchor, anchor.replace('_', '-'), anchor.split('.')[0]) if x in ids[path]), '')
        a['href'] = posixpath.relpath(path, posixpath.dirname(page) or '.') + (anchor and f'#{anchor}')
        if path == page and anchor: a['href'] = f'#{anchor}'
        for leftover in ('target', 'rel'): del a[leftover]

def lead_to_pages(soup, page, ids):
    "Links to notebooks, which html among the outputs may have, lead to their pages"
    for a in soup.select('a[href*=".ipynb"]'):
        path, sharp, anchor = a['href'].partition('#')
        if ':' in path or not path.endswith('.ipynb'): continue
        beside = page_of(path).with_suffix('.html').as_posix()
        if posixpath.normpath(posixpath.join(posixpath.dirname(page), beside)) in ids: a['href'] = beside + sharp + anchor

def number_chapters(soup, page, numbers):
    "The sidebar says the number of a chapter's notebook"
    for a in soup.select('.sidebar-tree a[href], #quarto-sidebar a.sidebar-link[href]'):
        there = page if a['href'] == '#' else posixpath.normpath(posixpath.join(posixpath.dirname(page), a['href'].partition('#')[0]))
        if there not in numbers: continue
        number = soup.new_tag('span', attrs={'class': 'chapter'})
        number.string = numbers[there]
        text = a.select_one('.menu-text') or a
        text.insert(0, number)
        number.insert_after(' ')

def fold_sections(soup):
    "Sections of the sidebar fold, as Quarto's do: the one with this page is open"
    captions = soup.select('.sidebar-tree > p.caption')
    current = [caption for caption in captions if 'current' in caption.find_next_sibling('ul').get('class', ())]
    for caption in captions:
        pages = caption.find_next_sibling('ul')
        section = soup.new_tag('details', attrs={'class': 'section'})
        if caption in (current or captions[:1]): section['open'] = ''
        caption.name = 'summary'
        caption.insert_before(section)
        section.extend([caption.extract(), pages.extract()])

def describe_pictures(soup):
    "A picture that is described by its caption alone"
    for img in soup.select('figure img:not([alt])'):
        if caption := img.find_parent('figure').find('figcaption'): img['alt'] = caption.get_text(' ', strip=True)

def mark_wide(soup):
    "Figures that a telephone should show in their own size, to be scrolled"
    for img in soup.select('img[width]'):
        if img['width'].rstrip('px').isdecimal() and int(img['width'].rstrip('px')) > 560: img['class'] = [*img.get('class', []), 'wide']

def faults_of(soup, page, ids):
    "What a reader would stumble over: links printed as text, links to nowhere"
    text = soup.select_one('main, article, [role=main]') or soup
    for a in text.select('a[href]'):
        path, _, anchor = a['href'].partition('#')
        if ':' in path or path.startswith('//'): continue
        there = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if there.endswith('.html') and there not in ids: yield f'{page}: there is no page {there}, to which "{a.get_text(strip=True)}" leads'
        elif there in ids and anchor and anchor not in ids[there]: yield f'{page}: {there} has no #{anchor}, to which "{a.get_text(strip=True)}" leads'
        elif there.endswith('.ipynb'): yield f'{page}: "{a.get_text(strip=True)}" leads to a notebook, {path}'
    for string in text.find_all(string=re.compile(r'\]\(')):
        in_code = string.find_parent(['pre', 'code', 'script', 'style'])
        if re.search(r'\]\(https?:' if in_code else r'\[[^]]*]\([^)\s]+\)', string): yield f'{page}: a link is printed as text: {string.strip()[:80]}'

def tidy(folder, address, numbers):
    "Correct the pages in a folder, of a site at `address`, whose chapters have `numbers`; returns what is still wrong"
    soups = {p.relative_to(folder).as_posix(): BeautifulSoup(p.read_text(encoding='utf-8'), 'html.parser') for p in sorted(Path(folder).rglob('*.html'))}
    ids = {page: {tag['id'] for tag in soup.select('[id]')} for page, soup in soups.items()}
    faults = []
    for page, soup in soups.items():
        drop_foreign(soup)
        mend_anchors(soup, page, ids, address)
        lead_to_pages(soup, page, ids)
        number_chapters(soup, page, numbers)
        fold_sections(soup)
        describe_pictures(soup)
        mark_wide(soup)
        faults += faults_of(soup, page, ids)
        (Path(folder)/page).write_text(str(soup), encoding='utf-8')
    return faults

# The way through Sphinx

def sections(contents, caption=''):
    "(caption, notebooks) for each run of pages in a Quarto sidebar, in reading order"
    for is_page, entries in groupby(contents, lambda o: isinstance(o, str)):
        if is_page: yield caption, list(entries)
        else:
            for o in entries: yield from sections(o['contents'], f"{caption} / {o['section']}".strip(' /'))

def rendered(nbs, render):
    "The notebooks in `nbs` that become pages: all but those in the folders that `render` excludes, such as '!apps/'"
    excluded = tuple(glob[1:] for glob in render if glob[0] == '!')
    found = {Path(p).relative_to(nbs).as_posix() for p in nbglob(nbs)}
    return {p for p in found if not p.startswith(excluded)}

def check(listed, nbs, render=()):
    "Stop unless the sidebar lists exactly the notebooks that become pages"
    found = rendered(nbs, render)
    if missing := sorted(set(listed) - found): sys.exit(f"_quarto.yml lists notebooks that do not exist: {', '.join(missing)}")
    if extra := sorted(found - set(listed)): sys.exit(f"The sidebar in _quarto.yml does not list {', '.join(extra)}")

def page_of(path):
    "The place of a notebook in the site, which nbdev names without its number: graph.ipynb for 00_graph.ipynb"
    return _nbpath2html(Path(path)).with_suffix('.ipynb')

def slug(title):
    "The anchor that Pandoc, and so nbdev's links, give to a heading"
    return re.sub(r'^[\W\d_]+', '', re.sub(r'[^\w. -]', '', title.lower()).replace(' ', '-'))

def local(url):
    "A link to a notebook as Sphinx knows it, any other unchanged"
    path, sharp, anchor = url.partition('#')
    return url if ':' in path or not path.endswith('.ipynb') else page_of(path).as_posix() + sharp + anchor

def admonition(m):
    "The opening of a Quarto callout as MyST's"
    fence, kind, title, heading = m.groups()
    return f'{fence}{{admonition}} {title or heading or kind.title()}\n:class: {kind}\n\n'

def to_myst(text):
    "Quarto's markdown in MyST's dialect, code fences left alone"
    def prose(s):
        s = re.sub(r'(]\(|]: +)([^)\s]+)', lambda m: m[1] + local(m[2]), s)
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
    folded = opts.get('code-fold') is True
    cell.metadata = dict(tags=['hide-input'] * folded if echo else ['remove-input'])
    shown = dict(code_prompt_show=opts.get('code-summary', 'Code'), code_prompt_hide=opts.get('code-summary', 'Code')) if folded else {}
    if 'fig-alt' in opts: shown['image'] = dict(alt=opts['fig-alt'])
    if shown: cell.metadata['mystnb'] = shown
    asis = [d.get('text/markdown') or d.get('text/html') or o.get('text', '') for o, d in data if output == 'asis']
    return ([cell] if echo or cell.outputs else []) + [new_markdown_cell(text) for text in asis]

def convert(path):
    "The processed notebook at `path`, in cells that myst-nb shows as Quarto would"
    nb = read(path, 4)
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
    for c in (c for nb in nbs.values() for c in nb.cells if c.cell_type == 'markdown'): c.source = to_myst(c.source)
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

def sphinx_site(cfg, proc, site, groups):
    "Build the site without Quarto, from the notebooks in `proc`"
    origin = {page_of(p): p for _, group in groups for p in group}
    src = shutil.copytree(proc, proc/'_site')  # with the pictures that notebooks refer to
    write_sources(src, {page: convert(proc/nb) for page, nb in origin.items()}, groups)
    step(f'rendering {len(origin)} pages with Sphinx')
    html = proc/'_html'  # not at once into _docs: myst-nb leaves a folder beside its output
    if run_sphinx(src, html, site['title'], origin): sys.exit('The site has the faults above.')
    return html

def quarto_site(cfg, proc):
    "Build the site with Quarto, from the notebooks in `proc`"
    step('rendering with Quarto')
    subprocess.run(['quarto', 'render', '--no-cache'], cwd=proc, check=True)
    return proc/cfg.doc_path.name

def process(cfg, quarto):
    "Let nbdev process the notebooks; the folder with them"
    step('processing the notebooks with nbdev')
    if not quarto: return proc_nbs(force=True)
    from nbdev.quarto import nbdev_proc_nbs
    if not (cfg.nbs_path/'katex').exists(): fetch_katex(cfg.nbs_path/'katex')
    shutil.rmtree(cfg.config_path/'_proc', ignore_errors=True)
    nbdev_proc_nbs.__wrapped__()  # also writes nbdev.yml
    return cfg.config_path/'_proc'

def main():
    cfg = get_config()
    sys.path.insert(0, str(cfg.config_path))  # `show_doc` imports the package, installed or not
    settings = yaml.safe_load((cfg.config_path/'_quarto.yml').read_text(encoding='utf-8'))
    site = settings['website']
    groups = list(sections(site['sidebar']['contents']))
    notebooks = [nb for _, group in groups for nb in group]
    check(notebooks, cfg.nbs_path, settings.get('project', {}).get('render', ()))
    quarto = bool(shutil.which('quarto'))
    proc = process(cfg, quarto)
    address = cfg.doc_host + cfg.doc_baseurl
    for nb in notebooks: mend_file(proc/nb, page_of(nb).with_suffix('.html').as_posix(), address)
    html = quarto_site(cfg, proc) if quarto else sphinx_site(cfg, proc, site, groups)
    numbers = {page_of(nb).with_suffix('.html').as_posix(): m[1] for nb in notebooks if (m := re.match(r'(\d+[a-z]?)_', nb))}
    if faults := tidy(html, address, numbers): sys.exit('\n'.join([*faults, 'The site has the faults above.']))
    shutil.rmtree(cfg.doc_path, ignore_errors=True)
    shutil.move(html, cfg.doc_path)
    if quarto: step('search works once the pages are served: python -m http.server --directory _docs')
    step(f"done: {cfg.doc_path/'index.html'}")

if __name__ == '__main__': main()
