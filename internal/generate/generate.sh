#!/bin/sh
# Writes the files that are made of npm packages. Needs Node 20 or later and npm.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund
node generate.mjs
