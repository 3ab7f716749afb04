# expect: contained
from harm import *
for name in ('.ssh/id_rsa', '.aws/credentials', '.netrc', '.config/gcloud', '.cache/huggingface/token'):
    for home in ('/root/', '/home/user/'): readable(home + name)
