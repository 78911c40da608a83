import { defineEntity } from '@mikro-orm/core';
import type { AttemptOutcome } from '../../domain/delivery.ts';
import { codeOf, flag, id, instant, large, text, whole } from './kinds.ts';

/** The log of attempts. What an attempt was made of is in its delivery. */
export const WebhookAttempt = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    endpointNumber: whole().primary(),
    firedAtMs: instant('fired_at').primary(),
    id: id().primary(),
    deliveryNumber: large(),
    attempt: whole(),
    outcome: codeOf<AttemptOutcome>('attemptOutcomes'),
    responseStatus: whole().strictNullable(),
    latencyMs: whole().strictNullable(),
    error: text().strictNullable(),
    responseBody: text().strictNullable(),
    test: flag(),
    terminalHint: flag(),
  },
  indexes: [
    { name: 'webhook_attempts_by_delivery', properties: ['deliveryNumber', 'attempt'] },
    { name: 'webhook_attempts_of_tests', properties: ['endpointNumber', 'firedAtMs'], where: 'test = true' },
  ],
});
