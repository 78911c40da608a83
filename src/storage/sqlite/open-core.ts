/** Opens the database with its writer, loading the object mapper only when something needs it. */

import type { Clock } from '../../domain/clock.ts';
import type { Database } from './connection.ts';
import { type Core, createCore } from './core.ts';
import type { Warn } from './orm.ts';
import { openDatabase } from './schema.ts';

export type OpenCoreOptions = { readonly file: string; readonly clock: Clock; readonly warn: Warn };

export type OpenedCore = { readonly core: Core; readonly db: Database };

/** Throws StartError for a file that cannot be used. */
export function openCore({ file, clock, warn }: OpenCoreOptions): OpenedCore {
  const db = openDatabase(file);
  const openManagement = async () => (await import('./orm.ts')).openManagement(db, warn);
  return { core: createCore({ db, clock, openManagement }), db };
}
