import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
# ---- the next program
import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))
