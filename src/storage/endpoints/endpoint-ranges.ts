/** Parts of queries that maintenance runs on some endpoints at a time. */

import { type SqlBool, sql } from 'kysely';
import type { DeliveryStatus } from '../../domain/delivery/delivery.ts';
import type { Db } from '../queries.ts';
import { deliveryStatuses } from '../rows/codes.ts';

/** Endpoints after one number and up to another. */
export type OfRange = { readonly after: number; readonly last: number; readonly limit: number };

export function endpointsOf(db: Db, { after, last }: OfRange) {
  return db
    .selectFrom('WebhookEndpoint as endpoint')
    .where('endpoint.number', '>', after)
    .where('endpoint.number', '<=', last);
}

export function unfinishedOf(db: Db, params: OfRange) {
  return endpointsOf(db, params)
    .crossJoin('WebhookDelivery as delivery')
    .whereRef('delivery.endpointNumber', '=', 'endpoint.number')
    .where('delivery.endedAtMs', 'is', null)
    .where('delivery.test', '=', sql.lit(false))
    .select(['delivery.number as number', 'delivery.endpointNumber as endpointNumber']);
}

/** As literals in the SQL, because the stores use partial indexes by status only then. */
export function hasStatus(...statuses: readonly DeliveryStatus[]) {
  return sql<SqlBool>`${sql.ref('delivery.status')} in (${sql.join(statuses.map((status) => sql.lit(deliveryStatuses.code(status))))})`;
}
