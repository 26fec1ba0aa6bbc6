"""The wheel installs into an empty environment, imports there without nbdev, and brings the command."""
import subprocess, sys, venv

def test_wheel_works_in_an_empty_environment(root, tmp_path):
    subprocess.run([sys.executable, '-m', 'build', '--wheel', '--outdir', tmp_path, root], check=True, stdout=subprocess.DEVNULL)
    wheel, = tmp_path.glob('*.whl')
    venv.create(tmp_path/'env', with_pip=True)
    python = tmp_path/'env'/'bin'/'python'
    subprocess.run([python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel], check=True)
    imports = '''
import importlib, importlib.util, pkgutil, tsnmf
for module in pkgutil.iter_modules(tsnmf.__path__): importlib.import_module(f"tsnmf.{module.name}")
assert importlib.util.find_spec("nbdev") is None and importlib.util.find_spec("fastcore") is None
print(tsnmf.__version__)'''
    shown = subprocess.run([python, '-c', imports], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert shown.strip() in wheel.name
    subprocess.run([tmp_path/'env'/'bin'/'tsnmf', '--help'], check=True, stdout=subprocess.DEVNULL)
