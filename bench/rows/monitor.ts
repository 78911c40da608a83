import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, Row } from '../bench.ts';
import { compare } from '../compare.ts';
import { judge } from '../figure.ts';
import { runHttpLoad } from '../load/http.ts';
import { collectorRequests } from '../load/requests.ts';
import { createJsonTrace } from '../load/trace.ts';
import type { Program } from '../program.ts';
import { type Keys, mintKeys, startServer } from '../sides.ts';
import { checkStored } from './ingest.ts';

const connections = 64;
const sample = 0.1;
const lagTraces = 60;
const lookEveryMs = 5;
const resultWaitMaxMs = 30_000;

export const monitor: Row = {
  name: 'monitor',
  about: 'ingest-json with one monitor over a tenth of the traces against itself without; results on an idle server',
  async run(bench) {
    const keys = mintKeys();
    const createRequests = collectorRequests(createJsonTrace(1), keys.projectKey);
    const { product, reference } = await compare(bench, {
      startReference: () => startServer(bench, keys),
      startProduct: () => startWatched(bench, keys),
      load: (port, stop) => runHttpLoad({ ports: [port], connections, stop, expectedStatus: 200, createRequests }),
      checkProduct: checkStored,
    });
    const lagP95Ms = await measureLag(bench, keys);
    const figure = { name: 'monitor', value: product.perSecond, unit: 'requests/s', reference: reference.perSecond };
    const lag = { name: 'monitor-lag-p95', value: lagP95Ms, unit: 'ms', reference: null };
    return [judge(figure, { of: 'ratio', atLeast: 0.9 }), judge(lag, { of: 'value', atMost: 2_000 })];
  },
};

type Request = { readonly port: number; readonly keys: Keys; readonly path: string; readonly body?: object };

async function ask({ port, keys, path, body }: Request): Promise<{ id: string; evaluations?: readonly unknown[] }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-Auth-Token': keys.projectKey, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string };
}

async function startWatched(bench: Bench, keys: Keys, share = sample): Promise<Program> {
  const program = await startServer(bench, keys);
  const { port } = program;
  const config = { evaluatorType: 'langevals/exact_match' };
  const evaluator = await ask({ port, keys, path: '/api/evaluators', body: { name: 'Judge', config } });
  const body = { name: 'Watch', evaluatorId: evaluator.id, sample: share };
  await ask({ port, keys, path: '/api/monitors', body });
  return program;
}

/** The p95 from the collector's answer until the result is readable, one trace at a time. */
async function measureLag(bench: Bench, keys: Keys): Promise<number> {
  const program = await startWatched(bench, keys, 1);
  const lagsMs: number[] = [];
  try {
    for (let count = 0; count < lagTraces; count += 1) lagsMs.push(await lagOfOne(program.port, keys));
  } finally {
    await program.stop();
  }
  return lagsMs.sort((one, other) => one - other)[Math.ceil(lagTraces * 0.95) - 1] ?? Number.NaN;
}

async function lagOfOne(port: number, keys: Keys): Promise<number> {
  const traceId = randomBytes(16).toString('hex');
  const nowMs = Date.now();
  const span = { span_id: 'root', type: 'llm', input: 'hi', output: 'hello' };
  const body = { trace_id: traceId, spans: [{ ...span, timestamps: { started_at: nowMs - 5, finished_at: nowMs } }] };
  await ask({ port, keys, path: '/api/collector', body });
  const answeredAtMs = performance.now();
  for (;;) {
    const { evaluations = [] } = await ask({ port, keys, path: `/api/traces/${traceId}` });
    const waitedMs = performance.now() - answeredAtMs;
    if (evaluations.length > 0) return waitedMs;
    if (waitedMs > resultWaitMaxMs) throw new Error('a monitor put no result on a trace');
    await delay(lookEveryMs);
  }
}
