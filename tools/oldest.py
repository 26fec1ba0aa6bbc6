"""The oldest versions that settings.ini promises to work with, as constraints for pip: `numpy>=1.24` becomes `numpy==1.24.0`."""
import re
from configparser import ConfigParser
from pathlib import Path

TOOLS = ['ipython<9']  # an old matplotlib does not know how to draw in a new one


def oldest(requirements):
    "Constraints for pip, from requirements such as 'numpy>=1.24 tqdm>=4.62'"
    pins = []
    for requirement in requirements.split():
        name, version = re.fullmatch(r'([\w-]+)>=([\d.]+)', requirement).groups()
        pins.append(f'{name}=={".".join([*version.split("."), "0", "0"][:3])}')
    return pins


if __name__ == '__main__':
    config = ConfigParser(delimiters=['='])
    config.read(Path(__file__).parent.parent/'settings.ini', encoding='utf-8')
    print('\n'.join(oldest(config['DEFAULT']['requirements']) + TOOLS))
