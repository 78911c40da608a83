/** What is asked and stored of the installation, of organizations and of what they have, and of idempotency keys. */

import { type ExpressionBuilder, sql } from 'kysely';
import type { ReceiptName } from '../../domain/management.ts';
import { find, insert, insertNew, pick, remove, update, updateRest, upsert } from '../plain-questions.ts';
import { change, question, type Row, type Tables } from '../questions.ts';

type OneAlone = { readonly id: string };
type InOrganization = { readonly organizationId: string };

export const findVerifier = question()((db) =>
  db.selectFrom('Installation').where('id', '=', sql.lit(1)).select('verifier as verifier'),
);

export const findAnyOrganization = question()((db) =>
  db.selectFrom('Organization').select('number as number').limit(sql.lit(1)),
);

export const findProjectNumbers = question<InOrganization & { readonly ids: readonly string[] }>()(
  (db, { organizationId, ids }, { isAsked }) =>
    db
      .selectFrom('Project')
      .where('organizationId', '=', organizationId)
      .where(isAsked('id', ids))
      .select(['id as id', 'number as number']),
);

export const findOrganization = find('Organization', ['id'], 'number', 'accessVersion', 'priceVersion');

/** Moves on with every change of what the organization manages. */
export const findVersion = question<OneAlone>()((db, { id }) =>
  db.selectFrom('Organization').where('id', '=', id).select('accessVersion as accessVersion'),
);

export const listTeams = question<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Team', { organizationId }).orderBy('createdAtMs').orderBy('id'),
);

/** What management does not see of a project. */
const OWN = ['number', 'emitRequestEvents', 'traceRetentionDays'] as const;

/** Those that are not archived. */
export const listProjects = question<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Project', { organizationId }, ...OWN)
    .where('archivedAtMs', 'is', null)
    .orderBy('createdAtMs')
    .orderBy('id'),
);

export const findProject = find('Project', ['organizationId', 'id'], ...OWN);

/** Of a project that is not archived. */
export const findSettings = question<OneAlone>()((db, { id }) =>
  db
    .selectFrom('Project')
    .where('id', '=', id)
    .where('archivedAtMs', 'is', null)
    .select(['traceRetentionDays as traceRetentionDays', 'emitRequestEvents as emitRequestEvents']),
);

/** Another project that has a key, or had it before and still works with it. */
export const findKeyHolder = question<{ readonly id: string; readonly keyHash: Buffer; readonly atMs: number }>()(
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

export const listMembers = question<InOrganization>()((db, { organizationId }, { find }) =>
  find(db, 'Member', { organizationId }).orderBy('createdAtMs').orderBy('userId'),
);

export const findMember = find('Member', ['organizationId', 'userId']);

/** Active members of any organization who hold ADMIN there. */
export const findAdministrators = question<{ readonly email: string }>()((db, { email }, { find }) =>
  find(db, 'Member', { email })
    .where('disabledAtMs', 'is', null)
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

/** `userId` null: of every member. */
export const listRoleBindings = question<InOrganization & { readonly userId: string | null }>()(
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
 * Nothing, when the version is another than expected. Whoever changes what is decided upon moves it on first, and so
 * holds it to the end: transactions that all begin with the row of the organization never hold what the other waits for.
 */
export const moveOnFrom = change<OneAlone & { readonly accessVersion: number }>(
  (db, { id, accessVersion }, { update }) => update(db, 'Organization', { id, accessVersion }).set(moved),
);

export const moveOn = change<OneAlone>((db, { id }, { update }) => update(db, 'Organization', { id }).set(moved));

export const moveOnWithProject = change<{ readonly projectId: string }>((db, { projectId }) =>
  db
    .updateTable('Organization')
    .where(({ eb, selectFrom }) => {
      const living = selectFrom('Project').where('id', '=', projectId).where('archivedAtMs', 'is', null);
      return eb('id', '=', living.select('organizationId'));
    })
    .set(moved),
);

export const storeTeam = upsert('Team');

export const insertProject = insert('Project');

/** Leaves alone its settings, and when its key was last used. */
export const updateProject = updateRest(
  'Project',
  ['organizationId', 'id'],
  'emitRequestEvents',
  'traceRetentionDays',
  'keyLastUsedAtMs',
);

export const updateSettings = update('Project', ['id'], ['emitRequestEvents', 'traceRetentionDays', 'updatedAtMs']);

export const storeMember = upsert('Member');

/** The schema removes the grants together with their member. */
export const removeMember = remove('Member', ['organizationId', 'userId']);

export const storeRoleBinding = upsert('RoleBinding');

export const removeRoleBinding = remove('RoleBinding', ['organizationId', 'userId', 'id']);

function moved(column: ExpressionBuilder<Tables, 'Organization'>) {
  return { accessVersion: column('accessVersion', '+', sql.lit(1)) };
}

const NAME = ['organizationId', 'keyId', 'operation', 'value'] as const;

export const findReceipt = find('IdempotencyReceipt', NAME, ...NAME);

/** A claim that is not completeClaim. */
export const holdClaim = question<ReceiptName & { readonly fingerprint: Buffer }>()((db, given, { find, hold }) =>
  hold(
    find(db, 'IdempotencyReceipt', { ...pick(given, ...NAME), fingerprint: given.fingerprint }).where(
      'answer',
      'is',
      null,
    ),
  ),
);

export const insertClaim = insertNew('IdempotencyReceipt');

/** Of several who try at once one succeeds: the others find another instant in the row. */
export const takeOver = change<Row<'IdempotencyReceipt'> & { readonly knownAtMs: number }>(
  (db, given, { row, update }) =>
    update(db, 'IdempotencyReceipt', { ...pick(given, ...NAME), claimedAtMs: given.knownAtMs }).set(
      row('IdempotencyReceipt', given, ...NAME),
    ),
);

export const completeClaim = update('IdempotencyReceipt', NAME, ['answer']);

/** What has an answer stays. */
export const releaseClaim = change<ReceiptName>((db, given, { remove }) =>
  remove(db, 'IdempotencyReceipt', pick(given, ...NAME)).where('answer', 'is', null),
);

/** Rows that another process is removing are left to it. */
export const sweepReceipts = change<{ readonly beforeMs: number; readonly limit: number }>((db, given, { holdFree }) =>
  db.deleteFrom('IdempotencyReceipt').where(({ eb, refTuple, selectFrom }) => {
    const forgotten = selectFrom('IdempotencyReceipt').where('claimedAtMs', '<', given.beforeMs).select(NAME);
    const some = holdFree(forgotten.orderBy('claimedAtMs').limit(given.limit));
    return eb(refTuple(...NAME), 'in', some.$asTuple(...NAME));
  }),
);
