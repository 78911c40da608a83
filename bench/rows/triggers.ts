import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { createOpenLoop } from '../load/open-loop.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import { type Keys, mintKeys, startServer } from '../sides.ts';

const projects = 10;
const triggersOfProject = 1_000;
/** The others are on traces. */
const onMetrics = 100;
const perSecond = 1_000;
const paceMs = 10;
const rounds = 4;
const connections = 16;
const drainMaxMs = 60_000;
/** Traces under way at once. */
const waitingMax = 64;
const lookEveryMs = 50;

export const triggers: Row = {
  name: 'triggers',
  about: `${perSecond} traces/s until ${projects * triggersOfProject} triggers of ${projects} projects have tested them, against a server without triggers`,
  async run(bench) {
    const reference = await measure(bench, { watched: 'none' });
    const product = await measure(bench, { watched: bench.calibrate ? 'none' : 'all' });
    bench.say(
      `  ${product.sent} traces, ${product.late} not sent; ${product.evaluated} evaluations of metrics meanwhile`,
    );
    const measured = { name: 'triggers', value: product.perSecond, unit: 'traces/s', reference: reference.perSecond };
    return [judge(measured, { of: 'ratio', atLeast: 0.9 })];
  },
};

async function measure(bench: Bench, { watched }: { readonly watched: 'all' | 'none' }) {
  const keys = mintKeys();
  const server = await startServer(bench, keys);
  const port = server.port;
  const projectKeys = [keys.projectKey, ...(await addProjects(port, keys))];
  if (watched === 'all') for (const key of projectKeys) await addTriggers(port, key);
  const loops = projectKeys.map((key) => createOpenLoop(port, collectorRequests(createJsonTrace(1), key)()));
  const failed = new AbortController();
  const startedAt = performance.now();
  const durationMs = bench.secondsPerRound * rounds * 1_000;
  let [sent, late, waiting] = [0, 0, 0];
  const send = async (): Promise<void> => {
    waiting += 1;
    await loops[sent % loops.length]?.send().catch((error: unknown) => failed.abort(error));
    waiting -= 1;
  };
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs = performance.now() - startedAt) {
    failed.signal.throwIfAborted();
    for (const due = (elapsedMs / 1_000) * perSecond; sent + late < due; ) {
      if (waiting >= waitingMax) late += 1;
      else {
        void send();
        sent += 1;
      }
    }
    await delay(paceMs);
  }
  while (waiting > 0) await delay(paceMs);
  failed.signal.throwIfAborted();
  await untilTested(port, projectKeys);
  const tookMs = performance.now() - startedAt;
  const evaluated = await figure(port, 'spandrel_trigger_evaluations_total');
  await server.stop();
  return { sent, late, evaluated, perSecond: (sent * 1_000) / tookMs };
}

type Request = { readonly port: number; readonly key: string; readonly path: string; readonly body: object };

async function post({
  port,
  key,
  path,
  body,
}: Request): Promise<{ readonly apiKey?: string; readonly token?: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { apiKey?: string; token?: string };
}

async function addProjects(port: number, { adminKey }: Keys): Promise<readonly string[]> {
  const made: string[] = [];
  for (let count = 1; count < projects; count += 1) {
    const { apiKey } = await post({ port, key: adminKey, path: '/api/projects', body: { name: `Bench ${count}` } });
    if (apiKey === undefined) throw new Error('a new project has no key');
    made.push(apiKey);
  }
  return made;
}

/** Each with another filter or another threshold; none of them fires. */
async function addTriggers(port: number, key: string): Promise<void> {
  const bodies = Array.from({ length: triggersOfProject }, (_, index) => {
    const about = { name: `Trigger ${index}`, action: 'SEND_WEBHOOK' };
    if (index >= onMetrics) return { ...about, filters: { 'metadata.labels': [`rare-${index}`] } };
    const metric = index % 2 === 0 ? 'errors' : 'spans';
    const series = { metric, aggregation: 'sum' };
    const rule = { series, operator: 'gt', thresholds: { alert: 1e9 + index }, windowMinutes: index % 4 < 2 ? 1 : 5 };
    return { ...about, ...rule, kind: 'metric' };
  });
  const line = async (first: number): Promise<void> => {
    for (let at = first; at < bodies.length; at += connections) {
      await post({ port, key, path: '/api/triggers', body: bodies[at] ?? {} });
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, first) => line(first)));
}

/** Asks for the backlogs themselves: the metric of the queue is as old as five seconds. */
async function untilTested(port: number, projectKeys: readonly string[]): Promise<void> {
  const endsAt = performance.now() + drainMaxMs;
  for (const key of projectKeys) {
    while ((await backlogOf(port, key)) > 0) {
      if (performance.now() > endsAt) throw new Error('the triggers did not keep up');
      await delay(lookEveryMs);
    }
  }
}

async function backlogOf(port: number, key: string): Promise<number> {
  const url = `http://127.0.0.1:${port}/api/monitors/backlog`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const { due, scheduled, running } = (await response.json()) as Record<'due' | 'scheduled' | 'running', number>;
  return due + scheduled + running;
}

/** The sum of a metric over its labels. */
async function figure(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
