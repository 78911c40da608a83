/** What an organization spent. */

import type { Organization } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { rangeProblems } from '../events.ts';
import { unavailableFault, validationFault } from '../fault.ts';
import { bindFilter, invalidCursor } from '../listing.ts';
import { retentionStartMs } from '../page.ts';
import { placeOf } from './group-order.ts';
import {
  SPEND_DIMENSIONS,
  type SpendPlace,
  type SpendQuestion,
  type SpendStore,
  type Spent,
  type SpentGroup,
} from './spend-store.ts';

export type SpendRequest = Pick<SpendQuestion, 'fromMs' | 'toMs' | 'groupBy' | 'filters' | 'order'> & {
  /** Empty: the first page. */
  readonly cursor: string;
  /** Groups of a page; null: the usual number. */
  readonly limit: number | null;
};

export type SpendPage = {
  readonly groups: readonly SpentGroup[];
  readonly total: Spent;
  readonly nextCursor: string | null;
};

export type Spend = {
  /** Throws validation_error, invalid_cursor for any cursor not of this very question, unavailable where it takes too long. */
  query(organization: Organization, request: SpendRequest, nowMs: number): Promise<SpendPage>;
};

export type SpendDeps = { readonly store: SpendStore; readonly cursors: CursorCodec };

const LIMIT_DEFAULT = 100;
const RETRY_AFTER_SECONDS = 1;

export function createSpend({ store, cursors }: SpendDeps): Spend {
  return {
    async query(organization, { cursor, limit: asked, ...request }, nowMs) {
      const { fromMs, toMs, order } = request;
      const problems = rangeProblems(fromMs, toMs);
      if (problems.length > 0) throw validationFault('query', problems);
      const binding = bindingOf(organization, request);
      const after = cursor === '' ? null : openPlace(cursors, binding, cursor);
      const limit = asked ?? LIMIT_DEFAULT;
      const answer = await store.sum({
        ...request,
        organizationNumber: organization.number,
        goneBeforeMs: retentionStartMs(nowMs),
        after,
        // One more than asked tells whether anything remains.
        limit: limit + 1,
      });
      if (answer.kind === 'too_long') {
        throw unavailableFault('There is too much to sum up in time; ask for a shorter range.', RETRY_AFTER_SECONDS);
      }
      const groups = answer.groups.slice(0, limit);
      const last = groups.at(-1);
      const isMore = answer.groups.length > limit && last !== undefined;
      const nextCursor = isMore ? cursors.seal(binding, sealed(placeOf(last.group, last.spent, order))) : null;
      return { groups, total: answer.total, nextCursor };
    },
  };
}

type Asked = Omit<SpendRequest, 'cursor' | 'limit'>;

function bindingOf({ id }: Organization, { fromMs, toMs, groupBy, order, filters }: Asked): readonly string[] {
  const bound = SPEND_DIMENSIONS.map((dimension) => bindFilter(filters[dimension] ?? null));
  return ['spend', id, String(fromMs), String(toMs), groupBy ?? '', order, ...bound];
}

function sealed({ rank, nameKey }: SpendPlace): readonly [string, string] {
  return [String(rank), Buffer.from(nameKey, 'latin1').toString('base64')];
}

function openPlace(cursors: CursorCodec, binding: readonly string[], cursor: string): SpendPlace {
  const [rank, nameKey] = cursors.open(binding, cursor) ?? [];
  if (typeof rank !== 'string' || typeof nameKey !== 'string') throw invalidCursor();
  return { rank: BigInt(rank), nameKey: Buffer.from(nameKey, 'base64').toString('latin1') };
}
