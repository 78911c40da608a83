/** Opens the database with its writer, loading the object mapper only when something needs it. */

import type { Clock } from '../../domain/clock.ts';
import type { Database } from './connection.ts';
import { type Core, createCore } from './core.ts';
import type { Orm, Warn } from './orm.ts';
import { openDatabase } from './schema.ts';

export type OpenCoreOptions = { readonly file: string; readonly clock: Clock; readonly warn: Warn };

export type OpenedCore = { readonly core: Core; readonly db: Database };

/** Throws StartError for a file that cannot be used. */
export async function openCore({ file, clock, warn }: OpenCoreOptions): Promise<OpenedCore> {
  let orm: Promise<Orm> | undefined;
  const load = async (db: Database): Promise<Orm> => {
    orm ??= import('./orm.ts').then((module) => module.openOrm(db, warn));
    return await orm;
  };
  const db = await openDatabase(file, async (outdated) => await (await load(outdated)).migrate());
  const core = createCore({ db, clock, openManagement: async () => (await load(db)).management });
  return { core, db };
}
