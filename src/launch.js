#!/usr/bin/env node
// Plain JavaScript, so that an old Node gets a sentence instead of a syntax error.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`Spandrel needs Node 22.18 or newer; this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
// Process 1 of a container ignores signals without a handler. The server replaces it once there is something to finish.
if (process.pid === 1) process.once('SIGTERM', () => process.exit(143));
const { enableCompileCache } = await import('node:module');
enableCompileCache?.();
await import('./main.ts');
