"""Which modules import which, read from their source, and whether the floors allow it: a module imports only from lower numbers."""
import ast, re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent/'tsnmf'


def floor(notebook):
    "The floor of a notebook, by its number"
    return ('core', 'evidence', 'interface')[min(int(notebook[:2]) // 10, 2)]


def imported(source):
    "Names of the package's modules that `source` imports, at its top or within a function"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import): names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = 'tsnmf.' * bool(node.level) + (node.module or '')
            names = [start, *(f'{start.rstrip(".")}.{alias.name}' for alias in node.names)]
        else: continue
        yield from (parts[1] for name in names if len(parts := name.split('.')) > 1 and parts[0] == 'tsnmf')


def import_graph(package=PACKAGE):
    "For each notebook that makes a module, the notebooks whose modules it imports"
    sources = {path.stem: path.read_text(encoding='utf-8') for path in Path(package).glob('*.py')}
    made_by = {name: m[1] for name, text in sources.items() if (m := re.search(r'File to edit: \.\./nbs/(\w+)\.ipynb', text))}
    return {made_by[name]: {made_by[other] for other in imported(sources[name]) if other in made_by} for name in sorted(made_by, key=made_by.get)}


def violations(graph):
    "Imports that go up: to a higher floor, or to a higher number on the same one"
    return [f'{one} ({floor(one)}) imports {other} ({floor(other)})' for one in graph for other in sorted(graph[one]) if other >= one]
