/** An in-memory webhook store beside a fake management store, to test only the rules. */

import type { Attempt, Delivery, NewReplay, Replay, Verdict } from '../../src/domain/delivery/delivery.ts';
import type {
  DescendingPage,
  EndpointFigures,
  MatchRequest,
  NewTest,
  Redelivery,
  WebhookLog,
  WebhookStore,
} from '../../src/domain/delivery/webhook-store.ts';
import type { Endpoint, EndpointChange } from '../../src/domain/endpoints/endpoint.ts';
import type { ManagementChange, ManagementStore } from '../../src/domain/management/management.ts';

export type FakeWebhookStore = {
  readonly management: ManagementStore;
  readonly webhooks: WebhookStore;
  readonly webhookLog: WebhookLog;
  readonly redeliveries: Redelivery[];
  readonly replays: NewReplay[];
  readonly questions: MatchRequest[];
  readonly ended: { readonly test: NewTest; readonly verdict: Verdict }[];
  /** Every endpoint, archived ones too. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly deliveries: Delivery[];
  readonly attempts: Attempt[];
  /** Preset answers where the store has no data. */
  readonly answers: {
    figures: EndpointFigures;
    unfinished: number;
    matched: number;
    waitMs: number | null;
    endFails: boolean;
  };
  /** Changes it as deliveries would. */
  touch(id: string, change: Partial<Endpoint>): void;
};

const FIGURES: EndpointFigures = {
  oldestUndeliveredAtMs: null,
  dead: 0,
  finished: 0,
  succeeded: 0,
  latenciesMs: [],
  queuedEvents: 0,
  retrying: 0,
  held: 0,
  inFlight: 0,
};

export function createFakeWebhookStore(management: ManagementStore): FakeWebhookStore {
  const endpoints = new Map<string, Endpoint>();
  const fake = {
    redeliveries: [] as Redelivery[],
    replays: [] as NewReplay[],
    questions: [] as MatchRequest[],
    ended: [] as { test: NewTest; verdict: Verdict }[],
    deliveries: [] as Delivery[],
    attempts: [] as Attempt[],
    answers: { figures: FIGURES, unfinished: 0, matched: 0, waitMs: null as number | null, endFails: false },
  };
  const commit: ManagementStore['commit'] = async (change) => {
    const isStale = (change.endpoints ?? []).some(
      ({ record, expectedVersion }) => (endpoints.get(record.id)?.version ?? 0) !== expectedVersion,
    );
    if (isStale) return 'stale';
    const outcome = await management.commit(change);
    if (outcome === 'stored') apply(change);
    return outcome;
  };

  function apply(change: ManagementChange): void {
    for (const each of change.endpoints ?? []) put(endpoints, each);
    fake.redeliveries.push(...(change.redeliveries ?? []));
    fake.replays.push(...(change.replays ?? []));
  }

  return {
    ...fake,
    management: { ...management, commit },
    webhooks: { ...readEndpoints(endpoints), ...readDeliveries(fake) },
    webhookLog: createLog(fake),
    endpoints,
    touch(id, change) {
      const stored = endpoints.get(id);
      if (stored) endpoints.set(id, { ...stored, ...change, version: stored.version + 1 });
    },
  };
}

function put(endpoints: Map<string, Endpoint>, { record, clearsStreak }: EndpointChange): void {
  const before = endpoints.get(record.id);
  const fresh = { failingSinceMs: null, consecutiveFailures: 0 };
  const streak = before ?? { ...fresh, lastSuccessAtMs: null, lastFailureAtMs: null };
  const { failingSinceMs, lastSuccessAtMs, lastFailureAtMs, consecutiveFailures } = streak;
  endpoints.set(record.id, {
    failingSinceMs,
    lastSuccessAtMs,
    lastFailureAtMs,
    consecutiveFailures,
    ...record,
    ...(clearsStreak ? fresh : {}),
    number: before?.number ?? endpoints.size + 1,
    organizationNumber: 1,
    version: (before?.version ?? 0) + 1,
  });
}

type EndpointReads = Pick<WebhookStore, 'endpoints' | 'endpoint' | 'countEndpoints'>;

function readEndpoints(endpoints: ReadonlyMap<string, Endpoint>): EndpointReads {
  const live = (organizationId: string) =>
    [...endpoints.values()]
      .filter((endpoint) => endpoint.organizationId === organizationId && endpoint.archivedAtMs === null)
      .toSorted((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
  return {
    async endpoints(organizationId, { after, limit }) {
      const found = live(organizationId).filter(
        ({ createdAtMs, id }) =>
          after === null || createdAtMs > after.createdAtMs || (createdAtMs === after.createdAtMs && id > after.id),
      );
      return limit === null ? found : found.slice(0, limit);
    },
    endpoint: async (organizationId, id) => live(organizationId).find((each) => each.id === id) ?? null,
    countEndpoints: async (organizationId) => live(organizationId).length,
  };
}

type Rows = Pick<FakeWebhookStore, 'deliveries' | 'attempts' | 'replays' | 'questions' | 'ended' | 'answers'>;

function readDeliveries(rows: Rows): Omit<WebhookStore, keyof EndpointReads> {
  const { deliveries, attempts, answers } = rows;
  return {
    attempts: async (_, page) => descending(attempts, page, ({ firedAtMs, id }) => ({ atMs: firedAtMs, id })),
    delivery: async (endpointNumber, dispatchId) =>
      deliveries.find((each) => each.endpointNumber === endpointNumber && each.dispatchId === dispatchId) ?? null,
    attemptsOf: async (_, dispatchId, limit) =>
      attempts.filter((each) => each.dispatchId === dispatchId).slice(0, limit),
    deadLetters: async (_, page) =>
      descending(
        deliveries.filter(({ status, test }) => status === 'dead' && !test),
        page,
        ({ endedAtMs, dispatchId }) => ({ atMs: endedAtMs ?? 0, id: dispatchId }),
      ),
    replay: async (endpointNumber, id) => {
      const found = rows.replays.find((each) => each.endpointNumber === endpointNumber && each.id === id);
      if (found === undefined) return null;
      const { fromSeq: _, toSeq: _t, mask: _m, ...begun } = found;
      const replay: Replay = { ...begun, status: 'running', enqueued: 0, delivered: 0, dead: 0, completedAtMs: null };
      return replay;
    },
    countUnfinishedReplays: async () => answers.unfinished,
  };
}

function createLog(rows: Rows): WebhookLog {
  const { answers } = rows;
  return {
    health: async () => answers.figures,
    async matchEvents(_, question) {
      rows.questions.push(question);
      return { fromSeq: 1, toSeq: answers.matched, matched: answers.matched };
    },
    beginTest: async () => answers.waitMs,
    async endTest(test, verdict) {
      if (answers.endFails) throw new Error('the store is away');
      rows.ended.push({ test, verdict });
    },
  };
}

type Positioned = { readonly atMs: number; readonly id: string };

function descending<T>(
  items: readonly T[],
  { after, limit }: DescendingPage,
  positionOf: (item: T) => Positioned,
): T[] {
  const compare = (one: Positioned, other: Positioned) => other.atMs - one.atMs || (one.id < other.id ? 1 : -1);
  return items
    .filter((item) => {
      const position = positionOf(item);
      return after === null || (position.id !== after.id && compare(position, after) > 0);
    })
    .toSorted((one, other) => compare(positionOf(one), positionOf(other)))
    .slice(0, limit);
}
