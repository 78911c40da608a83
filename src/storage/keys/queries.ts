/** Queries of authentication. */

import { expressionBuilder, sql } from 'kysely';
import { columns, select } from '../plain-queries.ts';
import { type Db, query, type Tables } from '../queries.ts';

type OfHashes = { readonly keyHashes: readonly Buffer[] };
type OfSome = { readonly ids: readonly string[] };

/** Keys with their grants and those of their owners. */
export const findApiKeys = query<OfSome>()((db, { ids }, { isPoint, listOf }) =>
  db
    .selectFrom('ApiKey')
    .innerJoin('Organization', 'Organization.id', 'ApiKey.organizationId')
    .leftJoin('Member', (join) =>
      join.onRef('Member.organizationId', '=', 'ApiKey.organizationId').onRef('Member.userId', '=', 'ApiKey.userId'),
    )
    .where(isPoint('ApiKey.id', ids))
    .select(columns('ApiKey', 'id', 'keyType', 'organizationId', 'userId', 'expiresAtMs', 'revokedAtMs'))
    .select(columns('ApiKey', 'secretHash', 'previousSecretHash', 'previousSecretUntilMs'))
    .select(columns('Organization', 'priceVersion', 'promptVersion'))
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
          .where(isGrantOnWhatExists('ApiKey'))
          .select(columns('grant', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
          .orderBy('grant.position'),
      ).as('bindings'),
      listOf(
        selectFrom('RoleBinding as grant')
          .whereRef('grant.organizationId', '=', 'ApiKey.organizationId')
          .whereRef('grant.userId', '=', 'ApiKey.userId')
          .where(isGrantOnWhatExists('ApiKey'))
          .select(columns('grant', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
          .orderBy('grant.id'),
      ).as('ownerBindings'),
    ]),
);

/** The ids of all keys, revoked ones included. */
export const listKeyIds = select('ApiKey', [], ['id']);

export const findProjects = query<OfSome>()((db, { ids }, { isPoint }) =>
  projectsOf(db).where(isPoint('Project.id', ids)),
);

/** Projects by their current or previous keys. */
export const findProjectsByKey = query<OfHashes>()((db, { keyHashes }, { isPoint }) =>
  projectsOf(db)
    .where(isPoint('Project.keyHash', keyHashes))
    .select('Project.keyHash as keyHash')
    .select(sql<number | null>`cast(null as bigint)`.as('untilMs'))
    .unionAll(
      projectsOf(db)
        .where(isPoint('Project.previousKeyHash', keyHashes))
        .where('Project.previousKeyUntilMs', 'is not', null)
        .select(({ ref }) => ref('Project.previousKeyHash').$notNull().as('keyHash'))
        .select('Project.previousKeyUntilMs as untilMs'),
    ),
);

/** Virtual keys by their secrets or the secrets before. */
export const findVirtualKeys = query<{ readonly secretHashes: readonly Buffer[] }>()(
  (db, { secretHashes }, { isPoint, allOf }) =>
    virtualKeysOf(db)
      .where(isPoint('VirtualKey.secretHash', secretHashes))
      .select(allOf('VirtualKey', 'secretHash', 'previousSecretHash'))
      .select('VirtualKey.secretHash as hash')
      .select(sql<number | null>`cast(null as bigint)`.as('untilMs'))
      .unionAll(
        virtualKeysOf(db)
          .where(isPoint('VirtualKey.previousSecretHash', secretHashes))
          .where('VirtualKey.previousSecretUntilMs', 'is not', null)
          .select(allOf('VirtualKey', 'secretHash', 'previousSecretHash'))
          .select(({ ref }) => ref('VirtualKey.previousSecretHash').$notNull().as('hash'))
          .select('VirtualKey.previousSecretUntilMs as untilMs'),
      ),
);

/** Sessions by their secrets, with the grants of their people. */
export const findSessions = query<{ readonly secretHashes: readonly Buffer[] }>()(
  (db, { secretHashes }, { isPoint, listOf }) =>
    db
      .selectFrom('Session')
      .innerJoin('Organization', 'Organization.id', 'Session.organizationId')
      .leftJoin('Member', (join) =>
        join
          .onRef('Member.organizationId', '=', 'Session.organizationId')
          .onRef('Member.userId', '=', 'Session.userId'),
      )
      .where(isPoint('Session.secretHash', secretHashes))
      .select(columns('Session', 'organizationId', 'id', 'secretHash', 'keyHash', 'userId', 'apiKeyId', 'projectId'))
      .select(columns('Session', 'userAgent', 'ip', 'createdAtMs', 'lastSeenAtMs', 'expiresAtMs'))
      .select(columns('Organization', 'priceVersion', 'promptVersion'))
      .select('Organization.number as organizationNumber')
      .select(({ and, eb }) =>
        and([eb('Member.userId', 'is not', null), eb('Member.disabledAtMs', 'is', null)])
          .$castTo<boolean>()
          .as('ownerActive'),
      )
      .select(({ selectFrom }) =>
        listOf(
          selectFrom('RoleBinding as grant')
            .whereRef('grant.organizationId', '=', 'Session.organizationId')
            .whereRef('grant.userId', '=', 'Session.userId')
            .where(isGrantOnWhatExists('Session'))
            .select(columns('grant', 'role', 'scopeType', 'scopeId', 'permissionsJson'))
            .orderBy('grant.id'),
        ).as('ownerBindings'),
      ),
);

/** The conditions match those of the partial indexes of imported keys. */
export const hasImported = query<Record<never, never>>()((db) =>
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

/** With whether the members that they are for are active. */
function virtualKeysOf(db: Db) {
  return db.selectFrom('VirtualKey').select(({ eb, exists, or, selectFrom }) =>
    or([
      eb('VirtualKey.principalUserId', 'is', null),
      exists(
        selectFrom('Member')
          .whereRef('Member.organizationId', '=', 'VirtualKey.organizationId')
          .whereRef('Member.userId', '=', 'VirtualKey.principalUserId')
          .where('Member.disabledAtMs', 'is', null)
          .select('Member.userId as userId'),
      ),
    ])
      .$castTo<boolean>()
      .as('principalActive'),
  );
}

function projectsOf(db: Db) {
  return db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select(columns('Project', 'id', 'number', 'slug', 'organizationId', 'teamId'))
    .select(columns('Project', 'emitRequestEvents', 'traceRetentionDays', 'archivedAtMs'))
    .select(columns('Organization', 'priceVersion', 'promptVersion'))
    .select('Organization.number as organizationNumber');
}

type Granting = Tables & { grant: Tables['ApiKeyBinding'] };

/** A grant on something that was deleted, or belongs to another organization, grants nothing. */
function isGrantOnWhatExists<Holder extends 'ApiKey' | 'Session'>(holder: Holder) {
  const { and, eb, exists, or, selectFrom } = expressionBuilder<Granting, 'ApiKey' | 'Session' | 'grant'>();
  const organizationId = `${holder}.organizationId` as const;
  return or([
    and([eb('grant.scopeType', '=', sql.lit('ORGANIZATION')), eb('grant.scopeId', '=', eb.ref(organizationId))]),
    and([
      eb('grant.scopeType', '=', sql.lit('TEAM')),
      exists(
        selectFrom('Team')
          .whereRef('Team.organizationId', '=', organizationId)
          .whereRef('Team.id', '=', 'grant.scopeId')
          .select('Team.id as id'),
      ),
    ]),
    and([
      eb('grant.scopeType', '=', sql.lit('PROJECT')),
      exists(
        selectFrom('Project')
          .whereRef('Project.id', '=', 'grant.scopeId')
          .whereRef('Project.organizationId', '=', organizationId)
          .where('Project.archivedAtMs', 'is', null)
          .select('Project.id as id'),
      ),
    ]),
  ]);
}
