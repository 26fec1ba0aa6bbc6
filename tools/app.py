"""Serve the interactive pages in nbs/apps with Voilà, on this machine and for this machine only. Ctrl-C ends it."""
import os, sys
from pathlib import Path

HERE = Path(__file__).parent
os.environ['JUPYTER_PATH'] = os.pathsep.join(filter(None, [str(HERE/'jupyter'), os.environ.get('JUPYTER_PATH')]))

from voila.app import Voila

if __name__ == '__main__':
    Voila.launch_instance([str(HERE.parent/'nbs'/'apps'), '--template=offline', '--classic-tree', *sys.argv[1:]])
