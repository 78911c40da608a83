import { defineEntity } from '@mikro-orm/core';
import { bytes, flag, id, instant, text, whole } from './kinds.ts';

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    // Short and ascending: rows of the busy tables carry it instead of the id.
    number: whole().primary().autoincrement(),
    id: id().unique(),
    organizationId: id(),
    teamId: id(),
    name: text(),
    slug: id(),
    language: text(),
    framework: text(),
    emitRequestEvents: flag(),
    // Null: the project never chose. 0: it keeps them for ever.
    traceRetentionDays: whole().strictNullable(),
    keyHash: bytes().unique(),
    keyHint: text(),
    keyImported: flag(),
    previousKeyHash: bytes().strictNullable(),
    previousKeyUntilMs: instant('previous_key_until').strictNullable(),
    previousKeyImported: flag().strictNullable(),
    keyLastUsedAtMs: instant('key_last_used_at').strictNullable(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    archivedAtMs: instant('archived_at').strictNullable(),
  },
  indexes: [
    { name: 'projects_by_organization', properties: ['organizationId', 'createdAtMs'] },
    { name: 'projects_by_previous_key', properties: ['previousKeyHash'], where: 'previous_key_hash is not null' },
    { name: 'projects_imported', properties: ['number'], where: 'key_imported = true or previous_key_imported = true' },
  ],
});
