/** Gives free space of the database file back to the file system. */

import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { compactDatabase } from '../storage/open.ts';
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
