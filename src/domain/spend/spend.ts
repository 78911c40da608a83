/** The spend of an organization. */

import { tooLongFault } from '../analytics/analytics.ts';
import type { Organization } from '../caller.ts';
import type { CursorCodec } from '../cursor.ts';
import { bindFilter, invalidCursor } from '../management/listing.ts';
import { requireRange } from '../reasons.ts';
import { retentionStartMs } from '../retention-terms.ts';
import { positionOf } from './group-order.ts';
import {
  SPEND_DIMENSIONS,
  type SpendGroup,
  type SpendPosition,
  type SpendQuery,
  type SpendStore,
  type SpendTotals,
} from './spend-store.ts';

type SpendRequest = Pick<SpendQuery, 'fromMs' | 'toMs' | 'groupBy' | 'filters' | 'order'> & {
  /** Empty: the first page. */
  readonly cursor: string;
  /** Groups per page; null: LIMIT_DEFAULT. */
  readonly limit: number | null;
};

type SpendPage = {
  readonly groups: readonly SpendGroup[];
  readonly total: SpendTotals;
  readonly nextCursor: string | null;
};

export type Spend = {
  /** Throws validation_error, invalid_cursor for a cursor of another query, unavailable when the sums take too long. */
  query(organization: Organization, request: SpendRequest, nowMs: number): Promise<SpendPage>;
};

type SpendDeps = { readonly store: SpendStore; readonly cursors: CursorCodec };

const LIMIT_DEFAULT = 100;

export function createSpend({ store, cursors }: SpendDeps): Spend {
  return {
    async query(organization, { cursor, limit: requested, ...request }, nowMs) {
      const { fromMs, toMs, order } = request;
      requireRange(fromMs, toMs);
      const binding = bindingOf(organization, request);
      const after = cursor === '' ? null : openPosition(cursors, binding, cursor);
      const limit = requested ?? LIMIT_DEFAULT;
      const answer = await store.sum({
        ...request,
        organizationNumber: organization.number,
        expiredBeforeMs: retentionStartMs(nowMs),
        after,
        // One group more than requested shows whether a further page exists.
        limit: limit + 1,
      });
      if (answer.kind === 'too_long') throw tooLongFault();
      const groups = answer.groups.slice(0, limit);
      const last = groups.at(-1);
      const isMore = answer.groups.length > limit && last !== undefined;
      const nextCursor = isMore ? cursors.seal(binding, sealed(positionOf(last.group, last.spent, order))) : null;
      return { groups, total: answer.total, nextCursor };
    },
  };
}

type BoundRequest = Omit<SpendRequest, 'cursor' | 'limit'>;

function bindingOf({ id }: Organization, { fromMs, toMs, groupBy, order, filters }: BoundRequest): readonly string[] {
  const bound = SPEND_DIMENSIONS.map((dimension) => bindFilter(filters[dimension] ?? null));
  return ['spend', id, String(fromMs), String(toMs), groupBy ?? '', order, ...bound];
}

function sealed({ rank, nameKey }: SpendPosition): readonly [string, string] {
  return [String(rank), Buffer.from(nameKey, 'latin1').toString('base64')];
}

function openPosition(cursors: CursorCodec, binding: readonly string[], cursor: string): SpendPosition {
  const [rank, nameKey] = cursors.open(binding, cursor) ?? [];
  if (typeof rank !== 'string' || typeof nameKey !== 'string') throw invalidCursor();
  return { rank: BigInt(rank), nameKey: Buffer.from(nameKey, 'base64').toString('latin1') };
}
