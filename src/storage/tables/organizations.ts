import { defineEntity } from '@mikro-orm/core';
import { id, instant, large, text, whole } from './kinds.ts';

export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    // Short and ascending: rows of the busy tables carry it instead of the id.
    number: whole().primary().autoincrement(),
    id: id().unique(),
    name: text(),
    slug: id(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    // Moves on with every change of what the organization manages; see version.ts.
    accessVersion: large().default(0),
  },
});
