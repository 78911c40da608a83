import { defineEntity } from '@mikro-orm/core';
import type { Binding } from '../../domain/keys/permissions.ts';
import { bigInteger, bytes, enumText, flag, id, instant, integer, json, table, text, times } from './kinds.ts';

/** What exists once per database. */
export const Installation = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: integer().primary().autoincrement(false),
    verifier: bytes(),
    // Retention trusts the clock up to here; see retention-clock.ts.
    trustedAtMs: instant('trusted_at').strictNullable(),
    // That of an earlier root secret, sealed; null: the root secret was never replaced.
    pepper: bytes().strictNullable(),
  },
  checks: [{ name: 'installation_is_one', expression: 'id = 1' }],
});

export const Organization = table('Organization', 'organizations', {
  // Short and ascending: rows of the busy tables refer to it instead of to the id.
  number: integer().primary().autoincrement(),
  id: id().unique(),
  name: text(),
  slug: id(),
  ...times(),
  // Grows with every change of what the organization manages.
  accessVersion: bigInteger().default(0),
  // Grows with every change of its price overrides; 0: it never had one.
  priceVersion: bigInteger().default(0),
  // The same of its budgets.
  budgetVersion: bigInteger().default(0),
  // The same of its prompts and their tags.
  promptVersion: bigInteger().default(0),
});

export const Team = table('Team', 'teams', {
  organizationId: id().primary(),
  id: id().primary(),
  name: text(),
  slug: id(),
  ...times(),
});

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    // Short and ascending: rows of the busy tables refer to it instead of to the id.
    number: integer().primary().autoincrement(),
    id: id().unique(),
    organizationId: id(),
    teamId: id(),
    name: text(),
    slug: id(),
    language: text(),
    framework: text(),
    emitRequestEvents: flag(),
    // Null: never set. 0: traces are kept for ever.
    traceRetentionDays: integer().strictNullable(),
    keyHash: bytes().unique(),
    keyHint: text(),
    keyImported: flag(),
    previousKeyHash: bytes().strictNullable(),
    previousKeyUntilMs: instant('previous_key_until').strictNullable(),
    previousKeyImported: flag().strictNullable(),
    keyLastUsedAtMs: instant('key_last_used_at').strictNullable(),
    ...times(),
    archivedAtMs: instant('archived_at').strictNullable(),
  },
  indexes: [
    { name: 'projects_by_organization', properties: ['organizationId', 'createdAtMs'] },
    { name: 'projects_by_previous_key', properties: ['previousKeyHash'], where: 'previous_key_hash is not null' },
    { name: 'projects_imported', properties: ['number'], where: 'key_imported = true or previous_key_imported = true' },
  ],
});

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    organizationId: id().primary(),
    userId: id().primary(),
    email: id(),
    name: text(),
    disabledAtMs: instant('disabled_at').strictNullable(),
    ...times(),
  },
  uniques: [{ name: 'members_by_email', properties: ['organizationId', 'email'] }],
});

/** Who members are to the issuers through which they sign in. */
export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: {
    organizationId: id().primary(),
    userId: id().primary(),
    issuer: id().primary(),
    subject: id(),
    createdAtMs: instant('created_at'),
  },
  uniques: [{ name: 'identities_by_subject', properties: ['issuer', 'subject'] }],
});

/** The grants of members. */
export const RoleBinding = table('RoleBinding', 'role_bindings', {
  organizationId: id().primary(),
  userId: id().primary(),
  id: id().primary(),
  role: enumText<Binding['role']>(),
  scopeType: enumText<Binding['scopeType']>(),
  scopeId: id(),
  permissionsJson: json('permissions'),
  createdAtMs: instant('created_at'),
});

/** Idempotency keys and their answers. */
export const IdempotencyReceipt = defineEntity({
  name: 'IdempotencyReceipt',
  tableName: 'idempotency_receipts',
  properties: {
    organizationId: id().primary(),
    keyId: id().primary(),
    operation: id().primary(),
    value: id().primary(),
    fingerprint: bytes(),
    claimedAtMs: instant('claimed_at'),
    // Null until the effect is committed: then the row is a claim.
    answer: bytes().strictNullable(),
  },
  indexes: [{ name: 'idempotency_receipts_by_time', properties: ['claimedAtMs'] }],
});
