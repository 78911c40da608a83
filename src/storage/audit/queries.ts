/** Queries of the audit log. */

import { sql } from 'kysely';
import { insert } from '../plain-queries.ts';
import { change, type Db, type Dialect, query, type Row } from '../queries.ts';

export type EntryPage = {
  readonly organizationId: string;
  readonly fromMs: number;
  /** Newer entries are outside of the range, or on an earlier page. */
  readonly untilMs: number;
  readonly action: string | null;
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly targetId: string | null;
  readonly outcome: string | null;
  /** The last entry of the page before. */
  readonly createdAtMs: number;
  readonly id: string;
  readonly limit: number;
};

// One query for each index: a prepared plan does not depend on the values of its parameters.
export const listEntries = query<EntryPage>()(entries);

export const listEntriesOfTarget = query<EntryPage>()((db, params, dialect) =>
  entries(db, params, dialect).where('targetId', '=', params.targetId),
);

export const listEntriesOfUser = query<EntryPage>()((db, params, dialect) =>
  entries(db, params, dialect).where('actorUserId', '=', params.actorUserId),
);

export const listEntriesOfKey = query<EntryPage>()((db, params, dialect) =>
  entries(db, params, dialect).where('actorKeyId', '=', params.actorKeyId),
);

const FILTERS = ['action', 'actorUserId', 'actorKeyId', 'targetId', 'outcome'] as const;

/** Newest first. */
function entries(db: Db, params: EntryPage, { find }: Dialect) {
  return find(db, 'AuditEntry', { organizationId: params.organizationId })
    .where('createdAtMs', '>=', params.fromMs)
    .where('createdAtMs', '<=', params.untilMs)
    .where(({ eb, or }) => or([eb('createdAtMs', '<', params.createdAtMs), eb('id', '<', params.id)]))
    .where(({ and, eb, or }) =>
      and(
        FILTERS.map((filter) =>
          // A null filter matches everything.
          or([sql<boolean>`cast(${params[filter]} as text) is null`, eb(sql.ref(filter), '=', params[filter])]),
        ),
      ),
    )
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(params.limit);
}

type Refusal = Pick<
  Row<'AuditEntry'>,
  'organizationId' | 'actorKind' | 'actorKeyId' | 'action' | 'targetType' | 'targetId' | 'outcome' | 'code'
>;

/** The newest entry that is equal but for its instant. */
export const findSame = query<Refusal & { readonly sinceMs: number }>()((db, params, { find }) => {
  const { organizationId, actorKind, action, targetType, outcome } = params;
  return find(db, 'AuditEntry', { organizationId, actorKind, action, targetType, outcome })
    .where('createdAtMs', '>=', params.sinceMs)
    .where('actorKeyId', 'is not distinct from', params.actorKeyId)
    .where('targetId', 'is not distinct from', params.targetId)
    .where('code', 'is not distinct from', params.code)
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1));
});

type Repeated = Pick<Row<'AuditEntry'>, 'organizationId' | 'id' | 'count'>;

export const addToCount = change<Repeated>((db, { organizationId, id, count }, { update }) =>
  update(db, 'AuditEntry', { organizationId, id }).set((column) => ({ count: column('count', '+', count) })),
);

export const insertEntry = insert('AuditEntry');
