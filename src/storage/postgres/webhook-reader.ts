/** Reading what was sent to endpoints and what became of it. */

import type { Attempt, Delivery } from '../../domain/delivery.ts';
import type { DescendingPage, WebhookStore } from '../../domain/webhook-store.ts';
import { deliveryStatuses } from '../rows/webhook-codes.ts';
import type { Lane, Statement } from './connection.ts';
import {
  ATTEMPT_SELECT,
  type AttemptRow,
  DELIVERY_SELECT,
  type DeliveryRow,
  toAttempt,
  toDelivery,
} from './webhook-rows.ts';

export type WebhookReader = Pick<WebhookStore, 'attempts' | 'delivery' | 'attemptsOf' | 'deadLetters'>;

export function createWebhookReader(lane: Lane): WebhookReader {
  async function attempts(endpointNumber: number, { after, limit }: DescendingPage): Promise<readonly Attempt[]> {
    const rows = await (after === null
      ? lane.ask<AttemptRow>(ATTEMPTS, [endpointNumber, limit])
      : lane.ask<AttemptRow>(ATTEMPTS_AFTER, [endpointNumber, limit, after.atMs, after.id]));
    return rows.map(toAttempt);
  }

  async function deadLetters(endpointNumber: number, { after, limit }: DescendingPage): Promise<readonly Delivery[]> {
    const rows = await (after === null
      ? lane.ask<DeliveryRow>(DEAD_LETTERS, [endpointNumber, limit])
      : lane.ask<DeliveryRow>(DEAD_LETTERS_AFTER, [endpointNumber, limit, after.atMs, after.id]));
    return rows.map(toDelivery);
  }

  return {
    attempts,
    async delivery(endpointNumber, dispatchId) {
      if (!isStorable(dispatchId)) return null;
      const [row] = await lane.ask<DeliveryRow>(DELIVERY, [endpointNumber, dispatchId]);
      return row === undefined ? null : toDelivery(row);
    },
    async attemptsOf(endpointNumber, dispatchId, limit) {
      if (!isStorable(dispatchId)) return [];
      return (await lane.ask<AttemptRow>(ATTEMPTS_OF, [endpointNumber, dispatchId, limit])).map(toAttempt);
    },
    deadLetters,
  };
}

/** PostgreSQL refuses the character in text, so nothing that is stored has it. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000');
}

function attemptsWhere(condition: string): string {
  return `${ATTEMPT_SELECT} WHERE attempts.endpoint_number = $1 ${condition}
    ORDER BY attempts.fired_at DESC, attempts.id DESC LIMIT $2`;
}

const ATTEMPTS: Statement = { name: 'webhook-attempts', text: attemptsWhere('') };

const ATTEMPTS_AFTER: Statement = {
  name: 'webhook-attempts-after',
  text: attemptsWhere('AND (attempts.fired_at, attempts.id) < ($3, $4)'),
};

const ATTEMPTS_OF: Statement = {
  name: 'webhook-attempts-of',
  text: `${ATTEMPT_SELECT} WHERE deliveries.endpoint_number = $1 AND deliveries.dispatch_id = $2
    ORDER BY attempts.attempt DESC LIMIT $3`,
};

const DELIVERY: Statement = {
  name: 'webhook-delivery',
  text: `${DELIVERY_SELECT} WHERE deliveries.endpoint_number = $1 AND deliveries.dispatch_id = $2`,
};

function deadLettersWhere(condition: string): string {
  // The status stands in the text: only then can the database use the index of the dead.
  return `${DELIVERY_SELECT}
    WHERE deliveries.endpoint_number = $1 AND deliveries.status = ${deliveryStatuses.code('dead')}
      AND NOT deliveries.test ${condition}
    ORDER BY deliveries.ended_at DESC, deliveries.dispatch_id DESC LIMIT $2`;
}

const DEAD_LETTERS: Statement = { name: 'dead-letters', text: deadLettersWhere('') };

const DEAD_LETTERS_AFTER: Statement = {
  name: 'dead-letters-after',
  text: deadLettersWhere('AND (deliveries.ended_at, deliveries.dispatch_id) < ($3, $4)'),
};
