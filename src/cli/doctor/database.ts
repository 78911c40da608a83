/** Looks at the database: whether it can serve, its schema and connections, and the secret that belongs to it. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../config/config.ts';
import { readSecrets } from '../../config/secret-file.ts';
import { deriveRootKeys, secretsEqual } from '../../domain/secrets.ts';
import { type DatabaseFacts, databaseFile, inspectDatabase, inspectTelemetry, isPostgres } from '../../storage/open.ts';
import { type Finding, findingsAbout, reasonOf } from './finding.ts';

/** Connections that a process has beside those for reading. */
const OTHER_CONNECTIONS = 13;

/** `facts` is null for a database that no server would use. */
export async function checkDatabase(
  config: Config,
): Promise<{ readonly findings: readonly Finding[]; readonly facts: DatabaseFacts | null }> {
  const about = findingsAbout('database');
  if (databaseFile(config.databaseUrl) === null && !isPostgres(config.databaseUrl)) {
    return { findings: [about.warn('in memory, and gone with the process: set SPANDREL_DATABASE_URL')], facts: null };
  }
  try {
    const facts = await inspectDatabase(config.databaseUrl, config.databaseMayLoseWrites);
    return { findings: [about.ok(facts.about), checkSchema(facts), ...checkConnections(config, facts)], facts };
  } catch (error) {
    return { findings: [about.fail(error instanceof Error ? error.message : String(error))], facts: null };
  }
}

export async function checkTelemetry({ telemetryUrl }: Config): Promise<readonly Finding[]> {
  if (telemetryUrl === null) return [];
  const about = findingsAbout('telemetry');
  try {
    return [about.ok(`ClickHouse ${(await inspectTelemetry(telemetryUrl)).version}`)];
  } catch (error) {
    return [about.fail(`${reasonOf(error)}: check SPANDREL_TELEMETRY_URL, and that ClickHouse runs`)];
  }
}

function checkSchema({ pending, installed }: DatabaseFacts): Finding {
  const about = findingsAbout('schema');
  if (pending.length === 0)
    return about.ok(installed === null ? 'up to date, and nothing is stored yet' : 'up to date');
  if (pending[0]?.includes('-0001-')) return about.ok('there is none yet: the first start creates it');
  return about.warn(`the next start applies ${pending.join(', ')}: back up before, or run spandrel migrate --dry-run`);
}

function checkConnections({ databaseConnectionsMax }: Config, { connectionsMax }: DatabaseFacts): readonly Finding[] {
  if (connectionsMax === null) return [];
  const about = findingsAbout('connections');
  const needed = databaseConnectionsMax + OTHER_CONNECTIONS;
  if (connectionsMax >= needed) return [about.ok(`the database grants ${connectionsMax}, a process opens ${needed}`)];
  return [
    about.warn(
      `the database grants ${connectionsMax}, and a process opens up to ${needed}: raise max_connections or the limit of the user, or lower SPANDREL_DATABASE_CONNECTIONS`,
    ),
  ];
}

export function checkSecret({ databaseUrl, secrets }: Config, facts: DatabaseFacts | null): Finding {
  const about = findingsAbout('secret');
  const file = databaseFile(databaseUrl);
  if (secrets === null && file === null) {
    return about.fail('SPANDREL_SECRET must be set for this database: there is no file to keep it beside');
  }
  const verifier = facts?.installed?.verifier ?? null;
  if (secrets === null && (file === null || (verifier === null && !existsSync(`${dirname(file)}/secret`)))) {
    return about.ok('the first start writes it beside the database');
  }
  try {
    const { current, previous } = secrets ?? readSecrets(dirname(file ?? ''));
    if (verifier === null) return about.ok(secrets === null ? 'a file beside the database' : 'set');
    const isOf = (secret: string | null) =>
      secret !== null && secretsEqual(Buffer.from(verifier), deriveRootKeys(secret).verifier);
    if (isOf(previous)) return about.warn('it is being replaced: run spandrel rotate-secret');
    if (!isOf(current)) {
      return about.fail('it does not belong to this database: set the one that the database was created with');
    }
    return previous === null
      ? about.ok('it belongs to this database')
      : about.warn(
          'it has replaced SPANDREL_SECRET_PREVIOUS: once no server runs with that alone, run spandrel rotate-secret again and unset it',
        );
  } catch (error) {
    return about.fail(reasonOf(error));
  }
}
