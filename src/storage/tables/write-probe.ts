/**
 * Takes a row and loses it again when the store finds out whether writing works once more. On PostgreSQL the migration
 * forbids to compress it: compressed, the row would find room in a file that cannot grow any more.
 */

import { defineEntity } from '@mikro-orm/core';
import { bytes, whole } from './kinds.ts';

export const WriteProbe = defineEntity({
  name: 'WriteProbe',
  tableName: 'write_probe',
  properties: { id: whole().primary().autoincrement(), filler: bytes() },
});
