"""The site shows what the notebooks hold, from disk and without a network, whoever builds it."""
import base64, io, os, re, shutil, subprocess, sys
from pathlib import Path

import nbformat, pytest, yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell as code, new_markdown_cell as md, new_notebook, new_output
from tools.site import fold, mend_links, rendered, sections, tidy

SETTINGS = '''[DEFAULT]
repo = tiny
lib_name = tiny
version = 0.1.0
user = someone
author = Someone
description = A tiny project
branch = main
custom_sidebar = True
'''
QUARTO = '''
website:
  title: Tiny
  sidebar:
    contents:
      - index.ipynb
      - section: The method
        contents: [00_core.ipynb]
      - section: Learn
        contents:
          - section: First steps
            contents: [tutorials/first.ipynb]
'''
SOURCE = '''#| export
def half_of(x:float, # the number to halve
            n:int=1, # how often
           )->float: # the smaller number
    "Halve `x`, again and again"
    return x/2**n
'''
HELPER = '''#| exports
def _third_of(x):
    "A third"
    return x/3
'''
TESTS = 'assert half_of(3) == 1.5'
CALLOUT = '''::: {.callout-note}
## Mind the zebra
The halves never reach zero. See [the first steps](tutorials/first.ipynb#a-second-look).
:::

::: {.callout-warning}
No title of its own.
:::
'''
MATHS = r'''
Inline $x_i \ge 0$ and a display

$$\begin{aligned} a &= b \\ c &= d \end{aligned} \tag{15}$$

\begin{equation}
\min_V \|S - VV^\top\|_F^2 \tag{16}
\end{equation}
'''
TABLE = '''<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style>
<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>ACC</th></tr></thead>
<tbody><tr><th>SNMF</th><td>0.5</td></tr><tr><th>ours</th><td>0.9</td></tr></tbody></table></div>'''


def figure():
    "A PNG as matplotlib's inline backend leaves it in a notebook"
    from matplotlib.figure import Figure
    fig, png = Figure(figsize=(4, 2)), io.BytesIO()
    fig.subplots().plot([1, 3, 2])
    fig.savefig(png)
    return base64.b64encode(png.getvalue()).decode()


def shows(source, mime, data): return code(source, outputs=[new_output('display_data', data={mime: data})])


@pytest.fixture(scope='module')
def project(tmp_path_factory):
    "A project of three notebooks, exported and known to Python the way an installed one is"
    path = tmp_path_factory.mktemp('tiny')
    (path/'tiny-0.1.0.dist-info').mkdir()
    (path/'nbs'/'tutorials').mkdir(parents=True)
    for name, text in {'settings.ini': SETTINGS, '_quarto.yml': QUARTO, 'nbs/_quarto.yml': 'metadata-files: [nbdev.yml, ../_quarto.yml]\n',
                       'tiny-0.1.0.dist-info/METADATA': 'Name: tiny\nVersion: 0.1.0\n',
                       'tiny-0.1.0.dist-info/entry_points.txt': '[nbdev]\ntiny = tiny._modidx:d\n'}.items(): (path/name).write_text(text)
    notebooks = {
        'index': [md('# Tiny\n\n> A project to build a site from'), md('Start with `half_of`, then [the steps](tutorials/first.ipynb).'),
                  md('See [how `half_of` halves](00_core.ipynb), or [`half_of`](00_core.ipynb#half_of)s.')],
        '00_core': [md('# Core\n\n> Halving'), code('#| default_exp core'), code(SOURCE), code(HELPER), code(TESTS), md(CALLOUT), md(MATHS),
                    md('| a | b |\n|---|---|\n| 1 | 2 |'), shows('table', 'text/html', TABLE),
                    shows('#| echo: false\n#| fig-alt: "A line that rises: then falls"\nplot([1, 3, 2])', 'image/png', figure())],
        'tutorials/first': [md('# First steps'), code('from tiny.core import half_of'), md('Back to [the core](../00_core.ipynb#half_of).'),
                            md('## A second look'), md('```python\n::: {.callout-note}\n```\n\n`half_of` again.')]}
    for name, cells in notebooks.items(): nbformat.write(new_notebook(cells=cells), path/'nbs'/f'{name}.ipynb')
    subprocess.run([Path(sys.executable).parent/'nbdev_export'], cwd=path, check=True)
    return path


