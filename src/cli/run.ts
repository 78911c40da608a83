/** Runs the command that the command line names. */

import { ConfigError } from '../config/config.ts';
import { maskTokens } from '../domain/token-mask.ts';
import { type Command, readCommand } from './command.ts';
import type { CommandIo } from './io.ts';

/** `args` without the runtime and the script. Resolves with the exit code; a server runs on after that. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const command = readCommand(args);
  if (command.kind === 'wrong') {
    io.stderr.write(maskTokens(command.text));
    return 1;
  }
  try {
    io.stdout.write(command.kind === 'print' ? command.text : await execute(command, io));
    return 0;
  } catch (error) {
    const lines =
      error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
    for (const line of lines) printError(io, line);
    return 1;
  }
}

/** Masked, because an error may repeat what was typed. */
function printError({ stderr }: CommandIo, line: string): void {
  stderr.write(`spandrel: ${maskTokens(line)}\n`);
}

/** Imports only the module of the command, so that a server does not load the others. Resolves with what to print. */
async function execute(command: Exclude<Command, { kind: 'print' | 'wrong' }>, io: CommandIo): Promise<string> {
  switch (command.kind) {
    case 'migrate':
      return await (await import('./migrate.ts')).migrate(io.environment, command.isDryRun);
    case 'copy':
      return await (await import('./copy.ts')).copy(command, io.stderr);
    case 'backup':
      return await (await import('./backup.ts')).backup(io.environment, command.to);
    case 'budgets':
      return await (await import('./budgets.ts')).budgets(io.environment, command);
    case 'compact':
      return await (await import('./compact.ts')).compact(io.environment);
    case 'config':
      return (await import('./config.ts')).config(io);
    case 'doctor':
      return await (await import('./doctor/doctor.ts')).doctor(io.environment, io.stdout);
    case 'healthcheck':
      return await (await import('./healthcheck.ts')).healthcheck(io.environment);
    case 'keys':
      if ('note' in command && command.note !== null) printError(io, command.note);
      return await (await import('./keys.ts')).keys(io, command, Date.now());
    case 'members':
      return await (await import('./members.ts')).members(io.environment, command);
    case 'virtual-keys':
      return await (await import('./virtual-keys.ts')).virtualKeys(io.environment, command, Date.now());
    case 'model-providers':
      return await (await import('./model-providers.ts')).modelProviders(io.environment, command);
    case 'mint-admin-key':
      return `${await (await import('./mint-admin-key.ts')).mintAdminKey(io, command)}\n`;
    case 'organization':
      return await (await import('./organization.ts')).createOrganization(io, command);
    case 'reprice':
      return await (await import('./reprice.ts')).reprice(io, command);
    case 'retention':
      return await (await import('./retention.ts')).retention(io, command);
    case 'return-texts':
      return await (await import('./compact.ts')).returnTexts(io.environment, command.drops);
    case 'rotate-secret':
      return await (await import('./rotate-secret.ts')).rotateSecret(io);
    case 'serve':
      await (await import('./serve.ts')).serve(io.environment);
      return '';
  }
}
