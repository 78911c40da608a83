/**
 * SQLite only: the order of the log, WITHOUT ROWID as the migration says. Apart from the envelopes, so that ids are kept
 * once and pages hold many entries.
 */

import { defineEntity } from '@mikro-orm/core';
import { eventTypes } from '../rows/codes.ts';
import { code, id, instant, large, whole } from './kinds.ts';

const SETTLED = `type = ${eventTypes.code('gateway.request.settled')}`;

export const EventByTime = defineEntity({
  name: 'EventByTime',
  tableName: 'events_by_time',
  properties: {
    organizationNumber: whole().primary(),
    createdAtMs: instant('created_at').primary(),
    id: id().primary(),
    type: code(),
    seq: large(),
  },
  indexes: [{ name: 'events_settled', properties: ['organizationNumber', 'createdAtMs', 'id'], where: SETTLED }],
});
