/** The columns that hold values sealed with a key of the root secret, for its rotation. */

import type { EntitySchema } from '@mikro-orm/core';
import type { SealedStore } from '../../domain/management/management-port.ts';
import { WebhookEndpoint } from '../entities/endpoints.ts';
import { ModelProviderRow } from '../entities/model-providers.ts';
import { IdempotencyReceipt } from '../entities/organization.ts';
import { TriggerRow } from '../entities/triggers.ts';
import type { Units } from './units.ts';

type Row = { readonly [property: string]: unknown };

type SealedColumn = {
  readonly table: EntitySchema<Row>;
  readonly property: string;
  /** The primary key. */
  readonly key: readonly string[];
  /** What its values are bound to. */
  readonly belongsTo: (row: Row) => string;
};

const BATCH = 200;

const ENDPOINTS = { table: WebhookEndpoint as unknown as EntitySchema<Row>, key: ['number'] };

const COLUMNS: { readonly [name: string]: SealedColumn } = {
  'webhook_endpoints.secret': {
    ...{ ...ENDPOINTS, property: 'secret' },
    belongsTo: ({ id }) => `webhook_endpoints/${id}/secret`,
  },
  'webhook_endpoints.previous_secret': {
    ...{ ...ENDPOINTS, property: 'previousSecret' },
    belongsTo: ({ id }) => `webhook_endpoints/${id}/previous_secret`,
  },
  'webhook_endpoints.sqs_secret': {
    ...{ ...ENDPOINTS, property: 'sqsSecret' },
    belongsTo: ({ id }) => `webhook_endpoints/${id}/sqs_secret`,
  },
  'model_providers.api_key': {
    ...{ table: ModelProviderRow as unknown as EntitySchema<Row>, property: 'apiKey', key: ['organizationId', 'id'] },
    belongsTo: ({ id }) => `model_providers/${id}/api_key`,
  },
  'triggers.secret': {
    ...{ table: TriggerRow as unknown as EntitySchema<Row>, property: 'secret', key: ['projectId', 'id'] },
    belongsTo: ({ id }) => `triggers/${id}/secret`,
  },
  'idempotency_receipts.answer': {
    table: IdempotencyReceipt as unknown as EntitySchema<Row>,
    ...{ property: 'answer', key: ['organizationId', 'keyId', 'operation', 'value'] },
    belongsTo: () => '',
  },
};

export function createSealedStore({ read, transact }: Units): SealedStore {
  return {
    columns: async () => Object.keys(COLUMNS),
    list: (name, after) =>
      read(async (em) => {
        const { table, property, key, belongsTo } = columnOf(name);
        const page = await em.findByCursor(table, {
          where: { [property]: { $ne: null } },
          orderBy: Object.fromEntries(key.map((part) => [part, 'asc'])),
          ...{ first: BATCH, includeCount: false, disableIdentityMap: true },
          ...(after === null ? {} : { after }),
        });
        // An archived endpoint has an empty secret.
        const sealedRows = page.items.filter((row) => (row[property] as Buffer).length > 0);
        const values = sealedRows.map((row) => ({
          key: Object.fromEntries(key.map((part) => [part, row[part] as string | number])),
          belongsTo: belongsTo(row),
          sealed: row[property] as Buffer,
        }));
        return { values, next: page.hasNextPage ? page.endCursor : null };
      }),
    replace: (name, changes) =>
      transact(async ({ em }) => {
        const { table, property } = columnOf(name);
        for (const { value, sealed } of changes) {
          // A value that changed meanwhile was sealed by whoever changed it.
          await em.nativeUpdate(table, { ...value.key, [property]: value.sealed }, { [property]: sealed });
        }
      }),
  };
}

function columnOf(name: string): SealedColumn {
  const found = COLUMNS[name];
  if (found === undefined) throw new Error(`no column ${name} holds sealed values`);
  return found;
}
