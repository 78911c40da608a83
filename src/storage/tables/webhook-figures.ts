import { defineEntity } from '@mikro-orm/core';
import { large, whole } from './kinds.ts';

/** How many deliveries of an endpoint ended, by tens of seconds since 1970. WITHOUT ROWID on SQLite. */
export const WebhookFigure = defineEntity({
  name: 'WebhookFigure',
  tableName: 'webhook_figures',
  properties: {
    endpointNumber: whole().primary(),
    bucket: large().primary(),
    finished: whole(),
    succeeded: whole(),
  },
});
