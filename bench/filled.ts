import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { openPlace, readDatabaseBytes } from './cluster.ts';
import type { FillPlan } from './fill/plan.ts';
import { readBytes } from './machine.ts';
import { runToEnd } from './program.ts';
import { type Keys, mintKeys, type Place, serverEnv } from './sides.ts';

/** A database with a long log, and what it takes to serve and to ask it. */
export type Filled = {
  readonly keys: Keys;
  readonly place: Place;
  readonly organizationId: string;
  readonly plan: FillPlan;
};

const made = new Map<number, Promise<Filled>>();

/** Makes it once in a run: several rows may use it, and none of them adds to it. */
export function openFilled(bench: Bench, events: number): Promise<Filled> {
  const known = made.get(events);
  if (known !== undefined) return known;
  const filled = fill(bench, events);
  filled.catch(() => made.delete(events));
  made.set(events, filled);
  return filled;
}

/** In a program of its own, so that this one still hears Ctrl-C. */
async function fill(bench: Bench, events: number): Promise<Filled> {
  const keys = mintKeys();
  const place = await openPlace(bench, 'run');
  const said = await runToEnd({
    name: 'fill/main.ts',
    entry: join(import.meta.dirname, 'fill', 'main.ts'),
    args: ['--events', String(events)],
    env: serverEnv(keys, place),
    logFile: join(place.root, 'log'),
  });
  const { fromMs, toMs, organizationId, seconds } = readOutcome(said);
  const bytes = bench.store === 'sqlite' ? readBytes(place.data) : await readDatabaseBytes(place);
  const mib = Math.round(bytes / 1_048_576);
  bench.say(`  filled with ${events} events in ${seconds} s, ${mib} MiB`);
  return { keys, place, organizationId, plan: { events, fromMs, toMs } };
}

type Outcome = FillPlan & { readonly organizationId: string; readonly seconds: number };

function readOutcome(said: string): Outcome {
  const line = said.split('\n').find((each) => each.includes('"filled"'));
  if (line === undefined) throw new Error(`The fill did not say what it filled:\n${said}`);
  return JSON.parse(line);
}
