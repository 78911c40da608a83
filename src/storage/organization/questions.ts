/** What is asked and stored of whole organizations without the object mapper, so that a first start need not load it. */

import { sql } from 'kysely';
import { change, question } from '../questions.ts';

export const findVerifier = question<Record<never, never>>()((db) =>
  db.selectFrom('Installation').where('id', '=', sql.lit(1)).select('verifier as verifier'),
);

export const findAnyOrganization = question<Record<never, never>>()((db) =>
  db.selectFrom('Organization').select('number as number').limit(sql.lit(1)),
);

export const findProjectNumbers = question<{ readonly organizationId: string; readonly ids: readonly string[] }>()(
  (db, { organizationId, ids }, { isAsked }) =>
    db
      .selectFrom('Project')
      .where('organizationId', '=', organizationId)
      .where(isAsked('id', ids))
      .select(['id as id', 'number as number']),
);

type Times = { readonly createdAtMs: number; readonly updatedAtMs: number };
type Named = { readonly id: string; readonly name: string; readonly slug: string };
type Grant = {
  readonly role: 'ADMIN';
  readonly scopeType: 'ORGANIZATION';
  readonly scopeId: string;
  readonly permissionsJson: string;
};

export const insertInstallation = change<{ readonly id: number; readonly verifier: Buffer }>((db, given) =>
  db.insertInto('Installation').values({ id: given.id, verifier: given.verifier }),
);

export const insertOrganization = change<Named & Times & { readonly accessVersion: number }>((db, given) =>
  db.insertInto('Organization').values({
    id: given.id,
    name: given.name,
    slug: given.slug,
    createdAtMs: given.createdAtMs,
    updatedAtMs: given.updatedAtMs,
    accessVersion: given.accessVersion,
  }),
);

export const insertTeam = change<Named & Times & { readonly organizationId: string }>((db, given) =>
  db.insertInto('Team').values({
    organizationId: given.organizationId,
    id: given.id,
    name: given.name,
    slug: given.slug,
    createdAtMs: given.createdAtMs,
    updatedAtMs: given.updatedAtMs,
  }),
);

export type NewProject = Named &
  Times & {
    readonly organizationId: string;
    readonly teamId: string;
    readonly language: string;
    readonly framework: string;
    readonly emitRequestEvents: boolean;
    readonly keyHash: Buffer;
    readonly keyHint: string;
    readonly keyImported: boolean;
  };

export const insertProject = change<NewProject>((db, given) =>
  db.insertInto('Project').values({
    id: given.id,
    organizationId: given.organizationId,
    teamId: given.teamId,
    name: given.name,
    slug: given.slug,
    language: given.language,
    framework: given.framework,
    emitRequestEvents: given.emitRequestEvents,
    keyHash: given.keyHash,
    keyHint: given.keyHint,
    keyImported: given.keyImported,
    createdAtMs: given.createdAtMs,
    updatedAtMs: given.updatedAtMs,
  }),
);

export type NewMember = Times & {
  readonly organizationId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
};

export const insertMember = change<NewMember>((db, given) =>
  db.insertInto('Member').values({
    organizationId: given.organizationId,
    userId: given.userId,
    email: given.email,
    name: given.name,
    createdAtMs: given.createdAtMs,
    updatedAtMs: given.updatedAtMs,
  }),
);

export type NewRoleBinding = Grant & {
  readonly organizationId: string;
  readonly userId: string;
  readonly id: string;
  readonly createdAtMs: number;
};

export const insertRoleBinding = change<NewRoleBinding>((db, given) =>
  db.insertInto('RoleBinding').values({
    organizationId: given.organizationId,
    userId: given.userId,
    id: given.id,
    role: given.role,
    scopeType: given.scopeType,
    scopeId: given.scopeId,
    permissionsJson: given.permissionsJson,
    createdAtMs: given.createdAtMs,
  }),
);

export type FirstApiKey = Times & {
  readonly id: string;
  readonly organizationId: string;
  readonly keyType: 'personal';
  readonly name: string;
  readonly userId: string;
  readonly permissionMode: 'all';
  readonly secretHash: Buffer;
  readonly imported: boolean;
};

export const insertApiKey = change<FirstApiKey>((db, given) =>
  db.insertInto('ApiKey').values({
    id: given.id,
    organizationId: given.organizationId,
    keyType: given.keyType,
    name: given.name,
    userId: given.userId,
    permissionMode: given.permissionMode,
    secretHash: given.secretHash,
    imported: given.imported,
    createdAtMs: given.createdAtMs,
    updatedAtMs: given.updatedAtMs,
  }),
);

export const insertApiKeyBinding = change<
  Grant & { readonly apiKeyId: string; readonly position: number; readonly id: string }
>((db, given) =>
  db.insertInto('ApiKeyBinding').values({
    apiKeyId: given.apiKeyId,
    position: given.position,
    id: given.id,
    role: given.role,
    scopeType: given.scopeType,
    scopeId: given.scopeId,
    permissionsJson: given.permissionsJson,
  }),
);

export type FirstAuditEntry = {
  readonly organizationId: string;
  readonly id: string;
  readonly createdAtMs: number;
  readonly actorKind: 'bootstrap' | 'cli';
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly outcome: 'success';
  readonly status: number;
  readonly fieldsJson: string;
  readonly count: number;
};

export const insertAuditEntry = change<FirstAuditEntry>((db, given) =>
  db.insertInto('AuditEntry').values({
    organizationId: given.organizationId,
    id: given.id,
    createdAtMs: given.createdAtMs,
    actorKind: given.actorKind,
    action: given.action,
    targetType: given.targetType,
    targetId: given.targetId,
    outcome: given.outcome,
    status: given.status,
    fieldsJson: given.fieldsJson,
    count: given.count,
  }),
);
