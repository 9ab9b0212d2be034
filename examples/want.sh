# What the demos share: they read this file with `.` and set proviso, the program to run.

# want CODE COMMAND...: shows a command, runs it, and wants this exit code. shown is the
# name of the program for readers.
want() {
  want=$1
  shift
  printf '\n$ %s %s\n' "${shown:-proviso}" "$*"
  "$proviso" "$@"
  code=$?
  if [ "$code" -ne "$want" ]; then
    echo "demo: expected exit code $want, got $code" >&2
    exit 1
  fi
}

# elsewhere makes the folder dir, which is removed at the end, and lets proviso be run there.
elsewhere() {
  case $proviso in
  */*) proviso=$(cd "$(dirname "$proviso")" && pwd)/$(basename "$proviso") || exit 2 ;;
  esac
  dir=$(mktemp -d) || exit 2
  trap 'rm -rf "$dir"' EXIT
}
