/** The rooms of management. Each is written once over the object mapper, and serves every database. */

import { createAuditLog } from './audit.ts';
import { createEvaluatorStore } from './evaluators.ts';
import { createPriceOverrides } from './pricing.ts';
import type { Units } from './units.ts';

export type Rooms = ReturnType<typeof createRooms>;

export function createRooms(units: Units) {
  return {
    evaluators: createEvaluatorStore(units),
    management: { ...createAuditLog(units), ...createPriceOverrides(units) },
  };
}
