import { performance } from 'node:perf_hooks';
import type { StoredTrace } from '../../src/domain/traces/telemetry-port.ts';
import type { Span } from '../../src/domain/traces/trace.ts';
import { openStore } from '../../src/storage/open.ts';
import { query } from '../../test/support/postgres-databases.ts';
import type { Row } from '../bench.ts';
import { createTelemetryDatabase, readTelemetryBytes } from '../clickhouse.ts';
import { createClusterWorkspace } from '../cluster.ts';
import { judge } from '../figure.ts';
import { quietLog } from '../fill/quiet-log.ts';
import { makeTrace, planTraces, wordOf } from '../fill/traces.ts';

const TRACES_MAX = 20_000;
const BATCH_TRACES = 200;
const TEXT_BYTES = 1_900;
const LARGE_SPANS = 10_000;
const READS = 50;
const OWNER = { organizationId: 'organization_1', organizationNumber: 1, projectId: 'project_1', projectNumber: 1 };
const QUEUE_MAX_BYTES = 64 * 1024 * 1024;

/** Texts of spans on PostgreSQL are moved to ClickHouse, and read from there. */
export const chMove: Row = {
  name: 'ch-move',
  about: 'texts of spans of 3.9 KB moved from PostgreSQL to ClickHouse, and read from there',
  secondsMax: 1_800,
  async run(bench) {
    if (bench.calibrate) return [];
    const [{ databaseUrl: url }, telemetryUrl] = [await createClusterWorkspace(), await createTelemetryDatabase()];
    const options = { url, telemetryUrl, queueMaxBytes: QUEUE_MAX_BYTES, log: quietLog };
    const store = await openStore({ ...options, moveTexts: { afterMs: 0 } });
    const plan = planTraces(Math.min(bench.traces, TRACES_MAX), Date.now());
    const traceIds: string[] = [];
    for (let first = 0; first < plan.traces; first += BATCH_TRACES) {
      const appends = Array.from({ length: Math.min(BATCH_TRACES, plan.traces - first) }, (_, each) =>
        withTexts(makeTrace(plan, OWNER, first + each), first + each),
      );
      await Promise.all(appends.map((append) => store.traces.append(append)));
      traceIds.push(...appends.map(({ traceId }) => traceId));
    }
    const sample = makeTrace(plan, OWNER, plan.traces);
    const large = Array.from({ length: LARGE_SPANS }, (_, at) => ({
      ...(withTexts(sample, at).spans[2] as Span),
      spanId: at.toString(16).padStart(16, '0'),
    }));
    await store.traces.append({ ...sample, spans: large });
    const spans = 3 * plan.traces + LARGE_SPANS;
    const spanBytes = async () => {
      await query(url, 'VACUUM FULL spans');
      const [row] = await query(
        url,
        `SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits WHERE inhparent = 'spans'::regclass`,
      );
      return Number(row?.bytes);
    };
    const read = async (traceId: string) => {
      const found = await store.traces.find(OWNER.projectNumber, traceId);
      if (found === null) throw new Error('the trace is not there');
      const trace: StoredTrace = { ...found, projectNumber: OWNER.projectNumber };
      const order = await store.traces.spanOrder(trace, { after: null, limit: LARGE_SPANS });
      await store.traces.spans(
        trace,
        order.map(({ id }) => id),
      );
    };
    const [bytesBefore, msBefore] = [await spanBytes(), await timeOf(read, traceIds)];
    const mover = store.upkeep.find(({ name }) => name === 'moving texts');
    const startedAt = performance.now();
    while ((await mover?.step()) === 'more');
    const perSecond = spans / ((performance.now() - startedAt) / 1_000);
    const [bytesAfter, msAfter] = [await spanBytes(), await timeOf(read, traceIds)];
    const largeMs = await timeOf(
      read,
      Array.from({ length: 5 }, () => sample.traceId),
    );
    const clickHouseBytes = await readTelemetryBytes(telemetryUrl);
    await store.close();
    bench.detail(
      `  ${spans} spans: ${perSpan(bytesBefore, spans)} bytes each in PostgreSQL before, ${perSpan(bytesAfter, spans)} after and ${perSpan(clickHouseBytes, spans)} in ClickHouse; a trace of three is read in ${msBefore.toFixed(1)} ms before, ${msAfter.toFixed(1)} after (p50)`,
    );
    return [
      judge({ name: 'ch-move', value: perSecond, unit: 'spans/s', reference: null }, { of: 'value', atLeast: 12_000 }),
      judge({ name: 'ch-large-trace', value: largeMs, unit: 'ms', reference: null }, { of: 'value', atMost: 250 }),
      judge(
        {
          name: 'ch-bytes-left',
          value: perSpan(bytesAfter, spans),
          unit: 'bytes',
          reference: perSpan(bytesBefore, spans),
        },
        { of: 'ratio', atMost: 0.25 },
      ),
    ];
  },
};

function withTexts<Trace extends { readonly spans: readonly Span[] }>(trace: Trace, seed: number): Trace {
  const spans = trace.spans.map((span, at) => {
    const textOf = (salt: number) => JSON.stringify({ type: 'text', value: textFrom(seed * 7 + at * 3 + salt) });
    return { ...span, inputJson: textOf(1), outputJson: textOf(2), contextsJson: null };
  });
  return { ...trace, spans };
}

/** Words, of which most are rare. */
function textFrom(seed: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < TEXT_BYTES) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    text += `${wordOf(state % 4_000)} `;
  }
  return text;
}

async function timeOf(read: (traceId: string) => Promise<void>, traceIds: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < Math.min(READS, traceIds.length); index += 1) {
    const startedAt = performance.now();
    await read(traceIds[(index * 7_919) % traceIds.length] ?? '');
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}

function perSpan(bytes: number, spans: number): number {
  return Math.round(bytes / spans);
}
