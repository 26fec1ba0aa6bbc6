"""tsnmf/ is what the notebooks export, no more and no less."""
import shutil, subprocess, sys
from pathlib import Path

def sources(folder): return {p.name: p.read_text() for p in sorted(folder.glob('*.py'))}

def test_package_is_in_step_with_the_notebooks(root, tmp_path, copy_sources):
    shutil.copy(root/'settings.ini', tmp_path)
    copy_sources('nbs', tmp_path)
    (tmp_path/'tsnmf').mkdir()
    shutil.copy(root/'tsnmf'/'__init__.py', tmp_path/'tsnmf')
    subprocess.run([Path(sys.executable).parent/'nbdev_export'], cwd=tmp_path, check=True)
    ours, fresh = sources(root/'tsnmf'), sources(tmp_path/'tsnmf')
    different = sorted(name for name in ours.keys() | fresh.keys() if ours.get(name) != fresh.get(name))
    assert not different, f'not what the notebooks export (make export mends it): {different}'
