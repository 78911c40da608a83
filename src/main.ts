/** The process: environment, command, exit code. The only reader of process.env. */

import { type Command, readCommand } from './cli/command.ts';
import { ConfigError } from './config.ts';
import { maskTokens } from './domain/token-mask.ts';

// Whoever reads only the beginning of what is printed, as `head` does, has seen enough.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const command = readCommand(process.argv.slice(2));
if (command.kind === 'print') {
  process.stdout.write(command.text);
} else if (command.kind === 'wrong') {
  process.stderr.write(maskTokens(command.text));
  process.exitCode = 1;
} else {
  try {
    await run(command);
  } catch (error) {
    const lines =
      error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
    for (const line of lines) tell(line);
    process.exit(1);
  }
}

/** What went wrong may repeat what was typed. */
function tell(line: string): void {
  process.stderr.write(`spandrel: ${maskTokens(line)}\n`);
}

/** Each command is loaded only when it is asked for: a server needs nothing of the others. */
async function run(asked: Exclude<Command, { kind: 'print' | 'wrong' }>): Promise<void> {
  if (asked.kind === 'migrate') {
    const { migrate } = await import('./cli/migrate.ts');
    await migrate(process.env, asked.isDryRun);
  } else if (asked.kind === 'copy') {
    const { copy } = await import('./cli/copy.ts');
    await copy(asked.from, asked.to);
  } else if (asked.kind === 'backup') {
    const { backup } = await import('./cli/backup.ts');
    await backup(process.env, asked.to);
  } else if (asked.kind === 'keys') {
    const { keys } = await import('./cli/keys.ts');
    if ('note' in asked && asked.note !== null) tell(asked.note);
    process.stdout.write(await keys(process.env, asked, Date.now()));
  } else if (asked.kind === 'members') {
    const { members } = await import('./cli/members.ts');
    process.stdout.write(await members(process.env, asked));
  } else if (asked.kind === 'mint-admin-key') {
    const { mintAdminKey } = await import('./cli/mint-admin-key.ts');
    process.stdout.write(`${await mintAdminKey(process.env, asked)}\n`);
  } else if (asked.kind === 'organization') {
    const { createOrganization } = await import('./cli/organization.ts');
    process.stdout.write(await createOrganization(process.env, asked));
  } else {
    const { serve } = await import('./cli/serve.ts');
    await serve(process.env);
  }
}
