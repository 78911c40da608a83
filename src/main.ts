/** The process: environment, command, exit code. The only reader of process.env. */

import { readCommand } from './cli/command.ts';
import { serve } from './cli/serve.ts';
import { ConfigError } from './config.ts';

const command = readCommand(process.argv.slice(2));
if (command.kind === 'print') {
  process.stdout.write(command.text);
} else if (command.kind === 'wrong') {
  process.stderr.write(command.text);
  process.exitCode = 1;
} else {
  try {
    await serve(process.env);
  } catch (error) {
    const lines =
      error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
    for (const line of lines) process.stderr.write(`spandrel: ${line}\n`);
    process.exit(1);
  }
}
