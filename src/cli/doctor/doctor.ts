/** Looks for what would keep a server from running well, and says what to do. */

import { fsyncSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Config, ConfigError, readConfig } from '../../config/config.ts';
import { maskTokens } from '../../domain/token-mask.ts';
import { databaseFile } from '../../storage/open.ts';
import type { Environment, Output } from '../io.ts';
import { openFilesLimit } from '../open-files.ts';
import { checkDatabase, checkSecret, checkTelemetry } from './database.ts';
import { type Finding, findingsAbout, reasonOf } from './finding.ts';
import { checkClock, checkFolder, checkOpenFiles, type Machine } from './machine.ts';
import { checkAllowLists, checkLlm, checkMailServer, checkPort, checkProviders, checkTls } from './network.ts';
import { checkSignIn } from './sign-in.ts';

/** Prints one line for each finding. Rejects if one of them would refuse a start or lose data. */
export async function doctor(environment: Environment, stdout: Output): Promise<string> {
  const machine = { nowMs: Date.now(), openFilesMax: openFilesLimit(), statfs: statfsSync, fsync: fsyncSync };
  const findings = await examine(environment, machine);
  for (const finding of findings) stdout.write(lineOf(finding));
  const failed = findings.filter(({ level }) => level === 'fail').length;
  if (failed > 0) throw new Error(`${failed} of ${findings.length} checks failed`);
  return '';
}

const ABOUT_WIDTH = 14;

function lineOf({ level, about, text }: Finding): string {
  return `${level.padEnd(4)}  ${about.padEnd(ABOUT_WIDTH)}  ${maskTokens(text).replace(/\s+/g, ' ')}\n`;
}

/** Changes nothing, so that it may run beside a server. */
export async function examine(environment: Environment, machine: Machine): Promise<readonly Finding[]> {
  const about = findingsAbout('settings');
  const config = readSettings(environment);
  if ('problems' in config) return config.problems.map((problem) => about.fail(problem));
  const file = fileOf(config);
  if (typeof file === 'object' && file !== null) return [file];
  const { findings, facts } = await checkDatabase(config);
  const installed = facts?.installed ?? null;
  return [
    about.ok('each is known and within its bounds'),
    ...(file === null ? [] : checkFolder(dirname(file), machine)),
    checkOpenFiles(config, machine),
    checkClock(machine, { clockMs: facts?.clockMs ?? null, trustedAtMs: installed?.trustedAtMs ?? null }),
    ...findings,
    ...(await checkTelemetry(config)),
    checkSecret(config, facts),
    await checkPort(config),
    checkTls(config, machine.nowMs),
    ...(await checkAllowLists(config)),
    ...(await checkSignIn(config)),
    await checkLlm(config),
    await checkMailServer(config),
    ...(await checkProviders(config, installed?.providers ?? [])),
  ];
}

function readSettings(environment: Environment): Config | { readonly problems: readonly string[] } {
  try {
    return readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** The file of the database; null when it has none. */
function fileOf({ databaseUrl }: Config): string | null | Finding {
  try {
    return databaseFile(databaseUrl);
  } catch (error) {
    return findingsAbout('database').fail(reasonOf(error));
  }
}
