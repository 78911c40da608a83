/** Reads what work is about, at the beginning of its transaction. */

import type { WorkContent } from '../../domain/delivery-rows.ts';
import { hourOf } from '../../domain/delivery-work.ts';
import type { LoadedRows } from '../../domain/delivery-work-set.ts';
import type { Work, WorkInstant } from '../../domain/webhook-store.ts';
import type { Transaction } from '../questions.ts';
import type { WorkQuestions } from './work.ts';

/** What a transaction reads and holds. */
export type Names = {
  readonly endpoints: readonly number[];
  readonly deliveries: readonly number[];
  /** Of the deliveries, those whose content is needed as well. */
  readonly taken: readonly number[];
  /** Beside those that the deliveries are of. */
  readonly replays: readonly number[];
  /** So many deliveries may be made. */
  readonly batches: number;
  /** Attempts in this hour are counted; null: nowhere. */
  readonly hour: number | null;
};

/**
 * It holds the endpoints: nobody else changes anything about them until the transaction ends. `holdFreeStates`: those
 * that others have at the moment are left out, as if they were not there.
 */
export async function loadWork(
  { isAlone, ask, askEach, changeRows }: Transaction,
  questions: WorkQuestions,
  names: Names & { readonly hold: 'holdStates' | 'holdFreeStates' },
): Promise<LoadedRows> {
  const [held, known, deliveries, contents, blocks] = await Promise.all([
    isAlone ? null : askEach(questions[names.hold], names.endpoints),
    askEach(questions.listWorkEndpoints, names.endpoints),
    askEach(questions.listWorkDeliveries, names.deliveries),
    askEach(questions.listContents, names.taken),
    names.batches === 0 ? [] : ask(questions.drawDeliveryNumbers, { count: names.batches }),
  ]);
  const free = held === null ? null : new Set(held.map(({ number }) => number));
  const endpoints = free === null ? known : known.filter(({ number }) => free.has(number));
  const replays = new Set([...names.replays, ...deliveries.flatMap(({ replayNumber }) => replayNumber ?? [])]);
  return {
    endpoints,
    deliveries,
    replays: await askEach(questions.listWorkReplays, [...replays]),
    contents: new Map(contents.map((row) => [row.number, toContent(row)])),
    attempts: names.hour === null ? new Map() : await loadAttempts(names.hour),
    numbers: blocks.flatMap(({ first, count }) => Array.from({ length: count }, (_, index) => first + index)),
  };

  async function loadAttempts(hour: number): Promise<ReadonlyMap<number, number>> {
    const organizations = new Set(endpoints.map(({ organizationNumber }) => organizationNumber));
    const inOrder = [...organizations].toSorted((one, other) => one - other);
    // A row that is not there yet can be held in no other way.
    changeRows(
      questions.addHours,
      inOrder.map((organizationNumber) => ({ organizationNumber, hour, attempts: 0 })),
    );
    const rows = await ask(questions.listHours, { numbers: inOrder, hour });
    return new Map(rows.map(({ organizationNumber, attempts }) => [organizationNumber, attempts]));
  }
}

type ContentRow = {
  readonly seqsJson: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly kept: number | null;
};

function toContent({ seqsJson, firstMs, lastMs, kept }: ContentRow): WorkContent {
  const seqs = JSON.parse(seqsJson) as number[];
  return { seqs, created: { firstMs, lastMs }, isKept: kept === seqs.length };
}

/** What pieces of work are about. */
export function namesIn(work: readonly Work[], at: WorkInstant): Names {
  const of = <Kind extends Work['kind']>(...kinds: readonly Kind[]) =>
    work.filter((piece): piece is Extract<Work, { kind: Kind }> => kinds.some((kind) => kind === piece.kind));
  const cuts = of('cut');
  return {
    endpoints: [...new Set(work.map(({ endpointNumber }) => endpointNumber))],
    deliveries: [...new Set(of('take', 'finish', 'lose').map(({ number }) => number))],
    taken: [...new Set(of('take').map(({ number }) => number))],
    replays: cuts.flatMap(({ lane }) => (lane.kind === 'replay' ? [lane.number] : [])),
    batches: cuts.reduce((sum, { batches }) => sum + batches.length, 0),
    hour: at.attemptsPerHourMax === null ? null : hourOf(at),
  };
}
