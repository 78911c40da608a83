/**
 * Streams traces as they change. Each quarter of a second, changes of a project are read once and offered to all its
 * subscribers; each receives them as fast as it reads, within a bound for all, and the number that it missed.
 */

import type { Project } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import { Fault, type Reason, validationFault } from '../../fault.ts';
import type { KeyStore } from '../../management/management-port.ts';
import { termStartMs, traceTermDays } from '../../retention-terms.ts';
import type { SearchCall } from '../search/search-call.ts';
import type { SearchRequest, TraceSearches } from '../search/trace-search.ts';
import { ALL_TRACES, EVER, type TraceSearch } from '../search/trace-search-store.ts';
import type { Row } from '../trace-row.ts';
import type { Traces, TraceView } from '../traces.ts';
import type { ChangeFeed } from './change-feed.ts';
import { createChangePoll } from './change-poll.ts';
import { createProjectReader, type ProjectReader } from './project-reader.ts';
import { type Change, createSubscriber, createWakeQueue, type Subscriber } from './subscriber.ts';
import { createTailRows } from './tail-rows.ts';

export type TailRequest = Pick<SearchRequest, 'query' | 'filters' | 'negateFilters' | 'traceIds' | 'includeSpans'> & {
  /** Id of the last received change; empty: only changes from now on. */
  readonly lastEventId: string;
};

export type TailCall = SearchCall & {
  /** Identifies the credential of the call. */
  readonly credential: string;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
};

export type TailMessage =
  | { readonly kind: 'trace'; readonly id: string; readonly view: TraceView }
  | { readonly kind: 'lagged'; readonly dropped: number }
  /** Nothing changed for a while, or yet. */
  | { readonly kind: 'idle' };

export type TraceTails = {
  /** Resolves once no later change is missed. Throws rate_limited, or validation_error. */
  open(request: TailRequest, call: TailCall): Promise<AsyncGenerator<TailMessage, void>>;
};

type TraceTailsDeps = {
  readonly search: Pick<TraceSearch, 'find' | 'match'>;
  readonly searches: Pick<TraceSearches, 'filterOf'>;
  readonly traces: Pick<Traces, 'get'>;
  readonly keys: Pick<KeyStore, 'findProject'>;
  readonly feed: Pick<ChangeFeed, 'listen'>;
  /** Whether no other process changes traces. */
  readonly isSingleProcess: boolean;
  readonly clock: Clock;
  /** `wait`: between ticks; `pause`: between wake-ups of one tick. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly limits: TailLimits;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
  readonly onError: (error: unknown) => void;
};

type TailLimits = {
  /** Of this process. */
  readonly tailsMax: number;
  readonly tailsPerProjectMax: number;
  readonly tailsPerCredentialMax: number;
};

const TICK_MS = 250;
const QUIET_TICKS_MAX = 60;
/** Projects read at once; others wait for their turn. */
const READERS_AT_ONCE = 4;
/** Traces sent per tick to all subscribers and to one: sending competes with collecting. */
const SENT_PER_TICK = 200;
const SENT_TO_ONE_PER_TICK = 50;
/** Queues hold the changes of this many ticks and drop older ones: subscribers want to see the present. */
const KEPT_TICKS = 10;
const KEPT_MAX = SENT_TO_ONE_PER_TICK * KEPT_TICKS;
const SPANS_PER_TRACE = 200;
/** Changes are sent in about the order of their times: resuming exactly after one may miss earlier ones. */
const RESUME_BACK_MS = 2_000;
const RESUME_MAX_MS = 600_000;
const RESUMED_MAX = KEPT_MAX;
const RETRY_AFTER_SECONDS = 5;
const IDLE: TailMessage = { kind: 'idle' };

