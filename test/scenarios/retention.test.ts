import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Organization } from '../../src/domain/caller.ts';
import { createCursorCodec } from '../../src/domain/cursor.ts';
import { createEvents } from '../../src/domain/events/events.ts';
import { createRetention } from '../../src/domain/retention.ts';
import { beginWalk, type RetentionTask } from '../../src/domain/retention-walk.ts';
import type { Store } from '../../src/domain/store.ts';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { waitUnref } from '../../src/scheduling/schedule.ts';
import { openStore } from '../../src/storage/open.ts';
import { NO_LOG_CUTS, NO_TELEMETRY_CUTS, NONE } from '../storage/conformance/retention-walk.ts';
import {
  bareSpan,
  randomHex,
  sampleAppend,
  samplePlan,
  sampleRequest,
  sampleSpan,
} from '../storage/conformance/samples.ts';
import { quietLog } from '../storage/quiet-log.ts';
import { insertOldEvents, oldEventId } from '../support/old-events.ts';
import { report } from '../support/scenario.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const OLD_EVENTS = 200_000;
const OLD_TRACES = 500;
const LARGE_TRACE_SPANS = 50_000;
const BACKLOG_TRACES = 20_000;
const CLIENTS = 16;
/** The pause of each client after an append; in the quick tier other files need the processors, too. */
const BASELINE_MS = 1_000;
/** Retention pauses this long after every few steps, so that other load on the machine affects both measurements. */
const REST_MS = 200;
const STEPS_BETWEEN = 10;
const BUSY_FACTOR = 3;
const HOLD_MAX_MS = 100;
// A stall of the machine stops every client once; a stall by retention would occur with each of its many steps.
const STALLS_TOLERATED = 2;
const DAY_MS = 86_400_000;

const open = ({ url }: TestDatabase) => openStore({ url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });

it('R1: while old events and traces are removed, no append waits more than 100 ms longer than without', async () => {
  const database = await createTestDatabase();
  const project = await prepare(database);
  const store = await open(database);
  const { organizationId, organizationNumber } = project;
  const organization = { id: organizationId, number: organizationNumber, priceVersion: 0, promptVersion: 0 };
  const events = createEvents({ store: store.events, cursors: createCursorCodec(randomBytes(32)) });
  await appendOldTraces(store, project);
  await expectNoOldEvents(events, organization);

  const heldMs: number[] = [];
  const during: number[] = [];
  const without: number[] = [];
  const clients = startClients(store, project);
  const retention = createRetention({
    store: timeSteps(store, heldMs),
    clock: { check: async () => {}, nowMs: Date.now },
    traceDefaultDays: 30,
    auditDays: null,
    async pause(delayMs, signal) {
      await waitUnref(delayMs, signal);
      if (heldMs.length % STEPS_BETWEEN > 0) return;
      during.push(...clients.removeWaits());
      await clients.goOn(REST_MS);
      without.push(...clients.removeWaits());
    },
  });
  await clients.goOn(BASELINE_MS);
  without.push(...clients.removeWaits());
  const { outcome, removed } = await retention.run(new AbortController().signal);
  during.push(...clients.removeWaits());
  await clients.goOn(BASELINE_MS);
  // The waits caused by the machine itself, measured again with more rows stored.
  without.push(...clients.removeWaits());
  await clients.stop();

  await expectNoOldEvents(events, organization);
  expect(outcome).toBe('done');
  expect(removed.traces).toBe(OLD_TRACES + 1);
  expect(removed.events + removed.months).toBeGreaterThan(0);
  const left = [...store.logRetention.begin(NO_LOG_CUTS), ...store.telemetryRetention.begin(NO_TELEMETRY_CUTS)];
  expect(await beginWalk(left)(1)).toMatchObject({ removed: NONE });
  await store.close();
  await database.remove();

  const [worst, baselineWorst] = [worstOf(during), worstOf(without)];
  // If other work delays appends anyway, the delay by retention grows by the same factor.
  const pass = worst <= Math.max(baselineWorst + HOLD_MAX_MS, BUSY_FACTOR * baselineWorst);
  const figures = {
    p99: quantile(during, 0.99),
    worst,
    max: quantile(during, 1),
    baselineWorst,
    baselineMax: quantile(without, 1),
    steps: heldMs.length,
    stepP99: quantile(heldMs, 0.99),
  };
  report({ id: 'R1', seed: 0, n: during.length, ...figures, pass });
  expect(pass).toBe(true);
});

