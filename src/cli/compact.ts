/** Gives free space of the database file back to the file system, and takes texts of traces back from ClickHouse. */

import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { compactDatabase, returnTexts as takeBack } from '../storage/open.ts';
import type { Command } from './command.ts';
import type { Environment } from './io.ts';

const MIB = 1024 * 1024;

/** Resolves with what to print. Rejects with one line for the operator. */
export async function compact(environment: Environment): Promise<string> {
  const { file, bytesBefore, bytesAfter, isLogEmpty } = await compactDatabase(readConfig(environment).databaseUrl, {
    pause: async (delayMs) => await delay(delayMs),
    nowMs: () => performance.now(),
  });
  const kept = isLogEmpty ? '' : `; long reads kept old bytes in ${file}-wal: run it again later`;
  return `compacted ${file}: ${toMib(bytesBefore)} MiB before, ${toMib(bytesAfter)} MiB now${kept}\n`;
}

function toMib(bytes: number): string {
  return (bytes / MIB).toFixed(1);
}

/** Resolves with what to print. Rejects with one line for the operator. */
export async function returnTexts(
  environment: Environment,
  drops: Extract<Command, { kind: 'return-texts' }>['drops'],
): Promise<string> {
  const { databaseUrl: url, telemetryUrl, moveTexts } = readConfig(environment);
  if (telemetryUrl === null) throw new Error('set SPANDREL_TELEMETRY_URL to the ClickHouse that has the texts');
  if (moveTexts !== null)
    throw new Error('unset SPANDREL_TELEMETRY_MOVE_AFTER_HOURS here and for every server, which would move them again');
  const { returned, dropped } = await takeBack({ url, telemetryUrl, drops });
  const without = dropped === 0 ? '' : `, and ${dropped} are lost`;
  return `${returned} texts are back in the database${without}\n`;
}
