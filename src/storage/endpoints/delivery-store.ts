/** What those read and do who deliver. */

import type { Subscription } from '../../domain/endpoint.ts';
import type { DeliveryStore, DueList, LogEntry } from '../../domain/webhook-store.ts';
import type { DeliveryWork } from '../delivery/work.ts';
import { readEnvelopeHead } from '../events/envelope-head.ts';
import type { Ask, Questions, RowOf } from '../questions.ts';
import { deliveryStatuses } from '../rows/codes.ts';
import { unpackEndpoint } from '../rows/endpoint-rows.ts';
import { createCounts, createOutboxes, findLeast, inParts } from './outboxes.ts';
import type { WebhookStoreDeps } from './webhook-store.ts';

export type DeliveryStoreDeps = Pick<WebhookStoreDeps, 'questions' | 'ask' | 'search'> &
  Pick<DeliveryStore, 'nowMs' | 'isAlone'> & {
    /** Who listens learns of events and changes. */
    readonly wake: Pick<DeliveryStore, 'listen'> & { notify(): void };
    readonly work: Pick<DeliveryWork, 'applyWork' | 'sweepDeliveries'>;
    /** For what is only counted: nobody who delivers waits for it. */
    readonly askAside: Ask;
    /** Where others wait for a step of housekeeping, so many rows are enough for one. */
    readonly sweptMax: number;
  };

type Found = RowOf<Questions['endpointsDue']['listDue']>;

const SENDING = deliveryStatuses.code('sending');
const NOTHING: Omit<DueList, 'endpointNumber'> = { waiting: [], lost: [], nextAtMs: null };

/** `forget` drops what is known of the log: a new connection may be to a database that was set back. */
export function createDeliveryStore(deps: DeliveryStoreDeps): DeliveryStore & { forget(): void } {
  const { questions, ask, askAside, search, wake, work, sweptMax, nowMs, isAlone } = deps;
  // Up to this number endpoints have been swept in this round; null: all have.
  let afterEndpoint: number | null = 0;
  return {
    nowMs,
    isAlone,
    listen: wake.listen,
    ...createLogReader(questions, ask),
    changes: createChanges(questions, ask),
    due: createDueLists(questions, ask),
    counts: createCounts(questions, askAside, createOutboxes(questions, askAside, search)),
    async apply(pieces, at) {
      if (pieces.length === 0) return [];
      const outcomes = await work.applyWork(pieces, at);
      if (outcomes.some((outcome) => outcome.kind === 'recorded' && outcome.disabled !== null)) wake.notify();
      return outcomes;
    },
    async sweep(question) {
      const rowsMax = Math.min(question.rowsMax, sweptMax);
      const step = { question: { ...question, rowsMax }, afterEndpoint };
      const { next, isOver, disabled, expired } = await work.sweepDeliveries(step);
      afterEndpoint = next;
      if (disabled.length > 0) wake.notify();
      return { more: !isOver, disabled, expired };
    },
  };
}

function createChanges({ endpoints: questions }: Questions, ask: Ask): DeliveryStore['changes'] {
  return async (afterChange) => {
    // First: changes commit in the order of their numbers, so the rows hold all up to this one. What changes meanwhile
    // has a higher number, and is read again.
    const [{ change } = { change: 0 }] = await ask(questions.findChange, {});
    if (change <= afterChange) return { change, endpoints: [] };
    const rows = await ask(afterChange === 0 ? questions.listLiving : questions.listChanged, { afterChange });
    const replays = Map.groupBy(
      await ask(questions.listRunningReplays, { afterChange }),
      ({ endpointNumber }) => endpointNumber,
    );
    const endpoints = rows.map(({ subscriptionsJson, ...row }) => ({
      ...unpackEndpoint(row),
      subscriptions: JSON.parse(subscriptionsJson) as Subscription[],
      replays: (replays.get(row.number) ?? []).map(({ endpointNumber: _, ...replay }) => replay),
    }));
    return { change, endpoints };
  };
}

