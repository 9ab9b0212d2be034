#!/usr/bin/env node
// Starts the binary of the package that npm has installed for this platform.
"use strict";

const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const platform = `${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";

let program;
try {
  program = require.resolve(`@proviso-eval/proviso-${platform}/proviso${suffix}`);
} catch {
  console.error(`proviso: there is no binary for ${platform}; was it installed with --omit=optional?`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// A signal to this process alone has to reach the program, or it would run on without its
// parent. A terminal sends SIGINT and SIGHUP to both, and proviso ends at once at a second
// one.
const terminal = [0, 1, 2].some((fd) => isatty(fd));
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(name, () => {
    if (name === "SIGTERM" || !terminal) {
      child.kill(name);
    }
  });
}

child.on("error", (error) => {
  console.error(`proviso: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(status);
  }
});
