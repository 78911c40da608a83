import { describe, expect, it } from 'vitest';
import { beginWalk } from '../../../src/domain/retention-walk.ts';
import type { Store } from '../../../src/domain/store.ts';
import type { StoredTrace, TelemetryCuts } from '../../../src/domain/traces/telemetry-port.ts';
import type { TraceAppend } from '../../../src/domain/traces/trace.ts';
import { sampleAudit } from './management-samples.ts';
import { finish, NO_TELEMETRY_CUTS, NONE, repeating } from './retention-walk.ts';
import {
  bareSpan,
  ORGANIZATION,
  RECEIVED_AT_MS,
  sampleAppend,
  sampleEvaluation,
  samplePlan,
  sampleRequest,
  sampleSpan,
} from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';
import { readAllEvaluations, readSpanIds } from './trace-reading.ts';

const DAY_MS = 86_400_000;
const ROWS = 50;

export function traceRetentionConformance(open: OpenSubject): void {
  describe('the backlog of retention', () => {
    it(
      'MUST count the traces that are past the cut of their project and not erased yet',
      withStore(open, async (store, { execute }) => {
        const short = await bootstrapProject(store);
        const long = { ...short, projectId: 'project_long', projectNumber: short.projectNumber + 1 };
        await execute(copyProject(short.projectId, long));
        await keepFor(store, short, 7);
        await keepFor(store, long, 30);
        for (const project of [short, long]) {
          for (const days of [1, 8, 29, 31, 50]) {
            const atMs = RECEIVED_AT_MS - days * DAY_MS;
            const spans = [bareSpan({ startedAtMs: atMs - 10, finishedAtMs: atMs })];
            await store.traces.append(sampleAppend({ ...project, receivedAtMs: atMs, spans, requests: [] }));
          }
        }
        const cuts = [cut(7), cut(30)];
        // Of the first project those of 8, 29 and 31 days, of the second those of 31 and 50.
        expect(await store.telemetryRetention.backlog(cuts)).toBe(5);
        expect(await store.telemetryRetention.backlog([cut(30)])).toBe(2);
        expect(await store.telemetryRetention.backlog([])).toBe(0);
        await walk(store, { ...NO_TELEMETRY_CUTS, traces: cuts });
        expect(await store.telemetryRetention.backlog(cuts)).toBe(0);
      }),
    );
  });

  describe('retention of traces', () => {
    it(
      'removes the traces before the cut of their project with all that belongs to them, and no others',
      withStore(open, async (store, { execute }) => {
        const short = await bootstrapProject(store);
        const long = { ...short, projectId: 'project_long', projectNumber: short.projectNumber + 1 };
        const unknown = { ...short, projectId: 'project_unknown', projectNumber: short.projectNumber + 2 };
        await execute(copyProject(short.projectId, long));
        await keepFor(store, short, 7);
        await keepFor(store, long, 30);
        expect([...(await store.managementRetention.traceTerms())].sort()).toEqual([30, 7]);
        const cuts = { ...NO_TELEMETRY_CUTS, traces: [cut(7), cut(30), cut(null)] };
        const appends = [short, long, unknown].flatMap((project) =>
          [1, 7, 8, 29, 31].map((days) => ({ days, append: traceOf(project, RECEIVED_AT_MS - days * DAY_MS) })),
        );
        for (const { append } of appends) await store.traces.append(append);
        const kept = appends.filter(({ days, append }) => {
          if (append.projectNumber === unknown.projectNumber) return true;
          return days <= (append.projectNumber === short.projectNumber ? 7 : 30);
        });
        const expired = appends.filter((each) => !kept.includes(each));
        const traces = await Promise.all(expired.map(({ append }) => findTrace(store, append)));
        expect((await walk(store, cuts)).traces).toBe(expired.length);
        for (const { append } of kept) expect(await readTrace(store, append)).toEqual({ spans: 3, evaluations: 2 });
        for (const { append } of expired) expect(await findTrace(store, append)).toBeNull();
        for (const trace of traces) expect(await readParts(store, trace)).toEqual({ spans: 0, evaluations: 0 });
        expect(await walk(store, cuts)).toEqual(NONE);
      }),
    );

    it(
      'goes by the term that is stored while the step is taken',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const append = traceOf(project, RECEIVED_AT_MS - 400 * DAY_MS);
        await store.traces.append(append);
        const defaults = store.telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, traces: [cut(null, 30)] });
        const chosen = store.telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, traces: [cut(30)] });
        await keepFor(store, project, 0);
        for (const each of [defaults, chosen]) expect(await finish(each)).toMatchObject({ traces: 0 });
        expect(await readTrace(store, append)).toEqual({ spans: 3, evaluations: 2 });
        expect(await store.managementRetention.traceTerms()).toEqual([0]);
      }),
    );

    it(
      'MUST remove at most so many rows in a step, and MUST put a trace that it cannot erase at once out of reach',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const large = sampleAppend({
          ...project,
          receivedAtMs: RECEIVED_AT_MS - 31 * DAY_MS,
          spans: Array.from({ length: 1000 }, () => bareSpan()),
          evaluations: Array.from({ length: 300 }, () => sampleEvaluation()),
          requests: [],
        });
        const small = traceOf(project, RECEIVED_AT_MS - 31 * DAY_MS);
        await store.traces.append(large);
        await store.traces.append(small);
        const trace = await findTrace(store, large);
        let left = 1300;
        let steps = 0;
        const takeStep = beginWalk(store.telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, traces: [cut(null, 30)] }));
        for (let more = true; more; steps += 1) {
          more = (await takeStep(ROWS)).outcome !== 'done';
          const { spans, evaluations } = await readParts(store, trace);
          expect(left - spans - evaluations).toBeLessThanOrEqual(ROWS);
          left = spans + evaluations;
          // A partly removed trace stays invisible, even if the project now keeps traces.
          if (left < 1300) expect(await findTrace(store, large)).toBeNull();
          if (left < 1300 && left > 0) {
            await keepFor(store, project, 0);
          }
        }
        expect(left).toBe(0);
        expect(steps).toBeGreaterThan(1300 / ROWS);
        // The removal had not begun with this one.
        expect(await readTrace(store, small)).toEqual({ spans: 3, evaluations: 2 });
      }),
    );

    it(
      'MUST be safe while other processes take steps, and while traces come in',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const old = Array.from({ length: 60 }, () => traceOf(project, RECEIVED_AT_MS - 31 * DAY_MS));
        await Promise.all(old.map((append) => store.traces.append(append)));
        const cuts = { ...NO_TELEMETRY_CUTS, traces: [cut(null, 30)] };
        const young = Array.from({ length: 60 }, () => traceOf(project, RECEIVED_AT_MS));
        const [first, second] = await Promise.all([
          walk(store, cuts),
          walk(store, cuts),
          ...young.map((append) => store.traces.append(append)),
        ]);
        const last = await walk(store, cuts);
        expect(first.traces + second.traces + last.traces).toBe(old.length);
        for (const append of old) expect(await findTrace(store, append)).toBeNull();
        for (const append of young) expect(await readTrace(store, append)).toEqual({ spans: 3, evaluations: 2 });
      }),
    );
  });

  describe('a task of retention that is run again', () => {
    it(
      'MUST be safe: it removes the traces that have expired, and counts each once',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const old = Array.from({ length: 40 }, () => traceOf(project, RECEIVED_AT_MS - 31 * DAY_MS));
        const young = traceOf(project, RECEIVED_AT_MS);
        for (const append of [...old, young]) await store.traces.append(append);
        const cuts = { ...NO_TELEMETRY_CUTS, traces: [cut(null, 30)] };
        await finish(repeating(store.telemetryRetention.begin(cuts)), ROWS);
        for (const append of old) expect(await findTrace(store, append)).toBeNull();
        expect(await readTrace(store, young)).toEqual({ spans: 3, evaluations: 2 });
        expect(await store.telemetryRetention.backlog([cut(null, 0)])).toBe(0);
      }),
    );
  });

  describe('a span for a trace that is past its term', () => {
    it(
      'starts a new trace, and nothing of the old one remains after the next walk',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const old = traceOf(project, RECEIVED_AT_MS - 31 * DAY_MS);
        await store.traces.append(old);
        const trace = await findTrace(store, old);
        const late = { ...project, traceId: old.traceId, requests: [], evaluations: [], metadataJson: '{"a":1}' };
        const within = sampleAppend({ ...late, expiredBeforeMs: RECEIVED_AT_MS - 31 * DAY_MS });
        await store.traces.append(within);
        expect(await readTrace(store, old)).toEqual({ spans: 4, evaluations: 2 });
        // Two in one commit: the second must join the trace of the first.
        const past = [0, 1].map(() => sampleAppend({ ...late, expiredBeforeMs: RECEIVED_AT_MS - 30 * DAY_MS }));
        await Promise.all(past.map((append) => store.traces.append(append)));
        expect(await readTrace(store, old)).toEqual({ spans: 2, evaluations: 0 });
        expect(await store.traces.find(project.projectNumber, old.traceId)).toMatchObject({
          insertedAtMs: RECEIVED_AT_MS,
          spanCount: 2,
          metadataJson: '{"a":1}',
        });
        await walk(store, NO_TELEMETRY_CUTS);
        expect(await readParts(store, trace)).toEqual({ spans: 0, evaluations: 0 });
        expect(await readTrace(store, old)).toEqual({ spans: 2, evaluations: 0 });
      }),
    );

    it(
      'emits nothing again for requests that had their event',
      withStore(open, async (store) => {
        const project = await bootstrapProject(store);
        const span = sampleSpan();
        const append = { ...traceOf(project, RECEIVED_AT_MS - DAY_MS), spans: [span], requests: [sampleRequest()] };
        await store.traces.append(append);
        await store.traces.append({ ...append, receivedAtMs: RECEIVED_AT_MS, expiredBeforeMs: RECEIVED_AT_MS });
        const organization = { id: project.organizationId, number: project.organizationNumber };
        expect(await store.events.list({ ...EVERYTHING, organization, limit: 10 })).toHaveLength(1);
        expect(await readTrace(store, append)).toEqual({ spans: 1, evaluations: 2 });
      }),
    );
  });
}

