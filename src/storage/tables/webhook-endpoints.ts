import { defineEntity } from '@mikro-orm/core';
import type { EndpointRecord } from '../../domain/endpoint.ts';
import { bytes, id, instant, large, text, whole, word } from './kinds.ts';

export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    // Short and ascending: rows about the endpoint carry it instead of the id.
    number: whole().primary().autoincrement(),
    id: id().unique(),
    organizationId: id(),
    organizationNumber: whole(),
    destinationKind: word<EndpointRecord['destinationKind']>(),
    url: text().strictNullable(),
    // JSON without the secret.
    sqs: text().strictNullable(),
    sqsSecret: bytes().strictNullable(),
    // JSON.
    enabledEvents: text(),
    status: word<EndpointRecord['status']>(),
    disabledReason: word<EndpointRecord['disabledReason'] & string>().strictNullable(),
    disabledAtMs: instant('disabled_at').strictNullable(),
    maxBatchSize: whole(),
    maxBatchDelayMs: whole(),
    maxInFlight: whole(),
    description: text().strictNullable(),
    secret: bytes(),
    previousSecret: bytes().strictNullable(),
    previousSecretUntilMs: instant('previous_secret_until').strictNullable(),
    destinationVersion: whole(),
    run: whole(),
    version: whole(),
    changeNumber: large(),
    createdAtMs: instant('created_at'),
    updatedAtMs: instant('updated_at'),
    archivedAtMs: instant('archived_at').strictNullable(),
  },
  indexes: [
    {
      name: 'webhook_endpoints_by_organization',
      properties: ['organizationId', 'createdAtMs', 'id'],
      where: 'archived_at is null',
    },
    { name: 'webhook_endpoints_by_change', properties: ['changeNumber'] },
  ],
});