it('R2: traces are erased at least a quarter as fast as clients that never rest append others', async () => {
  const database = await createTestDatabase();
  const project = await createProject(database);
  const store = await open(database);
  const receivedAtMs = Date.now() - 31 * DAY_MS;
  const old = { ...project, requests: [], receivedAtMs };
  // The backlog is known by the hours in which traces started.
  const times = { startedAtMs: receivedAtMs, finishedAtMs: receivedAtMs + 1_000 };
  for (let sent = 0; sent < BACKLOG_TRACES; sent += 500) {
    const append = () => store.traces.append(sampleAppend({ ...old, spans: [sampleSpan(times)] }));
    await Promise.all(Array.from({ length: 500 }, append));
  }
  const clients = startClients(store, project);
  await clients.goOn(BASELINE_MS);
  clients.removeWaits();
  const startedAtMs = performance.now();
  const retention = createRetention({
    store,
    clock: { check: async () => {}, nowMs: Date.now },
    traceDefaultDays: 30,
    auditDays: null,
    pause: waitUnref,
  });
  const { removed } = await retention.run(new AbortController().signal);
  const seconds = (performance.now() - startedAtMs) / 1000;
  const appended = clients.removeWaits().length;
  await clients.stop();
  await store.close();
  await database.remove();
  const pass = 4 * removed.traces >= appended;
  const figures = { perSecond: Math.round(removed.traces / seconds), appended: Math.round(appended / seconds) };
  report({ id: 'R2', seed: 0, n: removed.traces, ...figures, pass });
  expect(removed.traces).toBe(BACKLOG_TRACES);
  expect(pass).toBe(true);
});

type Project = Pick<TraceAppend, 'projectId' | 'projectNumber' | 'organizationId' | 'organizationNumber'>;

/** Creates a project with a log that begins long before the retention of events. */
async function prepare(database: TestDatabase): Promise<Project> {
  const project = await createProject(database);
  const now = new Date();
  const firstAtMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 16);
  const { organizationNumber, projectNumber } = project;
  await insertOldEvents(database, { organizationNumber, projectNumber, count: OLD_EVENTS, firstAtMs });
  return project;
}

async function createProject(database: TestDatabase): Promise<Project> {
  const store = await open(database);
  const plan = samplePlan();
  await store.installation.bootstrap(plan);
  const project = await store.keys.findProject(plan.project.id);
  await store.close();
  if (project === null) throw new Error('the first project is missing');
  const { number: projectNumber, organizationNumber } = project;
  return { projectId: project.id, projectNumber, organizationId: project.organizationId, organizationNumber };
}

async function appendOldTraces(store: Store, project: Project): Promise<void> {
  const old = { ...project, requests: [], receivedAtMs: Date.now() - 31 * DAY_MS };
  const traceId = randomHex(32);
  for (let sent = 0; sent < LARGE_TRACE_SPANS; sent += 1_000) {
    const spans = Array.from({ length: 1_000 }, () => bareSpan());
    await store.traces.append(sampleAppend({ ...old, traceId, spans }));
  }
  await Promise.all(Array.from({ length: OLD_TRACES }, () => store.traces.append(sampleAppend(old))));
}

type Events = ReturnType<typeof createEvents>;

async function expectNoOldEvents(events: Events, organization: Organization): Promise<void> {
  const nowMs = Date.now();
  const oldest = { fromMs: 0, toMs: nowMs - 400 * DAY_MS, type: null, cursor: '', limit: 10 };
  expect(await events.list(organization, oldest, nowMs)).toEqual({ events: [], nextCursor: null });
  for (const number of [1, OLD_EVENTS / 2, OLD_EVENTS]) {
    await expect(events.get(organization, oldEventId(number), nowMs)).rejects.toMatchObject({
      code: 'webhook_event_not_found',
    });
  }
}

function timeSteps(store: Store, heldMs: number[]): Store {
  const timed = (tasks: readonly RetentionTask[]): readonly RetentionTask[] =>
    tasks.map((task) => async (rowsMax) => {
      const { end, ...times } = await task(rowsMax);
      heldMs.push(times.heldMs);
      return { ...times, end: typeof end === 'string' ? end : { ...end, next: timed(end.next) } };
    });
  const { logRetention: log, telemetryRetention: telemetry, managementRetention: management } = store;
  return {
    ...store,
    logRetention: { begin: (cuts) => timed(log.begin(cuts)) },
    telemetryRetention: { ...telemetry, begin: (cuts) => timed(telemetry.begin(cuts)) },
    managementRetention: { ...management, begin: (cuts) => timed(management.begin(cuts)) },
  };
}

/** Starts clients that append one item after another. */
function startClients(store: Store, project: Project) {
  let waits: number[] = [];
  let running = true;
  const client = async () => {
    while (running) {
      const append = sampleAppend({
        ...project,
        receivedAtMs: Date.now(),
        spans: [sampleSpan()],
        requests: [sampleRequest()],
      });
      const startedAtMs = performance.now();
      await store.traces.append(append);
      waits.push(performance.now() - startedAtMs);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    goOn: (durationMs: number) => waitUnref(durationMs, new AbortController().signal),
    removeWaits() {
      const taken = waits;
      waits = [];
      return taken;
    },
    async stop() {
      running = false;
      await clients;
    },
  };
}

/** The longest wait, without the tolerated stalls of the machine. */
function worstOf(waits: readonly number[]): number {
  return quantile(waits, 1 - (STALLS_TOLERATED * CLIENTS) / waits.length);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}
