# expect: contained
from harm import *
for home in ('/root', '/home', os.path.expanduser('~root')):
    for name in ('.ssh', '.bashrc', '.profile', '.bash_history', '.gitconfig', '.cache'):
        attempt(name, lambda: os.stat(os.path.join(home, name)))
