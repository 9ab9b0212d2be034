#!/usr/bin/env bash
# Installs a release after its checksum was compared, or builds proviso from the source
# of the action. PROVISO_DOWNLOAD names a mirror of the releases.
set -euo pipefail

fail() {
  echo "::error title=proviso::$1"
  exit 2
}

case "$RUNNER_OS" in
  Linux) os=linux ;;
  macOS) os=darwin ;;
  Windows) os=windows ;;
  *) fail "there is no binary for this system" ;;
esac
case "$RUNNER_ARCH" in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail "there is no binary for this processor" ;;
esac
suffix=
cache=${XDG_CACHE_HOME:-$HOME/.cache}/proviso
if [ "$os" = windows ]; then
  suffix=.exe
fi

folder=$RUNNER_TEMP/proviso-bin
mkdir -p "$folder"
program=$folder/proviso$suffix

sum() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

if [ -n "$PROVISO_VERSION" ]; then
  from=${PROVISO_DOWNLOAD:-https://github.com/proviso-eval/proviso/releases/download}/$PROVISO_VERSION
  name=proviso-$os-$arch$suffix
  get() { curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$2" "$from/$1"; }
  get "$name" "$program.part" || fail "$from/$name cannot be downloaded"
  want=$PROVISO_CHECKSUM
  if [ -z "$want" ]; then
    get SHA256SUMS "$folder/SHA256SUMS" || fail "$from/SHA256SUMS cannot be downloaded"
    want=$(awk -v name="$name" '$2 == name { print $1 }' "$folder/SHA256SUMS")
  fi
  got=$(sum "$program.part")
  if [ "$got" != "$want" ]; then
    rm -f "$program.part"
    fail "the checksum of $name is $got; expected ${want:-one in SHA256SUMS}"
  fi
  chmod +x "$program.part"
  mv "$program.part" "$program"
else
  (cd "$GITHUB_ACTION_PATH" && CGO_ENABLED=0 go build -trimpath -o "$program" ./cmd/proviso)
fi

"$program" version
echo "$folder" >>"$GITHUB_PATH"
echo "cache=$cache" >>"$GITHUB_OUTPUT"