export function createTraceTails(deps: TraceTailsDeps): TraceTails {
  const { search, searches, keys, feed, isSingleProcess, clock, wait, pause, limits } = deps;
  const rows = createTailRows(deps);
  const readers = new Map<number, ProjectReader>();
  /** Latest settings: the retention of a project may change during a tail. */
  const projects = new Map<number, Project>();
  /** Ticks since each subscriber was woken. */
  const quiet = new Map<Subscriber, number>();
  const byCredential = new Map<string, number>();
  /** `reading`: readers waiting their turn, first come first, or running; `running`: only running ones. */
  const reading = new Set<ProjectReader>();
  const running = new Set<ProjectReader>();
  const due = createWakeQueue(pause);
  let isRunning = false;
  let readCount = 0;

  function nextReadId(): number {
    readCount += 1;
    return readCount;
  }

  async function run(): Promise<void> {
    const never = new AbortController().signal;
    while (quiet.size > 0) {
      await wait(TICK_MS, never);
      rows.tick();
      for (const reader of readers.values()) {
        // Subscribers are woken after their project is read; a slow project delays no other.
        if (!reader.isDue() || reading.has(reader)) wakeAll(reader);
        else reading.add(reader);
      }
      readNext();
    }
    isRunning = false;
  }

  function readNext(): void {
    for (const reader of reading) {
      if (running.size >= READERS_AT_ONCE) return;
      if (running.has(reader)) continue;
      running.add(reader);
      void reader.read().finally(() => {
        running.delete(reader);
        reading.delete(reader);
        wakeAll(reader);
        readNext();
      });
    }
  }

  function wakeAll(reader: ProjectReader): void {
    for (const subscriber of reader.subscribers()) {
      const ticks = quiet.get(subscriber) ?? 0;
      const isDue = subscriber.hasAny() || ticks >= QUIET_TICKS_MAX;
      quiet.set(subscriber, isDue ? 0 : ticks + 1);
      if (isDue) due.add(subscriber);
    }
  }

  function readerOf({ project }: SearchCall): ProjectReader {
    const { number: projectNumber } = project;
    const cached = readers.get(projectNumber);
    if (cached !== undefined) return cached;
    const reader = createProjectReader({
      projectNumber,
      // Null once the project is archived; its tails are about to be refused.
      refresh: async () => void projects.set(projectNumber, (await keys.findProject(project.id)) ?? project),
      expiredBeforeMs() {
        const { traceRetentionDays } = projects.get(projectNumber) ?? project;
        return termStartMs(traceTermDays(traceRetentionDays, deps.traceDefaultDays), clock());
      },
      search,
      feed,
      poll: isSingleProcess ? null : createChangePoll({ projectNumber, search, clock }),
      nextReadId,
      onError: deps.onError,
      onEmpty() {
        readers.delete(projectNumber);
        projects.delete(projectNumber);
      },
    });
    readers.set(projectNumber, reader);
    return reader;
  }

  function requireCapacity({ project, credential }: TailCall): void {
    const tails = [
      [quiet.size, limits.tailsMax, 'traces on this server'],
      [readers.get(project.number)?.size() ?? 0, limits.tailsPerProjectMax, 'the traces of this project'],
      [byCredential.get(credential) ?? 0, limits.tailsPerCredentialMax, 'traces with this credential'],
    ] as const;
    for (const [count, countMax, what] of tails) if (count >= countMax) throw tooMany(what);
  }

  function count(credential: string, change: number): void {
    const tails = (byCredential.get(credential) ?? 0) + change;
    if (tails === 0) byCredential.delete(credential);
    else byCredential.set(credential, tails);
  }

  function join(request: TailRequest, call: TailCall): Subscriber {
    requireCapacity(call);
    const subscriber = createSubscriber(() => shareOf(SENT_PER_TICK * KEPT_TICKS, KEPT_MAX));
    const { filter, traceIds } = searches.filterOf(request);
    const ids = traceIds === null ? null : new Set(traceIds);
    const leave = readerOf(call).add({ filter, traceIds: ids, subscriber });
    quiet.set(subscriber, 0);
    count(call.credential, 1);
    const end = () => {
      leave();
      if (quiet.delete(subscriber)) count(call.credential, -1);
      due.delete(subscriber);
      subscriber.wake();
    };
    call.signal.addEventListener('abort', end, { once: true });
    if (call.signal.aborted) end();
    if (!isRunning) {
      isRunning = true;
      void run();
    }
    return subscriber;
  }

  /** Offers changes since the last received one, up to RESUME_MAX_MS back. */
  async function resume(subscriber: Subscriber, request: TailRequest, call: TailCall): Promise<void> {
    const { filter, traceIds } = searches.filterOf(request);
    const oldestMs = clock() - RESUME_MAX_MS;
    const wantedMs = Number(request.lastEventId) - RESUME_BACK_MS;
    const { traces, next } = await search.find({
      ...ALL_TRACES,
      projectNumber: call.project.number,
      updated: { fromMs: Math.max(wantedMs, oldestMs), toMs: EVER.toMs },
      sort: 'updated_at',
      isAscending: true,
      traceIds,
      filter,
      limit: RESUMED_MAX,
    });
    const readId = nextReadId();
    subscriber.offer(traces.map(({ traceId }) => ({ traceId, readId })));
    if (next !== null || wantedMs < oldestMs) subscriber.drop(1);
  }

  /** The share of `all` for each of the current subscribers. */
  function shareOf(all: number, max: number): number {
    return Math.max(1, Math.min(max, Math.floor(all / Math.max(1, quiet.size))));
  }

  async function* streamMessages(
    subscriber: Subscriber,
    request: TailRequest,
    call: TailCall,
  ): AsyncGenerator<TailMessage, void> {
    yield IDLE;
    while (!call.signal.aborted) {
      await subscriber.waitForWake();
      if (call.signal.aborted) return;
      const { changes, dropped } = subscriber.dequeue(shareOf(SENT_PER_TICK, SENT_TO_ONE_PER_TICK));
      if (changes.length === 0 && dropped === 0) yield IDLE;
      let lost = dropped;
      const project = projects.get(call.project.number) ?? call.project;
      for (const change of changes) {
        const row = await readRow(change, request, { ...call, project });
        if (row === 'no room') lost += 1;
        else if (row !== null) yield { kind: 'trace', id: String(row.view.record.updatedAtMs), view: row.view };
      }
      if (lost > 0) yield { kind: 'lagged', dropped: lost };
    }
  }

  async function readRow(change: Change, request: TailRequest, call: TailCall): Promise<Row | 'no room' | null> {
    try {
      const row = await rows.read(call.project, change, request.includeSpans ? SPANS_PER_TRACE : 0);
      if (row !== null) call.countResponseBytes(row.bytes);
      return row;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'unavailable') return 'no room';
      throw error;
    }
  }

  return {
    async open(request, call) {
      if (!/^\d{0,16}$/.test(request.lastEventId)) throw validationFault('query', [NOT_AN_ID]);
      const subscriber = join(request, call);
      await readers.get(call.project.number)?.begun;
      if (request.lastEventId !== '') await resume(subscriber, request, call);
      return streamMessages(subscriber, request, call);
    },
  };
}

const NOT_AN_ID: Reason = { field: 'lastEventId', type: 'custom', message: 'lastEventId is not the id of a change' };

function tooMany(what: string): Fault {
  return new Fault('rate_limited', `Too many follow ${what}; try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
