/**
 * Housekeeping of deliveries: a walk over the endpoints, some at a time, and then over what has ended. Several processes
 * may be at it; what somebody else has in hand is left to the next walk.
 */

import { applyHousework, type Housework } from '../../domain/delivery-housework.ts';
import { BUCKET_MS, HOUR_MS } from '../../domain/delivery-rows.ts';
import { PATIENCE_MS } from '../../domain/delivery-step.ts';
import { createWorkSet } from '../../domain/delivery-work-set.ts';
import type { SweepQuestion, Swept } from '../../domain/webhook-store.ts';
import type { Changing, TransactAll } from '../questions.ts';
import { endTests, loadWork, writeWork } from './work-rows.ts';

/** Endpoints up to `afterEndpoint` have been looked after; null: all have. */
export type SweepStep = { readonly question: SweepQuestion; readonly afterEndpoint: number | null };

/** Where the walk goes on; `isOver` at its end. */
export type SweepDone = Omit<Swept, 'more'> & { readonly next: number | null; readonly isOver: boolean };

/** Figures are of the last hour. */
const FIGURES_KEPT_MS = 2 * HOUR_MS;

export async function sweepDeliveries(
  transact: TransactAll,
  { question, afterEndpoint: after }: SweepStep,
): Promise<SweepDone> {
  if (after === null) {
    const isFull = await transact((tx) => removeEnded(tx, question));
    return { next: isFull ? null : 0, isOver: !isFull, disabled: [], expired: 0 };
  }
  const { rowsMax } = question;
  const { numbers, found, done, ...ended } = await transact((tx) => doHousework(tx, { question, after }));
  const last = numbers.at(-1) ?? after;
  // What others have in hand may stay so for a while.
  const isFull =
    (found === rowsMax && done > 0) ||
    (await transact((tx) => removeOld(tx, { question, after, last, limit: rowsMax - done })));
  const next = numbers.length < rowsMax ? null : last;
  return { next: isFull ? after : next, isOver: false, ...ended };
}

type Walk = { readonly question: SweepQuestion; readonly after: number };

async function doHousework(tx: Changing, { question, after }: Walk) {
  const { ask, questions } = tx;
  const { nowMs, eventsBeforeMs, rowsMax: limit } = question;
  const numbers = (await ask(questions.endpointsDue.listNumbers, { after, limit })).map(({ number }) => number);
  const range = { after, last: numbers.at(-1) ?? after, limit };
  const gone = { ...range, beforeMs: eventsBeforeMs };
  const [givenUp, cancelled, expired, replayed] = await Promise.all([
    ask(questions.endpointsDue.listGivenUp, { ...range, beforeMs: nowMs - PATIENCE_MS, nowMs }),
    ask(questions.endpointsDue.listCancelled, { ...range, nowMs }),
    ask(questions.endpointsDue.listExpired, gone),
    ask(questions.endpointsDue.listExpiredReplayed, gone),
  ]);
  const found: readonly Housework[] = [
    ...givenUp.map((endpoint) => ({ kind: 'give_up', ...endpoint }) as const),
    ...cancelled.map((delivery) => ({ kind: 'cancel', ...delivery }) as const),
    ...[...expired, ...replayed].map((delivery) => ({ kind: 'expire', ...delivery }) as const),
  ].slice(0, limit);
  if (found.length === 0) return { numbers, found: 0, done: 0, disabled: [], expired: 0 };
  const set = createWorkSet(
    await loadWork(tx, {
      hold: 'holdFreeStates',
      endpoints: [...new Set(found.map(({ endpointNumber }) => endpointNumber))],
      deliveries: [...new Set(found.flatMap((piece) => (piece.kind === 'give_up' ? [] : [piece.number])))],
      taken: [],
      replays: [],
      batches: 0,
      hour: null,
    }),
  );
  const held = found.filter(({ endpointNumber }) => set.endpoint(endpointNumber) !== undefined);
  const expiredCount = applyHousework(set, held, nowMs);
  const changes = set.changes();
  await writeWork(tx, changes);
  const disabled = changes.disabled.map(({ id }) => id);
  return { numbers, found: found.length, done: held.length, disabled, expired: expiredCount };
}

type Range = Walk & { readonly last: number; readonly limit: number };

/** Answers whether there may be more of it. */
async function removeOld(tx: Changing, { question, ...range }: Range) {
  const { ask, changeRows, questions } = tx;
  const beforeMs = question.endedBeforeMs;
  const beforeBucket = Math.floor((question.nowMs - FIGURES_KEPT_MS) / BUCKET_MS);
  const attempts = await ask(questions.endpointsDue.listOldAttempts, { ...range, beforeMs });
  const figures = await ask(questions.endpointsDue.listOldFigures, { ...range, beforeBucket });
  const replays = await ask(questions.endpointsDue.listOldReplays, { ...range, beforeMs });
  changeRows(questions.endpointsDue.dropAttempts, attempts);
  changeRows(questions.endpointsDue.dropFigures, figures.slice(0, range.limit - attempts.length));
  changeRows(
    questions.endpointsDue.dropReplays,
    replays.slice(0, Math.max(0, range.limit - attempts.length - figures.length)),
  );
  return attempts.length + figures.length + replays.length >= range.limit;
}

/** Answers whether there may be more of it. */
async function removeEnded(tx: Changing, question: SweepQuestion): Promise<boolean> {
  const { ask, change, changeRows, questions } = tx;
  const { nowMs, endedBeforeMs: beforeMs, rowsMax } = question;
  const [tests, ended] = await Promise.all([
    ask(questions.endpointsWork.holdLostTests, { nowMs, limit: rowsMax }),
    ask(questions.endpointsDue.holdEnded, { beforeMs, limit: rowsMax }),
  ]);
  endTests(tx, { tests, verdict: null, nowMs });
  const gone = ended.slice(0, rowsMax - tests.length);
  changeRows(questions.endpointsDue.dropAttemptsOf, gone);
  changeRows(questions.endpointsDue.dropDeliveries, gone);
  await change(questions.endpointsDue.dropHours, { hour: Math.floor(nowMs / HOUR_MS) - 1 });
  return tests.length + gone.length === rowsMax;
}
