/** Queries of the installation, of organizations with their records, and of idempotency keys. */

import { type ExpressionBuilder, sql } from 'kysely';
import type { ReceiptName } from '../../domain/management/management.ts';
import { find, insert, insertNew, pick, remove, rowsOf, select, update, updateRest, upsert } from '../plain-queries.ts';
import { change, query, type Row, type Tables } from '../queries.ts';

type OneAlone = { readonly id: string };
type InOrganization = { readonly organizationId: string };

export const findVerifier = query()((db) =>
  db.selectFrom('Installation').where('id', '=', sql.lit(1)).select('verifier as verifier'),
);

/** Sums and maxima of no rows are null. */
export const findInstants = query()((db) =>
  db.selectNoFrom(({ selectFrom }) => [
    selectFrom('Installation').where('id', '=', sql.lit(1)).select('trustedAtMs as trustedAtMs').as('trustedAtMs'),
    selectFrom('LogHead')
      .select(({ fn }) => fn.max('createdAtMs').as('atMs'))
      .as('logEndAtMs'),
    selectFrom('LogHead')
      .select(({ fn }) => fn.sum<number>('resets').as('sum'))
      .as('logResets'),
    selectFrom('Project')
      .select(({ fn }) => fn.max('keyLastUsedAtMs').as('atMs'))
      .as('keyUsedAtMs'),
  ]),
);

export const trust = change<{ readonly trustedAtMs: number }>((db, { trustedAtMs }, dialect) =>
  dialect.update(db, 'Installation', { id: 1 }).set({ trustedAtMs }),
);

export const findAnyOrganization = query()((db) =>
  db.selectFrom('Organization').select('number as number').limit(sql.lit(1)),
);

export const findProjectNumbers = query<InOrganization & { readonly ids: readonly string[] }>()(
  (db, { organizationId, ids }, { isPoint }) =>
    rowsOf(db, 'Project', { organizationId }).where(isPoint('id', ids)).select(['id as id', 'number as number']),
);

export const findOrganization = find('Organization', ['id'], 'number', 'accessVersion', 'priceVersion');

/** Grows with every change of what the organization manages. */
export const findVersion = select('Organization', ['id'], ['accessVersion']);

export const listTeams = query<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Team', { organizationId }).orderBy('createdAtMs').orderBy('id'),
);

/** Columns of a project that management does not see. */
const OWN = ['number', 'emitRequestEvents', 'traceRetentionDays'] as const;

/** Projects that are not archived. */
export const listProjects = query<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Project', { organizationId, archivedAtMs: null }, ...OWN)
    .orderBy('createdAtMs')
    .orderBy('id'),
);

export const findProject = find('Project', ['organizationId', 'id'], ...OWN);

/** Locks the project, so that only one transaction counts its records. */
export const lockProject = query<{ readonly projectId: string }>()((db, { projectId }, { lock }) =>
  lock(rowsOf(db, 'Project', { id: projectId }).select('number as number')),
);

/** The settings of a project that is not archived. */
export const findSettings = query<OneAlone>()((db, { id }) =>
  rowsOf(db, 'Project', { id })
    .where('archivedAtMs', 'is', null)
    .select(['traceRetentionDays as traceRetentionDays', 'emitRequestEvents as emitRequestEvents']),
);

/** Another project that has a key, or had it before and still accepts it. */
export const findKeyHolder = query<{ readonly id: string; readonly keyHash: Buffer; readonly atMs: number }>()(
  (db, { id, keyHash, atMs }) =>
    db
      .selectFrom('Project')
      .where('id', '!=', id)
      .where(({ and, eb, or }) =>
        or([
          eb('keyHash', '=', keyHash),
          and([eb('previousKeyHash', '=', keyHash), eb('previousKeyUntilMs', '>', atMs)]),
        ]),
      )
      .select('id as id')
      .limit(sql.lit(1)),
);

export const listMembers = query<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Member', { organizationId }).orderBy('createdAtMs').orderBy('userId'),
);

export const findMember = find('Member', ['organizationId', 'userId']);

/** Active members of any organization with the role ADMIN on it. */
export const findAdministrators = query<{ readonly email: string }>()((db, { email }, { find }) =>
  find(db, 'Member', { email, disabledAtMs: null })
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('RoleBinding')
          .whereRef('RoleBinding.organizationId', '=', 'Member.organizationId')
          .whereRef('RoleBinding.userId', '=', 'Member.userId')
          .where('role', '=', sql.lit('ADMIN'))
          .where('scopeType', '=', sql.lit('ORGANIZATION'))
          .whereRef('scopeId', '=', 'Member.organizationId')
          .select('RoleBinding.id as id'),
      ),
    )
    .orderBy('createdAtMs')
    .orderBy('userId'),
);

