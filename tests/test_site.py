"""The site built without Quarto shows what the notebooks hold, from disk and without a network."""
import base64, io, os, shutil, subprocess, sys
from pathlib import Path

import nbformat, pytest
from nbformat.v4 import new_code_cell as code, new_markdown_cell as md, new_notebook, new_output

SETTINGS = '''[DEFAULT]
repo = tiny
lib_name = tiny
version = 0.1.0
user = someone
author = Someone
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
        'index': [md('# Tiny\n\n> A project to build a site from'), md('Start with `half_of`, then [the steps](tutorials/first.ipynb).')],
        '00_core': [md('# Core\n\n> Halving'), code('#| default_exp core'), code(SOURCE), md(CALLOUT), md(MATHS),
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
    assert {a.get_attribute('href') for a in browse.query_selector_all('article a.reference')} == {'../core.html#half-of'}
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


def test_the_site_of_this_project_builds(root, tmp_path, copy_sources):
    for name in ('settings.ini', '_quarto.yml'): shutil.copy(root/name, tmp_path)
    for name in ('nbs', 'tsnmf'): copy_sources(name, tmp_path)
    said, code = build(tmp_path, root)
    assert code == 0 and 'Warning' not in said, said
