# Runs one program. Executed as root inside the sandbox, in a network and a mount namespace that
# hold nothing but this script's own processes. Every process it starts costs the reward a
# millisecond, so it does in the shell itself what it can.
#
# In the environment: CODEREWARD_NONCE; CODEREWARD_DISK, the program's disk limit in bytes; and the
# program as a tar archive, either as base64 in CODEREWARD_P0, CODEREWARD_P1, ...
# (CODEREWARD_PARTS of them) or in the file CODEREWARD_FILE. The archive holds `plan`, a script of
# `go` lines; `c/<room>/`, what each command reads and writes; and `box/`, what the program may see
# and change. All modes and owners are set in it.
#
# On standard output: "<nonce> <name> ran|missing ..." for each command, then "<nonce> data", what
# came back as a tar archive in base64, "<nonce> end"; or "<nonce> file <path>" when that is too
# large for a reply; or "<nonce> refused <why>".
nonce=$CODEREWARD_NONCE
uid=65534
path=/usr/local/bin:/usr/bin:/bin
ran=
rooms=

refuse() {
  echo "$nonce refused $*"
  exit 0
}

umask 077
d=/codereward.$$
mkdir -m 711 "$d" && mkdir "$d/box" || refuse "cannot make a directory below /"
mount -t tmpfs -o "size=$CODEREWARD_DISK,nr_inodes=65536,mode=755" codereward "$d/box" ||
  refuse "cannot mount a file system"

parts() {
  n=0
  while [ "$n" -lt "$CODEREWARD_PARTS" ]; do
    eval "printf %s \"\$CODEREWARD_P$n\""
    n=$((n + 1))
  done
}
if [ -n "${CODEREWARD_FILE:-}" ]; then
  mv "$CODEREWARD_FILE" "$d/program"
else
  parts | base64 -d >"$d/program"
  n=0
  while [ "$n" -lt "$CODEREWARD_PARTS" ]; do # no further process is to carry them
    unset "CODEREWARD_P$n"
    n=$((n + 1))
  done
fi
unset CODEREWARD_NONCE CODEREWARD_DISK CODEREWARD_PARTS CODEREWARD_FILE
tar xpf "$d/program" -C "$d" || {
  echo "$nonce broken"
  exit 0
}

# The program's file system lies over every place it could write to.
for place in /tmp /var/tmp /dev/shm; do
  [ ! -d "$place" ] || echo "$d/box/tmp $place none bind"
done >"$d/fstab"
mount -a -T "$d/fstab" && cd "$d/box/work" || refuse "cannot cover the places that programs may write to"

# The first process of each command's own PID namespace: nothing of the command outlives it.
# RLIMIT_DATA holds one process; the loop looks at the memory of all of them together.
first='
room=$1 memory=$2 wall=$3
shift 3
(
  while sleep 0.1; do
    used=$(cat /proc/[0-9]*/status 2>/dev/null | awk "
      /^RssAnon/ { anon += \$2 }
      /^RssShmem/ { if (\$2 > shared) shared = \$2 }
      END { printf \"%d\", anon + shared }")
    [ "${used:-0}" -le "$memory" ] || { : >"$room/oom"; kill -9 -1; }
  done
) </dev/null >/dev/null 2>&1 &
umask 022
exec 3>&2 2>/dev/null # the remark of the shell about a killed child is nobodys output
(exec timeout -s KILL "$wall" "$@" 2>&3 3>&-)
exit $?
'

# go <name> <room> <wall s> <cpu s> <memory> <processes> <file> <output> <result> <program> [KEY=value ...] <argv ...>
# Sets `code`, the command's exit status. Sizes are in bytes.
go() {
  name=$1 room=$d/c/$2 wall=$3 cpu=$4 memory=$5 processes=$6 file=$7
  rooms="$rooms $2 $8 $9"
  shift 9
  program=$1
  shift
  code=127
  case $program in
    */*) [ -f "$program" ] && [ -x "$program" ] || { ran="$ran$nonce $name missing
"; return; } ;;
    *) (PATH=$path; type "$program") >/dev/null 2>&1 || { ran="$ran$nonce $name missing
"; return; } ;;
  esac
  read -r began _ </proc/uptime
  times >"$d/before"
  unshare -p -f -i --mount-proc --kill-child sh -c "$first" first "$room" "$((memory / 1024))" "$wall" \
    prlimit --cpu="$cpu:$((cpu + 1))" --data="$memory" --nproc="$processes" --fsize="$file" --core=0 \
    setpriv --reuid "$uid" --regid "$uid" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
    env -i PATH="$path" HOME=/tmp TMPDIR=/tmp LANG=C.UTF-8 PYTHONHASHSEED=0 \
    CODEREWARD_RESULT="$room/result" "$@" <"$room/in" >"$room/out" 2>"$room/err"
  code=$?
  times >"$d/after"
  read -r ended _ </proc/uptime
  chmod 700 "$room" # the next command cannot change what this one left
  oom=0 full=0
  [ ! -e "$room/oom" ] || oom=1
  [ "$code" = 0 ] || [ "$(stat -f -c %a "$d/box")" != 0 ] || full=1
  { read -r _; read -r before; } <"$d/before"
  { read -r _; read -r after; } <"$d/after"
  ran="$ran$nonce $name ran $code $began $ended $oom $full $before $after
"
}

. "$d/plan"

# Cut what came back to its limits, and send it.
cd "$d/c" || exit 0
total=0 sizes= kind=out
set -- $rooms
[ $# = 0 ] || sizes=$(stat -c %s $(while [ $# -gt 0 ]; do echo "$1/out" "$1/err" "$1/result"; shift 3; done))
for size in $sizes; do # three a room, in this order
  case $kind in
    out) most=$2 next=err ;;
    err) most=$2 next=result ;;
    result) most=$3 next=out ;;
  esac
  if [ "$size" -gt "$most" ]; then
    truncate -s "$most" "$1/$kind"
    size=$most
  fi
  total=$((total + size))
  [ "$kind" != result ] || shift 3
  kind=$next
done
printf '%s' "$ran"
echo "$nonce sizes" $sizes
if [ "$total" -le 131072 ]; then
  echo "$nonce data"
  tar cf - --exclude=in --exclude=oom . | base64 -w 0
elif tar cf - --exclude=in --exclude=oom . | gzip -1 >"$d/came-back"; [ "$(stat -c %s "$d/came-back")" -le 4194304 ]; then
  echo "$nonce data"
  base64 -w 0 "$d/came-back"
else
  echo "$nonce file $d/came-back"
  exit 0
fi
echo
echo "$nonce end"
