"""The GitHub workflows are valid."""
import subprocess, sys

def test_workflows_follow_the_schema(root):
    files = sorted((root/'.github'/'workflows').glob('*.yml'))
    assert files
    subprocess.run([sys.executable, '-m', 'check_jsonschema', '--builtin-schema', 'vendor.github-workflows', *files], check=True)
