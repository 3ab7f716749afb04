"""Code that runs inside the sandbox, before and around the program under test.

Standard library only, and nothing newer than Python 3.9: the interpreter in the box may be another
one than the host's. The host never imports these modules to run them; it reads their source
(`codereward_local.bundle`) and sends it to the interpreter in the box.
"""
