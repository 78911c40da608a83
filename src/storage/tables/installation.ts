/** What exists once per database. */

import { defineEntity } from '@mikro-orm/core';
import { bytes, whole } from './kinds.ts';

export const Installation = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: { id: whole().primary().autoincrement(false), verifier: bytes() },
  checks: [{ name: 'installation_is_one', expression: 'id = 1' }],
});
