"""A small table, files in an empty folder, and the command: for tests of what users have reported."""
import pytest
from sklearn.datasets import make_blobs
from tsnmf.cli import main

BLOBS, CLASSES = make_blobs(30, centers=3, random_state=0)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch): monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    "Runs `tsnmf` and returns its exit code and what it says on stderr"
    def command(*argv):
        code = 0
        try: main([str(arg) for arg in argv])
        except SystemExit as stop: code = stop.code or 0
        return code, capsys.readouterr().err
    return command


def write(name, *lines):
    "A file in the folder of the test"
    with open(name, 'w', encoding='utf-8') as file: file.write('\n'.join([*lines, '']))


def write_table(name='table.csv', header='a,b', line='{x:.4f},{y:.4f}', before=()):
    "The blobs, a line for each"
    rows = (line.format(i=i, id=i + 1, x=x, y=y) for i, (x, y) in enumerate(BLOBS))
    write(name, *before, header, *rows)
