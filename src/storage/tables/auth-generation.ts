/**
 * PostgreSQL only: every process asks for this number before it trusts what it remembers of keys and grants. SQLite has
 * one process, which knows what it changes. Triggers count in it; see the migration.
 */

import { defineEntity } from '@mikro-orm/core';
import { large, whole } from './kinds.ts';

export const AuthGeneration = defineEntity({
  name: 'AuthGeneration',
  tableName: 'auth_generation',
  properties: { id: whole().primary().autoincrement(false), number: large() },
  checks: [{ name: 'auth_generation_is_one', expression: 'id = 1' }],
});
