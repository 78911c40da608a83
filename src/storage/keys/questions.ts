/** What authentication asks. */

import { expressionBuilder, sql } from 'kysely';
import { type Db, question, type Tables } from '../questions.ts';

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
    .select([
      'ApiKey.id as id',
      'ApiKey.keyType as keyType',
      'ApiKey.organizationId as organizationId',
      'Organization.number as organizationNumber',
      'ApiKey.userId as userId',
      'ApiKey.secretHash as secretHash',
      'ApiKey.previousSecretHash as previousSecretHash',
      'ApiKey.previousSecretUntilMs as previousSecretUntilMs',
      'ApiKey.expiresAtMs as expiresAtMs',
      'ApiKey.revokedAtMs as revokedAtMs',
    ])
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
          .select(['grant.role as role', 'grant.scopeType as scopeType', 'grant.scopeId as scopeId'])
          .select('grant.permissionsJson as permissionsJson')
          .orderBy('grant.position'),
      ).as('bindings'),
      listOf(
        selectFrom('RoleBinding as grant')
          .whereRef('grant.organizationId', '=', 'ApiKey.organizationId')
          .whereRef('grant.userId', '=', 'ApiKey.userId')
          .where(isGrantOnWhatExists())
          .select(['grant.role as role', 'grant.scopeType as scopeType', 'grant.scopeId as scopeId'])
          .select('grant.permissionsJson as permissionsJson')
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

function projectsOf(db: Db) {
  return db
    .selectFrom('Project')
    .innerJoin('Organization', 'Organization.id', 'Project.organizationId')
    .where('Project.archivedAtMs', 'is', null)
    .select([
      'Project.id as id',
      'Project.number as number',
      'Project.slug as slug',
      'Project.organizationId as organizationId',
      'Organization.number as organizationNumber',
      'Project.teamId as teamId',
      'Project.emitRequestEvents as emitRequestEvents',
      'Project.traceRetentionDays as traceRetentionDays',
      'Project.archivedAtMs as archivedAtMs',
    ]);
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
