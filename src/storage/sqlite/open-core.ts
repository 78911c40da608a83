/** Opens the database with its writer. */

import type { Clock } from '../../domain/clock.ts';
import type { Database } from './connection.ts';
import { type Core, createCore } from './core.ts';
import { openDatabase } from './schema.ts';

export type OpenCoreOptions = { readonly file: string; readonly clock: Clock };

export type OpenedCore = { readonly core: Core; readonly db: Database };

/** Throws StartError for a file that cannot be used. */
export function openCore({ file, clock }: OpenCoreOptions): OpenedCore {
  const db = openDatabase(file);
  return { core: createCore({ db, clock }), db };
}
