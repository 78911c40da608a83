/** Reads what work is about, at the beginning of its transaction. */

import type { Work, WorkInstant } from '../../domain/webhook-store.ts';
import type { OfNumbers } from '../endpoints/questions-work.ts';
import { askInTurns, type Question, type Transaction } from '../questions.ts';
import { hourOf } from './apply-work.ts';
import type { WorkContent } from './tables.ts';
import type { WorkAsking } from './work.ts';
import type { LoadedRows } from './work-set.ts';

/** What a transaction reads and holds. */
export type Names = {
  readonly endpoints: ReadonlySet<number>;
  readonly deliveries: ReadonlySet<number>;
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
  { ask, changeRows }: Transaction,
  { questions, pointsAtOnce }: WorkAsking,
  names: Names & { readonly hold: 'holdStates' | 'holdFreeStates' },
): Promise<LoadedRows> {
  const list = <Row>(question: Question<OfNumbers, Row>, numbers: Iterable<number>) =>
    askInTurns([...numbers], pointsAtOnce, (some) => ask(question, { numbers: some }));
  // In order, so that two who need several of them wait for each other, but never both at once.
  const wanted = [...names.endpoints].toSorted((one, other) => one - other);
  const [held, known, deliveries, contents, numbers] = await Promise.all([
    list(questions[names.hold], wanted),
    list(questions.listWorkEndpoints, wanted),
    list(questions.listWorkDeliveries, names.deliveries),
    list(questions.listContents, names.taken),
    names.batches === 0 ? [] : ask(questions.drawDeliveryNumbers, { count: names.batches }),
  ]);
  const heldNumbers = new Set(held.map(({ number }) => number));
  const endpoints = known.filter(({ number }) => heldNumbers.has(number));
  const replays = new Set(names.replays);
  for (const { replayNumber } of deliveries) if (replayNumber !== null) replays.add(replayNumber);
  return {
    endpoints,
    deliveries,
    replays: await list(questions.listWorkReplays, replays),
    contents: new Map(contents.map((row) => [row.number, toContent(row)])),
    attempts: names.hour === null ? new Map() : await loadAttempts(names.hour),
    numbers: numbers.map(({ number }) => number),
  };

  async function loadAttempts(hour: number): Promise<ReadonlyMap<number, number>> {
    const organizations = new Set(endpoints.map(({ organizationNumber }) => organizationNumber));
    const inOrder = [...organizations].toSorted((one, other) => one - other);
    // A row that is not there yet can be held in no other way.
    changeRows(
      questions.addHours,
      inOrder.map((organizationNumber) => ({ organizationNumber, hour, attempts: 0 })),
    );
    const rows = await askInTurns(inOrder, pointsAtOnce, (some) => ask(questions.listHours, { numbers: some, hour }));
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
    endpoints: new Set(work.map(({ endpointNumber }) => endpointNumber)),
    deliveries: new Set(of('take', 'finish', 'lose').map(({ number }) => number)),
    taken: [...new Set(of('take').map(({ number }) => number))],
    replays: cuts.flatMap(({ lane }) => (lane.kind === 'replay' ? [lane.number] : [])),
    batches: cuts.reduce((sum, { batches }) => sum + batches.length, 0),
    hour: at.attemptsPerHourMax === null ? null : hourOf(at),
  };
}
