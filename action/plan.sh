#!/usr/bin/env bash
# Decides which release is installed: the one that is named, else the tag by which the
# action is used. Without one, proviso is built.
set -euo pipefail

version=$PROVISO_VERSION
if [ -z "$version" ] && [[ $PROVISO_REF =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  version=$PROVISO_REF
fi
if [ -n "$version" ] && ! [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]]; then
  echo "::error title=proviso::version: expected a release such as v1.2.0"
  exit 2
fi
echo "version=$version" >>"$GITHUB_OUTPUT"
