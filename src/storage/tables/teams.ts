import { defineEntity } from '@mikro-orm/core';
import { id, instant, text } from './kinds.ts';

export const Team = defineEntity({
  name: 'Team',
  tableName: 'teams',
  properties: {
    organizationId: id().primary(),
    id: id().primary(),
    name: text(),
    slug: id(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
  },
});