def build(project, root):
    "What tools/site.py says and its exit code, on a machine without Quarto"
    path = os.pathsep.join(p for p in os.environ['PATH'].split(os.pathsep) if not shutil.which('quarto', path=p))
    env = {**os.environ, 'PATH': path}
    done = subprocess.run([sys.executable, root/'tools'/'site.py'], cwd=project, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode


@pytest.fixture(scope='module')
def docs(project, root):
    said, code = build(project, root)
    assert code == 0, said
    return project/'_docs'


@pytest.fixture(scope='module')
def browse(docs, browser):
    "A browser page, and the outside requests it tried to make"
    page = browser.new_page()
    page.outside = []
    page.route(lambda url: not url.startswith('file:'), lambda route: (page.outside.append(route.request.url), route.abort()))
    return page


def test_all_that_a_notebook_holds_is_shown(browse, docs):
    browse.goto((docs/'core.html').as_uri())
    browse.wait_for_function('window.MathJax?.startup?.promise?.then(() => true)')
    text = browse.inner_text('article')
    assert browse.locator('h1').count() == 1 and browse.inner_text('.lead') == 'Halving'
    assert browse.locator('mjx-container').count() == 3 and browse.locator('mjx-container [data-mml-node=merror]').count() == 0
    assert not [raw for raw in ('$$', r'\tag', r'\begin', ':::', '{target', '#|') if raw in text]
    assert browse.inner_text('.admonition.note .admonition-title') == 'Mind the zebra'
    assert browse.inner_text('.admonition.warning .admonition-title') == 'Warning'
    assert browse.get_attribute('.cell_output img', 'alt') == 'A line that rises: then falls'
    assert browse.evaluate('document.querySelector(".cell_output img").naturalWidth') > 0
    assert browse.locator('.table-wrapper table').count() == browse.locator('.cell_output table.dataframe').count() == 1
    documented = browse.inner_text('section#half-of')
    assert not [part for part in ('half_of', 'n:int=1', 'the number to halve', 'again and again') if part not in documented]
    assert not [hidden for hidden in ('show_doc', 'return x', 'plot(') if hidden in text]
    folded = [d.inner_text().strip() for d in browse.query_selector_all('details.hide:not([open])')]
    assert folded == ['Helper: _third_of', 'Tests']
    assert not browse.outside


def test_links_lead_to_pages_and_headings(browse, docs):
    for page in ('index', 'core', 'tutorials/first'):
        browse.goto((docs/f'{page}.html').as_uri())
        for a in browse.query_selector_all('a[href]'):
            url = a.evaluate('a => a.href')
            if not url.startswith('file:'): continue
            file, _, anchor = url.removeprefix('file://').partition('#')
            assert Path(file).is_file() and f'id="{anchor}"' in Path(file).read_text() + 'id=""', f'{page}: {url}'
        assert browse.get_attribute('.view-this-page a', 'href').startswith('https://github.com/someone/tiny/blob/main/nbs/')
    assert {a.get_attribute('href') for a in browse.query_selector_all('article a.reference')} == {'../core.html#half-of', '../core.html#half_of'}
    assert not browse.outside


def test_search_works_from_disk(browse, docs):
    browse.goto((docs/'search.html').as_uri() + '?q=zebra')
    browse.wait_for_selector('#search-results li a')
    assert 'core.html' in browse.get_attribute('#search-results li a', 'href')
    assert not browse.outside


@pytest.mark.parametrize('change, complaint', [
    (lambda nbs: shutil.copy(nbs/'00_core.ipynb', nbs/'spare.ipynb'), 'spare.ipynb'),
    (lambda nbs: (nbs/'00_core.ipynb').unlink(), '00_core.ipynb'),
    (lambda nbs: nbformat.write(new_notebook(cells=[md('# Tiny'), md('[x](nowhere.ipynb)')]), nbs/'index.ipynb'), 'nowhere')])
def test_what_is_missing_fails_the_build(project, root, tmp_path, change, complaint):
    copy = shutil.copytree(project, tmp_path/'copy', ignore=shutil.ignore_patterns('_docs', '_proc'))
    change(copy/'nbs')
    said, code = build(copy, root)
    assert code == 1 and complaint in said and 'Traceback' not in said


@pytest.fixture(scope='module')
def whole(root, tmp_path_factory, copy_sources):
    "The site of this project"
    path = tmp_path_factory.mktemp('whole')
    for name in ('settings.ini', '_quarto.yml'): shutil.copy(root/name, path)
    for name in ('nbs', 'tsnmf'): copy_sources(name, path)
    said, code = build(path, root)
    assert code == 0 and 'Warning' not in said, said
    return path/'_docs'


def pages(folder): return sorted(p for p in folder.rglob('*.html') if p.name != 'search.html')


def test_every_page_leads_to_all_names_and_says_its_chapters(whole):
    for path in pages(whole):
        sidebar = BeautifulSoup(path.read_text(), 'html.parser').select_one('.sidebar-tree')
        links = {(path.parent/a['href']).resolve(): a.get_text() for a in sidebar.select('a[href]') if a['href'] != '#'}
        assert path.name == 'api.html' or (whole/'api.html').resolve() in links, path
        assert path.name == 'graph.html' or links[(whole/'graph.html').resolve()].startswith('00 ')
        assert len(sidebar.select('details.section[open]')) == 1, path


def test_no_line_of_code_is_cut_and_no_page_scrolls_sideways(whole, browser):
    cut = """() => [...document.querySelectorAll('article pre')].filter(p => p.scrollWidth > p.clientWidth + 1).map(p => p.textContent.slice(0, 60))"""
    sideways = '() => document.documentElement.scrollWidth - document.documentElement.clientWidth'
    blocks = 0
    for width in 1280, 390:
        page = browser.new_page(viewport=dict(width=width, height=900))
        for path in pages(whole):
            page.goto(path.as_uri(), wait_until='domcontentloaded')
            blocks += page.locator('article pre').count()
            assert page.evaluate(sideways) <= 0, f'{path.name} at {width} px'
            if width == 1280: assert not page.evaluate(cut), path.name
        page.close()
    assert blocks > 1000


def test_the_estimator_is_on_the_first_screen_of_all_names(whole, browser):
    page = browser.new_page(viewport=dict(width=1280, height=900))
    page.goto((whole/'api.html').as_uri())
    for text in 'TSNMF', 'n_clusters': assert page.locator('article code', has_text=text).first.bounding_box()['y'] < 900
    page.close()


# What Quarto makes of a page, as far as the corrections are concerned

ADDRESS = 'https://someone.github.io/tiny'
QUARTO_PAGE = f'''<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en"><head>
<meta charset="utf-8">
<meta name="generator" content="quarto-1.7.34">
<title>Core – Tiny</title>
<script src="site_libs/quarto-nav/quarto-nav.js"></script>
<link href="site_libs/bootstrap/bootstrap.min.css" rel="stylesheet" append-hash="true">
<script src="https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js" integrity="sha512-c3Nl8" crossorigin="anonymous"></script>
<script src="https://cdnjs.cloudflare.com/ajax/libs/jquery/3.5.1/jquery.min.js" integrity="sha512-bLT0Q" crossorigin="anonymous" data-relocate-top="true"></script>
<script type="application/javascript">define('jquery', [],function() {{return window.jQuery;}})</script>
<script src="https://cdn.jsdelivr.net/npm/@jupyter-widgets/html-manager@*/dist/embed-amd.js" crossorigin="anonymous"></script>
<script defer="" src="katex/katex.min.js"></script>
<link rel="stylesheet" href="katex/katex.min.css">
</head><body class="floating nav-fixed">
<nav id="quarto-sidebar" class="sidebar collapse collapse-horizontal sidebar-navigation floating overflow-auto">
<ul class="list-unstyled mt-1">
<li class="sidebar-item"><div class="sidebar-item-container"><a href="./index.html" class="sidebar-item-text sidebar-link"><span class="menu-text"><code>tsnmf</code></span></a></div></li>
<li class="sidebar-item"><div class="sidebar-item-container"><a href="./core.html" class="sidebar-item-text sidebar-link active"><span class="menu-text">Core</span></a></div></li>
</ul></nav>
<main class="content" id="quarto-document-content">
<section id="half_of" class="level3"><h3 class="anchored" data-anchor-id="half_of">half_of</h3>
<p><a href="{ADDRESS}/index.html#top" target="_blank"><code>start</code></a> and <a href="{ADDRESS}/core.html#half_of.twice"><code>half_of.twice</code></a></p>
<p><a href="{ADDRESS}/index.html#nowhere"><code>gone</code></a>, <a href="{ADDRESS}s/x.html">another site</a>, <a href="https://example.org">elsewhere</a></p>
<div class="cell-output cell-output-display"><div><figure class="figure"><p><img src="core_files/figure-html/cell-3-output-1.png" width="977" height="311" class="figure-img"></p></figure></div></div>
<div class="quarto-figure"><figure class="figure"><p><img src="images/labeller.png" class="img-fluid figure-img"></p><figcaption>Two digits</figcaption></figure></div>
<p><span class="math inline">\\(x &lt; 1\\)</span></p>
</section></main>
<script type="application/vnd.jupyter.widget-state+json">{{"state": {{}}}}</script>
<script type="application/javascript">document.addEventListener("DOMContentLoaded", function () {{ katex.render("x < 1", document.body); }});</script>
</body></html>'''


@pytest.fixture
def quarto_pages(tmp_path):
    (tmp_path/'core.html').write_text(QUARTO_PAGE)
    (tmp_path/'index.html').write_text('<html><body><main><h1 id="top">Tiny</h1><p>x</p></main></body></html>')
    return tmp_path


def test_pages_of_quarto_fetch_nothing_and_link_within(quarto_pages):
    assert not tidy(quarto_pages, ADDRESS, {'core.html': '00'})
    text = (quarto_pages/'core.html').read_text()
    soup = BeautifulSoup(text, 'html.parser')
    assert text.startswith('<!DOCTYPE html>') and 'katex.render("x < 1"' in text and r'\(x &lt; 1\)' in text
    assert not [tag for tag in soup.select('[src], link') if (tag.get('src') or tag['href']).startswith('http')]
    assert [tag['src'] for tag in soup.select('script[src]')] == ['site_libs/quarto-nav/quarto-nav.js', 'katex/katex.min.js']
    assert 'define(' not in text and 'widget-state' not in text and len(soup.select('link')) == 2
    assert [a['href'] for a in soup.select('main a')] == ['index.html#top', '#half_of', 'index.html', f'{ADDRESS}s/x.html', 'https://example.org']
    assert [a.get_text() for a in soup.select('#quarto-sidebar a')] == ['tsnmf', '00 Core']
    assert soup.select('img')[0]['class'] == ['figure-img', 'wide'] and soup.select('img')[1]['alt'] == 'Two digits'


def test_with_quarto_the_same_corrections_are_made(project, root, tmp_path):
    copy = shutil.copytree(project, tmp_path/'copy', ignore=shutil.ignore_patterns('_docs', '_proc'))
    (copy/'nbs'/'katex').mkdir()
    (tmp_path/'page.html').write_text(QUARTO_PAGE)
    quarto = tmp_path/'bin'/'quarto'  # it renders nothing, but does with files what Quarto does
    quarto.parent.mkdir()
    quarto.write_text(f'''#!{sys.executable}
import sys, pathlib
assert sys.argv[1] == 'render' and pathlib.Path('_quarto.yml').exists() and 'tiny' in pathlib.Path('nbdev.yml').read_text()
assert 'code-summary: \\\\"Tests' in pathlib.Path('00_core.ipynb').read_text()
for name in 'index', 'core', 'tutorials/first':
    page = pathlib.Path('_docs', name).with_suffix('.html')
    page.parent.mkdir(exist_ok=True)
    page.write_text(pathlib.Path({str(tmp_path/'page.html')!r}).read_text().replace('index.html#top', 'index.html'))
''')
    quarto.chmod(0o755)
    env = {**os.environ, 'PATH': f'{quarto.parent}{os.pathsep}{os.environ["PATH"]}'}
    done = subprocess.run([sys.executable, root/'tools'/'site.py'], cwd=copy, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    text = (copy/'_docs'/'tutorials'/'first.html').read_text()
    assert 'cdnjs' not in text and 'href="../core.html#half_of"' in text and '<span class="chapter">00</span>' in (copy/'_docs'/'core.html').read_text()


@pytest.mark.parametrize('body, complaint', [
    ('<p>See [the core](core.html).</p>', 'printed as text'),
    (f'<pre><code>x: a,  # a [`Closure`]({ADDRESS}/core.html#closure)</code></pre>', 'printed as text'),
    ('<p><a href="nowhere.html">x</a></p>', 'no page nowhere.html'),
    ('<p><a href="core.html#nothing">x</a></p>', 'no #nothing'),
    ('<p><a href="00_gone.ipynb">x</a></p>', 'leads to a notebook')])
def test_what_a_reader_would_stumble_over_is_told(quarto_pages, body, complaint):
    (quarto_pages/'index.html').write_text(f'<html><body><main><h1 id="top">Tiny</h1>{body}</main></body></html>')
    fault, = tidy(quarto_pages, ADDRESS, {})
    assert complaint in fault and fault.startswith('index.html: ')


def test_links_to_notebooks_in_outputs_lead_to_their_pages(quarto_pages):
    (quarto_pages/'index.html').write_text('<html><body><main><h1 id="top">x</h1><a href="00_core.ipynb#half_of"><img alt="x"></a></main></body></html>')
    assert not tidy(quarto_pages, ADDRESS, {})
    assert 'href="core.html#half_of"' in (quarto_pages/'index.html').read_text()


def test_code_that_looks_like_a_link_is_none(quarto_pages):
    (quarto_pages/'index.html').write_text('<html><body><main><h1 id="top">x</h1><pre><code>METHODS[name](X, known)</code></pre></main></body></html>')
    assert not tidy(quarto_pages, ADDRESS, {})


@pytest.mark.parametrize('text, mended', [
    (f'[the [`tsnmf`]({ADDRESS}/loop.html#tsnmf) command](22_cli.ipynb)', '[the `tsnmf` command](22_cli.ipynb)'),
    (f'[[`Half`]({ADDRESS}/core.html#half)](00_core.ipynb)s', '[`Half`](00_core.ipynb)s'),
    (f'call [`fit`]({ADDRESS}/cli.html#fit) on it', 'call `fit` on it'),  # a method, not the command
    (f'```python\ndef f(c):  # a [`Half`]({ADDRESS}/core.html#half)\n```', '```python\ndef f(c):  # a `Half`\n```'),
    (f'see [`half_of`]({ADDRESS}/core.html#half_of)', None), (f'see [`snmf`]({ADDRESS}/index.html#snmf)', None),
    ('[the steps](tutorials/first.ipynb)', None)])
def test_links_that_do_not_belong_are_taken_back(text, mended):
    assert mend_links(text, 'index.html', ADDRESS) == (mended or text)


@pytest.mark.parametrize('source, summary', [
    ('x = 1\ntest_eq(x, 1)', 'Tests'), ('for x in 1, 2: test_eq(x, x)', 'Tests'), ('assert x', 'Tests'),
    ('print(x)', None), ('#| code-fold: true\nassert x', None),
    ('#| code-fold: show\n#| code-summary: "Exported source"\n#| exports\ndef _f(): return 1', 'Helper: _f'),
    ('#| code-fold: show\n#| code-summary: "Exported source"\n#| exports\ndef f(): assert _f()\n\ndef _f(): return 1', None)])
def test_tests_and_helpers_are_folded(source, summary):
    cell = code(source)
    fold(cell)
    assert cell.source == source if summary is None else f'code-summary: "{summary}"' in cell.source and 'code-fold: true' in cell.source


@pytest.mark.parametrize('page, source, summary', [
    ('core.html', 'import numpy as np\nfrom x import (a,\n    b\n)  # both', 'Imports'), ('core.html', 'import x\nx.f()', None),
    ('paper/table3.html', 'rows = results("table3")', 'Code'), ('paper/table3.html', '#| echo: false\nrows', None),
    ('core.html', 'rows = results("table3")', None)])
def test_imports_and_the_code_behind_measurements_are_folded(page, source, summary):
    cell = code(source)
    fold(cell, page)
    assert cell.source == source if summary is None else cell.source == f'#| code-fold: true\n#| code-summary: "{summary}"\n{source}'


def test_a_test_with_output_stays_open():
    cell = shows('assert x', 'text/plain', '1')
    fold(cell)
    assert cell.source == 'assert x'


# The configuration, as Quarto reads it

def merged(path):
    "A YAML file with the files that it names in `metadata-files`, as far as they are in the repository"
    found = yaml.safe_load(path.read_text(encoding='utf-8'))
    for name in found.pop('metadata-files', ()):
        if name == 'nbdev.yml': continue  # nbdev writes it when the site is built
        for key, value in merged(path.parent/name).items():
            assert key not in found, f'{key} is in {path} and in {name}'
            found[key] = value
    return found


def test_quarto_finds_every_page_and_every_file(root):
    config = merged(root/'nbs'/'_quarto.yml')
    listed = [nb for _, group in sections(config['website']['sidebar']['contents']) for nb in group]
    assert len(listed) == len(set(listed)) and not [nb for nb in listed if not (root/'nbs'/nb).is_file()]
    assert set(listed) == rendered(root/'nbs', config['project']['render'])
    assert config['project']['render'][0] == '*.ipynb' and all(glob[0] == '!' and (root/'nbs'/glob[1:]).is_dir() for glob in config['project']['render'][1:])
    assert config['website']['repo-subdir'] == 'nbs'
    html = config['format']['html']
    for theme in html['theme'].values():
        assert all((root/'nbs'/file).is_file() for file in theme if file.endswith('.scss'))
    assert html['html-math-method']['url'].rstrip('/') in config['project']['resources']
    assert html['code-overflow'] == 'wrap'


def test_the_styles_of_quarto_have_the_layers_that_it_asks_for(root):
    text = (root/'nbs'/'quarto.scss').read_text()
    assert re.findall(r'/\*-- scss:(\w+) --\*/', text) == ['defaults', 'rules'] and text.count('{') == text.count('}')


# The styles, on the shapes that Quarto makes and the colours of its themes

STYLED = '''<!DOCTYPE html><html><head><style>
code {{ color: purple; background-color: white }} pre {{ white-space: pre }} body {{ margin: 0; color: {ink}; background: {paper} }}
.katex-display {{ display: block; white-space: nowrap }} main {{ margin: 1em }}
</style><style>{rules}</style></head><body>
<div id="quarto-sidebar"><a class="sidebar-link"><span class="menu-text"><code>tsnmf</code></span></a></div>
<main class="content"><p id="prose">See <code>{word}</code>.</p>
<div class="cell-output cell-output-display"><figure class="figure"><p><img src="{png}" width="1400" height="300" class="figure-img wide"></p></figure></div>
<p><img src="{png}" width="1400" height="300" class="figure-img" id="plain"></p>
<div class="cell-output cell-output-display"><table class="dataframe"><tbody><tr><th>Yale</th>{cells}</tr></tbody></table></div>
<p><span class="math display"><span class="katex-display">{long}</span></span></p>
<div class="sourceCode"><pre class="sourceCode"><code class="sourceCode">{long}</code></pre></div></main></body></html>'''


@pytest.mark.parametrize('width', [1280, 390])
@pytest.mark.parametrize('ink, paper', [('rgb(0, 0, 0)', 'rgb(255, 255, 255)'), ('rgb(230, 230, 230)', 'rgb(20, 20, 20)')], ids=['light', 'dark'])
def test_the_styles_of_quarto_fit_phones_and_the_dark_theme(root, browser, width, ink, paper):
    rules = (root/'nbs'/'quarto.scss').read_text().partition('/*-- scss:rules --*/')[2]  # plain CSS
    page = browser.new_page(viewport=dict(width=width, height=900))
    page.set_content(STYLED.format(rules=rules, ink=ink, paper=paper, word='a_name_that_goes_on_' * 8, long='x = y + ' * 60,
                                   cells='<td>0.363 ± 0.034 •</td>' * 12, png=f'data:image/png;base64,{figure()}'))
    assert page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') <= 0
    look = 'e => (({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(e))'
    for code_ in '#prose code', '#quarto-sidebar code':
        color, ground = page.locator(code_).evaluate(look)
        assert color == ink and ground.startswith('rgba(')  # no chip of a colour of its own
    assert page.locator('#plain').bounding_box()['width'] <= width
    assert page.locator('#plain').evaluate('e => getComputedStyle(e).backgroundColor') == 'rgb(255, 255, 255)'
    heights = page.locator('td').evaluate_all('cells => cells.map(c => c.clientHeight)')
    line = page.locator('#quarto-sidebar').bounding_box()['height']
    assert max(heights) < 2 * line  # figures of a table are not broken
    if width == 390: assert page.locator('img.wide').bounding_box()['width'] == 640  # letters keep their size; it scrolls
    page.close()
