import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { readTelemetryBytes } from './clickhouse.ts';
import { openWorkspace, readDatabaseBytes } from './cluster.ts';
import type { FillPlan } from './fill/plan.ts';
import type { TracePlan } from './fill/traces.ts';
import { readBytes } from './machine.ts';
import { runToEnd } from './program.ts';
import { type Keys, mintKeys, serverEnv, type Workspace } from './sides.ts';

/** A database with a long log, and the keys and place of its server. */
export type Filled = {
  readonly keys: Keys;
  readonly workspace: Workspace;
  readonly organizationId: string;
  readonly plan: FillPlan;
};

const made = new Map<number, Promise<Filled>>();

/** Fills a database once per run; several rows read it, and none changes it. */
export function openFilled(bench: Bench, events: number): Promise<Filled> {
  const known = made.get(events);
  if (known !== undefined) return known;
  const filled = fill(bench, events);
  filled.catch(() => made.delete(events));
  made.set(events, filled);
  return filled;
}

export type FilledTraces = Pick<Filled, 'keys' | 'workspace'> & { readonly plan: TracePlan };

const madeTraces = new Map<number, Promise<FilledTraces>>();

/** The same for a database with traces, which takes minutes. Searches add a few thousand to it. */
export function openFilledTraces(bench: Bench, traces: number): Promise<FilledTraces> {
  const known = madeTraces.get(traces);
  if (known !== undefined) return known;
  const filled = run<TracePlan>(bench, ['--traces', String(traces)], `${traces} traces`);
  filled.catch(() => madeTraces.delete(traces));
  madeTraces.set(traces, filled);
  return filled;
}

async function fill(bench: Bench, events: number): Promise<Filled> {
  const said = ['--events', String(events)];
  const { keys, workspace, plan } = await run<FillPlan & { organizationId: string }>(bench, said, `${events} events`);
  return { keys, workspace, organizationId: plan.organizationId, plan: { ...plan, events } };
}

/** Fills in a child process, so that this one still handles Ctrl-C. */
async function run<Plan>(bench: Bench, args: readonly string[], what: string) {
  const keys = mintKeys();
  const workspace = await openWorkspace(bench, 'run');
  const said = await runToEnd({
    name: 'fill/main.ts',
    entry: join(import.meta.dirname, 'fill', 'main.ts'),
    args,
    env: serverEnv(keys, workspace),
    logFile: join(workspace.root, 'log'),
  });
  const plan = readOutcome<Plan>(said);
  const mibOf = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;
  const size = mibOf(bench.store === 'postgres' ? await readDatabaseBytes(workspace) : readBytes(workspace.data));
  const { telemetryUrl } = workspace;
  const beside =
    telemetryUrl === undefined ? '' : ` and ${mibOf(await readTelemetryBytes(telemetryUrl))} in ClickHouse`;
  bench.say(`  filled with ${what} in ${plan.seconds} s, ${size}${beside}`);
  return { keys, workspace, plan };
}

function readOutcome<Plan>(said: string): Plan & { readonly seconds: number } {
  const line = said.split('\n').find((each) => each.includes('"filled"'));
  if (line === undefined) throw new Error(`The fill did not say what it filled:\n${said}`);
  return JSON.parse(line);
}
