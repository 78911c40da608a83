import { defineEntity } from '@mikro-orm/core';
import { large, whole } from './kinds.ts';

/** One row: the number of the newest change of endpoints. */
export const WebhookChangeCount = defineEntity({
  name: 'WebhookChangeCount',
  tableName: 'webhook_changes',
  properties: { id: whole().primary().autoincrement(false), number: large() },
  checks: [{ name: 'webhook_changes_is_one', expression: 'id = 1' }],
});