function createDueLists({ endpointsDue }: Questions, ask: Ask): DeliveryStore['due'] {
  return async (endpointNumbers, question) => {
    const parts = await inParts(endpointNumbers, (numbers) => ask(endpointsDue.listDue, { numbers, ...question }));
    const lists = new Map(parts.flat().map((row) => [row.endpointNumber, toList(row, question.nowMs)]));
    const { perEndpointMax } = question;
    return endpointNumbers.map((endpointNumber) => {
      const { waiting, lost, nextAtMs } = lists.get(endpointNumber) ?? NOTHING;
      return { endpointNumber, waiting: waiting.slice(0, perEndpointMax), lost, nextAtMs };
    });
  };
}

function toList({ found, run: currentRun }: Found, nowMs: number): Omit<DueList, 'endpointNumber'> {
  const inOrder = found.toSorted((one, other) => one.dueAtMs - other.dueAtMs || one.number - other.number);
  const sending = inOrder.filter(({ status }) => status === SENDING);
  const waiting = inOrder.filter(({ status }) => status !== SENDING);
  const isDue = ({ run, dueAtMs }: Found['found'][number]) => run < currentRun || dueAtMs <= nowMs;
  const isLost = ({ dueAtMs }: Found['found'][number]) => dueAtMs <= nowMs;
  const next = [...sending.filter((row) => !isLost(row)), ...waiting.filter((row) => !isDue(row))];
  return {
    waiting: waiting
      .filter(isDue)
      .map(({ number, fence, replayNumber }) => ({ number, fence, isReplay: replayNumber !== null })),
    lost: sending.filter(isLost).map(({ number, fence }) => ({ number, fence })),
    nextAtMs: findLeast(next.map(({ dueAtMs }) => dueAtMs)),
  };
}

type LogReader = Pick<DeliveryStore, 'heads' | 'events' | 'envelopes'> & {
  /** Forgets what is known of the log: the database may be another one. */
  forget(): void;
};

/** Some entry of a log, and when it was created. */
type Mark = Pick<LogEntry, 'seq' | 'createdAtMs'>;

// An organization that is forgotten only costs a look at every month.
const MARKS_MAX = 10_000;

function createLogReader({ endpointsWork }: Questions, ask: Ask): LogReader {
  /** Time never runs backwards in a log, so what comes behind an entry was created no earlier than it. */
  const marks = new Map<number, Mark>();

  function remember(organizationNumber: number, { seq, createdAtMs }: Mark): void {
    // Most who read are near the end, and those behind have more to read than months to look at.
    if (seq <= (marks.get(organizationNumber)?.seq ?? 0)) return;
    marks.delete(organizationNumber);
    marks.set(organizationNumber, { seq, createdAtMs });
    const [oldest] = marks.keys();
    if (marks.size > MARKS_MAX && oldest !== undefined) marks.delete(oldest);
  }

  return {
    heads: () => ask(endpointsWork.listHeads, {}),
    async events(organizationNumber, range) {
      const mark = marks.get(organizationNumber);
      const firstMs = mark !== undefined && mark.seq <= range.afterSeq ? mark.createdAtMs : 0;
      const rows = await ask(endpointsWork.listEntries, { organizationNumber, firstMs, ...range });
      const entries = rows.map(toEntry);
      // The first, not the last: what was read may have to be read again.
      const [first] = entries;
      if (first !== undefined) remember(organizationNumber, first);
      return entries;
    },
    envelopes: async (organizationNumber, seqs, within) =>
      (await ask(endpointsWork.listEnvelopes, { organizationNumber, seqs, ...within })).map(toEntry),
    forget: () => marks.clear(),
  };
}

function toEntry({ seq, envelope }: Pick<LogEntry, 'seq' | 'envelope'>): LogEntry {
  return { seq, ...readEnvelopeHead(envelope), envelope };
}
