"""Serve the interactive pages, on this machine and for this machine only. Ctrl-C ends it."""
from tsnmf.server import main

if __name__ == '__main__': main()
