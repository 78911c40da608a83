import { defineEntity } from '@mikro-orm/core';
import { instant, json, large, whole } from './kinds.ts';

/**
 * What deliveries change all the time of an endpoint, apart from what its owner decides. The row is the mutex of its
 * endpoint: whoever changes anything about the endpoint takes it first.
 */
export const WebhookState = defineEntity({
  name: 'WebhookState',
  tableName: 'webhook_states',
  properties: {
    endpointNumber: whole().primary().autoincrement(false),
    position: large(),
    inFlight: whole(),
    subscriptionsJson: json('subscriptions'),
    failingSinceMs: instant('failing_since').strictNullable(),
    lastSuccessAtMs: instant('last_success_at').strictNullable(),
    lastFailureAtMs: instant('last_failure_at').strictNullable(),
    consecutiveFailures: whole(),
  },
});
