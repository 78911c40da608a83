import { defineEntity } from '@mikro-orm/core';
import { whole } from './kinds.ts';

/** How many attempts an organization had, by hours since 1970. WITHOUT ROWID on SQLite. */
export const WebhookHour = defineEntity({
  name: 'WebhookHour',
  tableName: 'webhook_hours',
  properties: {
    organizationNumber: whole().primary(),
    hour: whole().primary(),
    attempts: whole(),
  },
});
