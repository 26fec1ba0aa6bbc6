"""The wheel installs into an empty environment, imports there without nbdev, and brings the command."""
import os, shutil, subprocess, sys, venv
from configparser import ConfigParser

import pytest
from tools.oldest import oldest

SOURCES = ('settings.ini', 'setup.py', 'pyproject.toml', 'README.md', 'LICENSE')

def test_wheel_works_in_an_empty_environment(root, tmp_path, copy_sources):
    source = tmp_path/'source'  # a copy: the build leaves files, and other tests read the original meanwhile
    copy_sources('tsnmf', source)
    for name in SOURCES: shutil.copy(root/name, source)
    env = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    def run(*command):
        return subprocess.run(command, cwd=tmp_path, env=env, check=True, text=True, stdout=subprocess.PIPE).stdout

    run(sys.executable, '-m', 'build', '--wheel', '--outdir', tmp_path, source)
    wheel, = tmp_path.glob('*.whl')
    venv.create(tmp_path/'env')
    bin = tmp_path/'env'/'bin'
    run(sys.executable, '-m', 'pip', '--python', bin/'python', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', wheel)
    imports = '''
import importlib, importlib.util, pkgutil, tsnmf
for module in pkgutil.iter_modules(tsnmf.__path__): importlib.import_module(f"tsnmf.{module.name}")
assert importlib.util.find_spec("nbdev") is None and importlib.util.find_spec("fastcore") is None
for thing in tsnmf.TSNMF, tsnmf.TSNMF.fit, tsnmf.widgets.Explorer: assert "Parameters\\n----------" in thing.__doc__, thing
print(tsnmf.__version__)'''
    assert run(bin/'python', '-c', imports).strip() in wheel.name
    run(bin/'tsnmf', '--help')

def test_the_oldest_promised_versions_are_named(root):
    assert oldest('numpy>=1.24 scipy>=1.11.1 ipywidgets>=8') == ['numpy==1.24.0', 'scipy==1.11.1', 'ipywidgets==8.0.0']
    config = ConfigParser(delimiters=['='])
    config.read(root/'settings.ini', encoding='utf-8')
    assert len(oldest(config['DEFAULT']['requirements'])) == 6
    with pytest.raises(AttributeError): oldest('numpy')  # a promise without a version is none
