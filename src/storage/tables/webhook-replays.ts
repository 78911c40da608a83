import { defineEntity } from '@mikro-orm/core';
import { replayStatuses } from '../rows/webhook-codes.ts';
import { code, id, instant, large, text, whole } from './kinds.ts';

const RUNNING = `status = ${replayStatuses.code('running')}`;

/** Events of a time range on their way to an endpoint once more. */
export const WebhookReplay = defineEntity({
  name: 'WebhookReplay',
  tableName: 'webhook_replays',
  properties: {
    number: whole().primary().autoincrement(),
    id: id(),
    endpointNumber: whole(),
    fromMs: instant('from_ms'),
    toMs: instant('to_ms'),
    type: text().strictNullable(),
    mask: whole(),
    position: large(),
    toSeq: large(),
    matched: large(),
    enqueued: large(),
    delivered: large(),
    dead: large(),
    status: code(),
    createdAtMs: instant('created_at'),
    completedAtMs: instant('completed_at').strictNullable(),
  },
  uniques: [{ name: 'webhook_replays_by_id', properties: ['endpointNumber', 'id'] }],
  indexes: [{ name: 'webhook_replays_running', properties: ['endpointNumber', 'number'], where: RUNNING }],
});
