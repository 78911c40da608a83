import { defineEntity } from '@mikro-orm/core';
import { instant, large, whole } from './kinds.ts';

/** The ends of the logs. */
export const LogHead = defineEntity({
  name: 'LogHead',
  tableName: 'log_heads',
  properties: {
    organizationNumber: whole().primary().autoincrement(false),
    seq: large(),
    createdAtMs: instant('created_at'),
    lastKeyIndex: whole(),
  },
});
