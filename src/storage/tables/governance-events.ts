import { defineEntity } from '@mikro-orm/core';
import { id, instant, large, only, whole } from './kinds.ts';

/** Events that are emitted and not listed: their envelopes are among the events, and this keeps their ids unique. */
export const GovernanceEvent = defineEntity({
  name: 'GovernanceEvent',
  tableName: 'governance_events',
  properties: {
    organizationNumber: whole().primary(),
    id: id().primary(),
    createdAtMs: instant('created_at'),
    seq: large(),
  },
  indexes: [
    // Retention goes through SQLite one organization after the other, and drops whole months on PostgreSQL.
    only('sqlite', { name: 'governance_events_by_time', properties: ['organizationNumber', 'createdAtMs'] }),
    only('postgres', { name: 'governance_events_by_time', properties: ['createdAtMs'] }),
  ],
});
