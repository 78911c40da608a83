/** What the parts of retention have in common: each removes some expired rows of one kind, in a step of any store. */

import type { RetentionCounts } from '../../domain/retention-walk.ts';
import type { Queries, Transaction } from '../transaction.ts';

export type RetentionQueries = Queries['retention'];

/** The parts of one port, in the order in which they run. */
export type Parts<Cuts> = { readonly [name: string]: RemovePart<Cuts> };

export type RemovePart<Cuts> = (queries: RetentionQueries, step: PartStep<Cuts>) => Promise<PartEnd>;

export type PartStep<Cuts> = StepBudget & {
  readonly cuts: Cuts;
  /** Everything up to this number is done. */
  readonly after: number;
  /**
   * Traces with this sequence or above were received at an instant or later; null: sequences say nothing about time.
   */
  readonly sequenceAt: ((instantMs: number) => number) | null;
};

export type PartEnd = {
  readonly removed?: Partial<RetentionCounts>;
  /** Where the next step begins; null at the end. */
  readonly next: number | null;
};

/** The limits of a step, which is part of a transaction. */
export type StepBudget = Pick<Transaction, 'runQuery' | 'change'> & {
  readonly rowsMax: number;
  /** The number of rows removed between two checks of the time. */
  readonly rowsAtOnce: number;
  /** The same for rows of any size. */
  readonly heavyRowsAtOnce: number;
  /** Whether the time of the step is over. */
  readonly isOver: () => boolean;
};

/** For parts that remove whatever is oldest. */
export function endOf(isMore: boolean): PartEnd {
  return { next: isMore ? 0 : null };
}
