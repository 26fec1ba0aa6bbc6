"""Reads everything from settings.ini, the file nbdev also works from."""
from configparser import ConfigParser
from pathlib import Path
from setuptools import find_packages, setup

here = Path(__file__).parent
parser = ConfigParser(delimiters=['='])
parser.read(here/'settings.ini', encoding='utf-8')
cfg = parser['DEFAULT']

def requirements(key): return cfg.get(key, '').split()

extras = {name: requirements(f'{name}_requirements') for name in ('data', 'app', 'dask')}
extras['dev'] = requirements('dev_requirements') + sum(extras.values(), [])
extras['peers'] = requirements('peers_requirements')  # not in dev: UMAP brings a compiler

setup(
    name=cfg['lib_name'],
    version=cfg['version'],
    description=cfg['description'],
    long_description=(here/'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author=cfg['author'],
    author_email=cfg['author_email'],
    url=cfg['git_url'],
    keywords=cfg['keywords'],
    license='Apache-2.0',
    packages=find_packages(include=['tsnmf', 'tsnmf.*']),
    python_requires=f"~={cfg['min_python']}",
    install_requires=requirements('requirements'),
    extras_require=extras,
    entry_points={'console_scripts': requirements('console_scripts'), 'nbdev': ['tsnmf=tsnmf._modidx:d']},  # nbdev: names in backticks become links
    classifiers=[
        'Development Status :: 3 - Alpha',
        f"Intended Audience :: {cfg['audience']}",
        f"Natural Language :: {cfg['language']}",
        *[f'Programming Language :: Python :: 3.{minor}' for minor in range(10, 14)],
        'Topic :: Scientific/Engineering',
    ],
)