const EVERYTHING = {
  organization: ORGANIZATION,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
} as const;
async function walk({ telemetryRetention }: Store, cuts: TelemetryCuts) {
  return await finish(telemetryRetention.begin(cuts), ROWS);
}

/** The cut of projects with this stored retention in days; null stands for the default. */
function cut(storedDays: number | null, days = storedDays ?? 3650) {
  return { storedDays, expiredBeforeMs: RECEIVED_AT_MS - days * DAY_MS };
}

type Project = Pick<TraceAppend, 'projectId' | 'projectNumber' | 'organizationId' | 'organizationNumber'>;

async function bootstrapProject({ installation, keys }: Store): Promise<Project> {
  const plan = samplePlan();
  await installation.bootstrap(plan);
  const project = await keys.findProject(plan.project.id);
  return {
    projectId: plan.project.id,
    projectNumber: project?.number ?? 0,
    organizationId: plan.organization.id,
    organizationNumber: project?.organizationNumber ?? 0,
  };
}

function keepFor({ projects }: Store, { projectId, organizationId }: Project, traceRetentionDays: number) {
  const audited = sampleAudit(organizationId, { createdAtMs: RECEIVED_AT_MS });
  return projects.updateSettings(projectId, { traceRetentionDays }, audited);
}

function copyProject(id: string, { projectId, projectNumber }: Project): string {
  const columns = `organization_id, team_id, name, slug, language, framework, emit_request_events, key_hint,
    key_imported, created_at, updated_at`;
  // The key hash only has to differ.
  return `INSERT INTO projects (number, id, key_hash, ${columns})
    SELECT ${projectNumber}, '${projectId}', substr(key_hash, 2), ${columns} FROM projects WHERE id = '${id}'`;
}

function traceOf(project: Project, receivedAtMs: number): TraceAppend {
  return sampleAppend({
    ...project,
    receivedAtMs,
    spans: [sampleSpan(), bareSpan(), bareSpan()],
    evaluations: [sampleEvaluation(), sampleEvaluation()],
    requests: [],
  });
}

async function findTrace({ traces }: Store, { projectNumber, traceId }: TraceAppend): Promise<StoredTrace | null> {
  const record = await traces.find(projectNumber, traceId);
  return record === null ? null : { ...record, projectNumber };
}

async function readTrace(store: Store, append: TraceAppend): Promise<{ spans: number; evaluations: number }> {
  return await readParts(store, await findTrace(store, append));
}

async function readParts(
  { traces }: Store,
  trace: StoredTrace | null,
): Promise<{ spans: number; evaluations: number }> {
  if (trace === null) throw new Error('the trace is not there');
  return {
    spans: (await readSpanIds(traces, trace)).length,
    evaluations: (await readAllEvaluations(traces, trace)).length,
  };
}
