/** PostgreSQL only: in which month a request is. A key is unique over all months, and no index of a partitioned table is. */

import { defineEntity } from '@mikro-orm/core';
import { id, instant, whole } from './kinds.ts';

export const RequestKey = defineEntity({
  name: 'RequestKey',
  tableName: 'request_keys',
  properties: {
    organizationNumber: whole().primary(),
    key: id().fieldName('request_key').primary(),
    keptAtMs: instant('kept_at'),
  },
});
