/** The process: environment, command, exit code. The only reader of process.env. */

import { runCommand } from './cli/run.ts';

// A reader that closes the pipe early, as `head` does, is not an error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const { stdout, stderr } = process;
const code = await runCommand(process.argv.slice(2), { environment: process.env, stdout, stderr });
if (code !== 0) process.exit(code);
