/**
 * A process that stores traces, sends them again, removes them, and moves their texts, until it is killed. Each line that it
 * prints has what it does (`append`, `remove`), `begun` or `done`, the number of the trace and its version.
 */

import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../../src/storage/open.ts';
import { PROJECT } from '../storage/conformance/samples.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { numberedAppend, numberedTraceId } from './killed-traces.ts';

const [url = '', telemetryUrl = '', first = ''] = process.argv.slice(2);
const store = await openStore({
  ...{ url, telemetryUrl, log: quietLog },
  queueMaxBytes: 64 * 1024 * 1024,
  moveTexts: { afterMs: 0 },
});
const PAUSE_MS = 20;
let order = Number(first);

/** What fails may have been done all the same. */
async function attempt(said: string, act: () => Promise<unknown>): Promise<void> {
  // At once, so that whoever kills this process knows of it.
  writeSync(1, `begun ${said}\n`);
  try {
    await act();
    writeSync(1, `done ${said}\n`);
  } catch {
    await delay(PAUSE_MS);
  }
}

async function append(number: number, version: number): Promise<void> {
  order += 1;
  await attempt(`append ${number} ${version}`, () => store.traces.append(numberedAppend(number, version, order)));
}

async function remove(number: number): Promise<void> {
  const named = { projectNumber: PROJECT.number, traceId: numberedTraceId(number), expiredBeforeMs: null };
  await attempt(`remove ${number} 0`, () => store.traceChanges.removeTrace(named));
}

async function change(): Promise<void> {
  for (let number = Number(first) + 1; ; number += 1) {
    await append(number, 1);
    if (number % 3 === 0) await append(number - 2, 2);
    if (number % 5 === 0) await remove(number - 4);
  }
}

async function keepUp(): Promise<void> {
  for (;;) {
    for (const { step } of store.upkeep) await step().catch(() => undefined);
    await delay(PAUSE_MS);
  }
}

await Promise.all([change(), keepUp()]);
