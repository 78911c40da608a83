/** What authentication asks, and what management asks and stores of keys. */

import { expressionBuilder, sql } from 'kysely';
import { columns, insert, remove, updateRest } from '../plain-questions.ts';
import { change, type Db, question, type Tables, type Words } from '../questions.ts';

type OfHashes = { readonly keyHashes: readonly Buffer[] };
type OfSome = { readonly ids: readonly string[] };

/** Each with its grants, and with those of its owner. */
export const findApiKeys = question<OfSome>()((db, { ids }, { isAsked, listOf }) =>
  db
    .selectFrom('ApiKey')
    .innerJoin('Organization', 'Organization.id', 'ApiKey.organizationId')
    .leftJoin('Member', (join) =>
      join.onRef('Member.organizationId', '=', 'ApiKey.organizationId').onRef('Member.userId', '=', 'ApiKey.userId'),
    )
    .where(isAsked('ApiKey.id', ids))
    .select(columns('ApiKey', 'id', 'keyType', 'organizationId', 'userId', 'expiresAtMs', 'revokedAtMs'))
    .select(columns('ApiKey', 'secretHash', 'previousSecretHash', 'previousSecretUntilMs'))
    .select(columns('Organization', 'priceVersion'))
    .select('Organization.number as organizationNumber')
    .select(({ and, eb, or }) =>
      or([
        eb('ApiKey.keyType', '=', sql.lit('service')),
        and([eb('Member.userId', 'is not', null), eb('Member.disabledAtMs', 'is', null)]),
      ])
        .$castTo<boolean>()
        .as('ownerActive'),
    )
    .select(({ selectFrom }) => [
      listOf(
        selectFrom('ApiKeyBinding as grant')
          .whereRef('grant.apiKeyId', '=', 'ApiKey.id')
          .where(isGrantOnWhatExists())
          .select(columns('grant', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
          .orderBy('grant.position'),
      ).as('bindings'),
      listOf(
        selectFrom('RoleBinding as grant')
          .whereRef('grant.organizationId', '=', 'ApiKey.organizationId')
          .whereRef('grant.userId', '=', 'ApiKey.userId')
          .where(isGrantOnWhatExists())
          .select(columns('grant', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
          .orderBy('grant.id'),
      ).as('ownerBindings'),
    ]),
);

/** Of every key, revoked ones included. */
export const listKeyIds = question<Record<never, never>>()((db) => db.selectFrom('ApiKey').select('id as id'));

export const findProjects = question<OfSome>()((db, { ids }, { isAsked }) =>
  projectsOf(db).where(isAsked('Project.id', ids)),
);

/** By the keys they have, and by those before. */
export const findProjectsByKey = question<OfHashes>()((db, { keyHashes }, { isAsked }) =>
  projectsOf(db)
    .where(isAsked('Project.keyHash', keyHashes))
    .select('Project.keyHash as keyHash')
    .select(sql<number | null>`cast(null as bigint)`.as('untilMs'))
    .unionAll(
      projectsOf(db)
        .where(isAsked('Project.previousKeyHash', keyHashes))
        .where('Project.previousKeyUntilMs', 'is not', null)
        .select(({ ref }) => ref('Project.previousKeyHash').$notNull().as('keyHash'))
        .select('Project.previousKeyUntilMs as untilMs'),
    ),
);

/** The words are those of the indexes that hold what is imported. */
export const hasImported = question<Record<never, never>>()((db) =>
  db.selectNoFrom(({ exists, or, selectFrom }) =>
    or([
      exists(
        selectFrom('Project')
          .where(({ eb, lit, or }) =>
            or([eb('keyImported', '=', lit(true)), eb('previousKeyImported', '=', lit(true))]),
          )
          .select('number as number'),
      ),
      exists(
        selectFrom('ApiKey')
          .where(({ eb, lit }) => eb('imported', '=', lit(true)))
          .select('id as id'),
      ),
    ])
      .$castTo<boolean>()
      .as('hasImported'),
  ),
);

type InOrganization = { readonly organizationId: string };

/** As management sees it. */
export const findKey = question<InOrganization & { readonly id: string }>()((db, { organizationId, id }, words) =>
  recordsOf(db, organizationId, words).where('id', '=', id),
);

export type KeysAsked = InOrganization & {
  /** Of whom besides service keys; `all`: of everybody. */
  readonly personalOf: string | null;
  /** Revoked keys are left out from this instant on. */
  readonly revokedBeforeMs: number;
  /** Where the list goes on. */
  readonly createdAtMs: number;
  readonly id: string;
  readonly limit: number;
};

export const listKeys = question<KeysAsked>()((db, given, words) =>
  recordsOf(db, given.organizationId, words)
    .where(({ eb, or }) =>
      or([
        eb('keyType', '=', sql.lit('service')),
        eb('userId', '=', given.personalOf),
        sql<boolean>`${given.personalOf} = 'all'`,
      ]),
    )
    .where(({ eb, or }) => or([eb('revokedAtMs', 'is', null), eb('revokedAtMs', '<', given.revokedBeforeMs)]))
    .where(({ eb, refTuple, tuple }) => eb(refTuple('createdAtMs', 'id'), '<', tuple(given.createdAtMs, given.id)))
    .orderBy('createdAtMs', 'desc')
    .orderBy('id', 'desc')
    .limit(given.limit),
);

export const listKeysOf = question<InOrganization & { readonly userId: string }>()(
  (db, { organizationId, userId }, words) =>
    recordsOf(db, organizationId, words)
      .where('userId', '=', userId)
      .orderBy('createdAtMs', 'desc')
      .orderBy('id', 'desc'),
);

function recordsOf(db: Db, organizationId: string, { find, listOf }: Words) {
  return find(db, 'ApiKey', { organizationId }).select(({ selectFrom }) =>
    listOf(
      selectFrom('ApiKeyBinding as grant')
        .whereRef('grant.apiKeyId', '=', 'ApiKey.id')
        .select(columns('grant', 'id', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
        .orderBy('grant.position'),
    ).as('bindings'),
  );
}

export const insertKey = insert('ApiKey');

/** Leaves alone when it was last used. */
export const updateKey = updateRest('ApiKey', ['organizationId', 'id'], 'lastUsedAtMs');

export const insertKeyBinding = insert('ApiKeyBinding');

export const removeKeyBindings = remove('ApiKeyBinding', ['apiKeyId']);

/** Those that nobody is changing. */
export const holdFreeKeys = question<OfSome>()((db, { ids }, { holdFree, isOneOf }) =>
  holdFree(db.selectFrom('ApiKey').where(isOneOf('id', ids)).select('id as id')),
);

export const holdFreeProjects = question<OfSome>()((db, { ids }, { holdFree, isOneOf }) =>
  holdFree(db.selectFrom('Project').where(isOneOf('id', ids)).select('id as id')),
);

type Use = { readonly id: string; readonly atMs: number };

/** Never sets an instant back: several processes may report in any order. */
export const noteKeyUse = change<Use>((db, { id, atMs }, { update }) =>
  update(db, 'ApiKey', { id })
    .where(({ eb, or }) => or([eb('lastUsedAtMs', 'is', null), eb('lastUsedAtMs', '<', atMs)]))
    .set({ lastUsedAtMs: atMs }),
);

export const noteProjectKeyUse = change<Use>((db, { id, atMs }, { update }) =>
  update(db, 'Project', { id })
    .where(({ eb, or }) => or([eb('keyLastUsedAtMs', 'is', null), eb('keyLastUsedAtMs', '<', atMs)]))
    .set({ keyLastUsedAtMs: atMs }),
);

function projectsOf(db: Db) {
  return db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select(columns('Project', 'id', 'number', 'slug', 'organizationId', 'teamId'))
    .select(columns('Project', 'emitRequestEvents', 'traceRetentionDays', 'archivedAtMs'))
    .select(columns('Organization', 'priceVersion'))
    .select('Organization.number as organizationNumber');
}

type Granting = Tables & { grant: Tables['ApiKeyBinding'] };

/** A grant on something that is gone, or is another organization's, grants nothing. */
function isGrantOnWhatExists() {
  const { and, eb, exists, or, selectFrom } = expressionBuilder<Granting, 'ApiKey' | 'grant'>();
  return or([
    and([
      eb('grant.scopeType', '=', sql.lit('ORGANIZATION')),
      eb('grant.scopeId', '=', eb.ref('ApiKey.organizationId')),
    ]),
    and([
      eb('grant.scopeType', '=', sql.lit('TEAM')),
      exists(
        selectFrom('Team')
          .whereRef('Team.organizationId', '=', 'ApiKey.organizationId')
          .whereRef('Team.id', '=', 'grant.scopeId')
          .select('Team.id as id'),
      ),
    ]),
    and([
      eb('grant.scopeType', '=', sql.lit('PROJECT')),
      exists(
        selectFrom('Project')
          .whereRef('Project.id', '=', 'grant.scopeId')
          .whereRef('Project.organizationId', '=', 'ApiKey.organizationId')
          .where('Project.archivedAtMs', 'is', null)
          .select('Project.id as id'),
      ),
    ]),
  ]);
}
