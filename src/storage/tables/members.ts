import { defineEntity } from '@mikro-orm/core';
import { id, instant, text } from './kinds.ts';

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    organizationId: id().primary(),
    userId: id().primary(),
    email: id(),
    name: text(),
    disabledAtMs: instant('disabled_at').strictNullable(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
  },
  uniques: [{ name: 'members_by_email', properties: ['organizationId', 'email'] }],
});