/** A `userId` of null selects the grants of all members. */
export const listRoleBindings = query<InOrganization & { readonly userId: string | null }>()(
  (db, { organizationId, userId }, { find }) =>
    find(db, 'RoleBinding', { organizationId })
      .where(({ eb, or }) => or([eb('userId', '=', userId), eb(sql`cast(${userId} as text)`, 'is', null)]))
      .orderBy('createdAtMs')
      .orderBy('id'),
);

export const insertInstallation = insertNew('Installation');

export const insertOrganization = insert('Organization');

export const updateOrganization = updateRest('Organization', ['id'], 'id', 'createdAtMs');

/**
 * Changes no row when the version differs. Every change bumps the version first, and so locks the organization until
 * its end: transactions that begin with the same row never deadlock.
 */
export const bumpAccessVersionFrom = change<OneAlone & { readonly accessVersion: number }>(
  (db, { id, accessVersion }, { update }) => update(db, 'Organization', { id, accessVersion }).set(moved),
);

export const bumpAccessVersionOfProject = change<{ readonly projectId: string }>((db, { projectId }) =>
  db
    .updateTable('Organization')
    .where(({ eb, selectFrom }) => {
      const live = selectFrom('Project').where('id', '=', projectId).where('archivedAtMs', 'is', null);
      return eb('id', '=', live.select('organizationId'));
    })
    .set(moved),
);

export const storeTeam = upsert('Team');

export const insertProject = insert('Project');

/** Keeps its settings, and when its key was last used. */
export const updateProject = updateRest(
  'Project',
  ['organizationId', 'id'],
  'emitRequestEvents',
  'traceRetentionDays',
  'keyLastUsedAtMs',
);

export const updateSettings = update('Project', ['id'], ['emitRequestEvents', 'traceRetentionDays', 'updatedAtMs']);

export const storeMember = upsert('Member');

/** The foreign key also removes the member's grants. */
export const removeMember = remove('Member', ['organizationId', 'userId']);

export const storeRoleBinding = upsert('RoleBinding');

export const removeRoleBinding = remove('RoleBinding', ['organizationId', 'userId', 'id']);

function moved(column: ExpressionBuilder<Tables, 'Organization'>) {
  return { accessVersion: column('accessVersion', '+', sql.lit(1)) };
}

const NAME = ['organizationId', 'keyId', 'operation', 'value'] as const;

export const findReceipt = find('IdempotencyReceipt', NAME, ...NAME);

/** Locks a claim that has no answer yet. */
export const lockClaim = query<ReceiptName & { readonly fingerprint: Buffer }>()((db, params, { find, lock }) =>
  lock(find(db, 'IdempotencyReceipt', { ...pick(params, ...NAME), fingerprint: params.fingerprint, answer: null })),
);

export const insertClaim = insertNew('IdempotencyReceipt');

/** Of several concurrent attempts one succeeds: the others find another instant in the row. */
export const takeOver = change<Row<'IdempotencyReceipt'> & { readonly knownAtMs: number }>(
  (db, params, { row, update }) =>
    update(db, 'IdempotencyReceipt', { ...pick(params, ...NAME), claimedAtMs: params.knownAtMs }).set(
      row('IdempotencyReceipt', params, ...NAME),
    ),
);

export const completeClaim = update('IdempotencyReceipt', NAME, ['answer']);

/** Receipts with an answer stay. */
export const releaseClaim = change<ReceiptName>((db, params, { remove }) =>
  remove(db, 'IdempotencyReceipt', { ...pick(params, ...NAME), answer: null }),
);

/** Skips rows that another process is removing. */
export const removeOldReceipts = change<{ readonly beforeMs: number; readonly limit: number }>(
  (db, params, { lockAvailable }) =>
    db.deleteFrom('IdempotencyReceipt').where(({ eb, refTuple, selectFrom }) => {
      const expired = selectFrom('IdempotencyReceipt').where('claimedAtMs', '<', params.beforeMs).select(NAME);
      const some = lockAvailable(expired.orderBy('claimedAtMs').limit(params.limit));
      return eb(refTuple(...NAME), 'in', some.$asTuple(...NAME));
    }),
);
