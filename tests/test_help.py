"""`help` explains everything public: what it is, its parameters, what a fit leaves behind."""
import doctest, importlib, inspect, json, pkgutil, pydoc, re, subprocess, sys
from pathlib import Path

import numpy as np, pytest
import tsnmf
from tsnmf.docs import document, gaps, members

MODULES = [f'tsnmf.{m.name}' for m in pkgutil.iter_modules(tsnmf.__path__) if m.name[0] != '_']


@pytest.mark.parametrize('module', MODULES)
def test_nothing_public_is_without_its_sentence(module):
    importlib.import_module(module)
    missing = gaps(module)
    assert not missing, f'{module}: write a comment behind the parameter, or a docstring, for {", ".join(missing)}'


@pytest.mark.parametrize('module', MODULES)
def test_the_sentences_are_in_the_docstrings(module):
    "A module that `import tsnmf` does not load has to call `document` in its last cell"
    importlib.import_module(module)
    for name, thing, cls in members(module):
        f = thing if cls is None else getattr(cls, name.rpartition('.')[2])
        if not inspect.isroutine(f) or f.__module__ != module: continue
        explained = {p for p in inspect.signature(f).parameters if p not in ('self', 'cls') and p[0] != '_'}
        parts = re.split(r'\n\n(?=[A-Z]\w+\n---)', f.__doc__)
        told = {p for part in parts if part.startswith('Parameters\n') for p in re.findall(r'^\**(\w+)', part, re.M)}
        assert explained <= told, f'{module}.{name}: the last cell of its notebook should call document(__name__)'


def test_help_of_the_estimator_has_every_parameter_with_its_sentence():
    text = pydoc.plain(pydoc.render_doc(tsnmf.TSNMF))
    for name in tsnmf.TSNMF().get_params(): assert re.search(rf'^ \|  {name} : .+\n \|      \S', text, re.M), name
    assert 'default=8' in text and text.count('Parameters\n |  ----------') == 1


def test_help_explains_what_a_fit_leaves_behind():
    X = np.random.RandomState(0).randn(12, 2)
    fitted = tsnmf.TSNMF(2, metric='euclidean', random_state=0).fit(X, must_link=[(0, 1)], cannot_link=[(0, 2)])
    left = {name for name in [*vars(fitted), *vars(tsnmf.TSNMF)] if name.endswith('_') and name[0] != '_'}
    text = pydoc.plain(pydoc.render_doc(tsnmf.TSNMF)).partition('Attributes\n')[2].partition('Method resolution')[0]
    missing = {name for name in left - {'n_features_in_'} if not re.search(rf'^ \|  {name}\b.*\n \|      \S', text, re.M)}
    assert not missing, f'behind each of these, in a class that TSNMF comes from, a field with a comment: {sorted(missing)}'


def test_documenting_twice_changes_nothing():
    before = tsnmf.TSNMF.__doc__, tsnmf.graph.knn_graph.__doc__
    document('tsnmf.model', 'tsnmf.graph')
    assert before == (tsnmf.TSNMF.__doc__, tsnmf.graph.knn_graph.__doc__)


def test_the_package_says_what_it_is_and_its_examples_are_true():
    assert 'must-link' in tsnmf.__doc__
    for thing in tsnmf, tsnmf.TSNMF, tsnmf.Constraints:
        for found in doctest.DocTestFinder(recurse=False).find(thing, thing.__name__): assert not doctest.DocTestRunner().run(found).failed
    assert doctest.DocTestFinder(recurse=False).find(tsnmf, 'tsnmf')[0].examples


def test_import_needs_neither_nbdev_nor_fastcore():
    code = "import sys, tsnmf; assert not {'nbdev', 'fastcore'} & set(sys.modules)"
    subprocess.run([sys.executable, '-c', code], check=True)


def test_the_page_of_all_names_is_complete(root):
    cells = json.loads((root/'nbs'/'api.ipynb').read_text(encoding='utf-8'))['cells']
    shown = ''.join(''.join(o['data']['text/markdown']) for c in cells for o in c.get('outputs', ()) if 'text/markdown' in o.get('data', {}))
    for module in MODULES:
        importlib.import_module(module)
        part = shown.partition(f'## `{module}`')[2].partition('\n## ')[0]
        missing = [name for name in sys.modules[module].__all__ if f'`{name}`' not in part]
        assert not missing, f'make nbs NBS=nbs/api.ipynb: the page does not have {missing} of {module}'
