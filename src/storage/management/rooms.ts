/** The rooms of management. Each is written once over the object mapper, and serves every database. */

import { createWebhookRoom } from './endpoints.ts';
import { createEvaluatorStore } from './evaluators.ts';
import { createMonitorRoom } from './monitors.ts';
import type { Units } from './units.ts';

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(units: Units) {
  return {
    evaluators: createEvaluatorStore(units),
    monitors: createMonitorRoom(units),
    webhooks: createWebhookRoom(units),
  };
}
