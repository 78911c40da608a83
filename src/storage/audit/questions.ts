/** What is asked and stored of the audit log. */

import { sql } from 'kysely';
import { insert } from '../plain-questions.ts';
import { change, type Db, question, type Row, type Words } from '../questions.ts';

export type EntriesAsked = {
  readonly organizationId: string;
  readonly fromMs: number;
  /** What is newer is behind the end of the range, or in what was listed before. */
  readonly untilMs: number;
  readonly action: string | null;
  readonly actorUserId: string | null;
  readonly actorKeyId: string | null;
  readonly targetId: string | null;
  readonly outcome: string | null;
  /** Where the list goes on. */
  readonly createdAtMs: number;
  readonly id: string;
  readonly limit: number;
};

// One for each index: no plan would look at what is given.
export const listEntries = question<EntriesAsked>()(entries);

export const listEntriesOfTarget = question<EntriesAsked>()((db, given, words) =>
  entries(db, given, words).where('targetId', '=', given.targetId),
);

export const listEntriesOfUser = question<EntriesAsked>()((db, given, words) =>
  entries(db, given, words).where('actorUserId', '=', given.actorUserId),
);

export const listEntriesOfKey = question<EntriesAsked>()((db, given, words) =>
  entries(db, given, words).where('actorKeyId', '=', given.actorKeyId),
);

const FILTERS = ['action', 'actorUserId', 'actorKeyId', 'targetId', 'outcome'] as const;

/** Newest first. */
function entries(db: Db, given: EntriesAsked, { find }: Words) {
  return find(db, 'AuditEntry', { organizationId: given.organizationId })
    .where('createdAtMs', '>=', given.fromMs)
    .where('createdAtMs', '<=', given.untilMs)
    .where(({ eb, or }) => or([eb('createdAtMs', '<', given.createdAtMs), eb('id', '<', given.id)]))
    .where(({ and, eb, or }) =>
      and(
        FILTERS.map((filter) =>
          // What is null asks for nothing.
          or([sql<boolean>`cast(${given[filter]} as text) is null`, eb(sql.ref(filter), '=', given[filter])]),
        ),
      ),
    )
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(given.limit);
}

type Refusal = Pick<
  Row<'AuditEntry'>,
  'organizationId' | 'actorKind' | 'actorKeyId' | 'action' | 'targetType' | 'targetId' | 'outcome' | 'code'
>;

/** The last one that is the same but for its instant. */
export const findSame = question<Refusal & { readonly sinceMs: number }>()((db, given, { find }) => {
  const { organizationId, actorKind, action, targetType, outcome } = given;
  return find(db, 'AuditEntry', { organizationId, actorKind, action, targetType, outcome })
    .where('createdAtMs', '>=', given.sinceMs)
    .where('actorKeyId', 'is not distinct from', given.actorKeyId)
    .where('targetId', 'is not distinct from', given.targetId)
    .where('code', 'is not distinct from', given.code)
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1));
});

type Repeated = Pick<Row<'AuditEntry'>, 'organizationId' | 'id' | 'count'>;

export const addToCount = change<Repeated>((db, { organizationId, id, count }, { update }) =>
  update(db, 'AuditEntry', { organizationId, id }).set((column) => ({ count: column('count', '+', count) })),
);

export const insertEntry = insert('AuditEntry');
