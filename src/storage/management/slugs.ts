/** Records with slugs: the same for datasets, evaluators, experiments and monitors. A deleted record stays, hidden. */

import { type EntitySchema, LockMode } from '@mikro-orm/core';
import { Project } from '../entities/organization.ts';
import type { EntityManager } from '../mapper.ts';
import { type Plain, plain } from './units.ts';

export type Slugged = {
  projectId: string;
  id: string;
  slug: string;
  name: string;
  createdAtMs: number;
  updatedAtMs: number;
  deletedAtMs: number | null;
};

// The mapper's types resolve filters only of known entities, so these functions see a table by the common columns.
type Table<Row extends Slugged> = EntitySchema<Row>;
const common = <Row extends Slugged>(table: Table<Row>) => table as unknown as EntitySchema<Slugged>;

type Named = { readonly projectId: string; readonly idOrSlug: string };

/** By id first, then by slug. */
export async function findLive<Row extends Slugged>(
  em: EntityManager,
  table: Table<Row>,
  { projectId, idOrSlug }: Named,
): Promise<Plain<Row, 'deletedAtMs'> | null> {
  const live = { projectId, deletedAtMs: null };
  const found =
    (await em.findOne(common(table), { ...live, id: idOrSlug })) ??
    (await em.findOne(common(table), { ...live, slug: idOrSlug }));
  return found === null ? null : plain(found as unknown as Row, 'deletedAtMs');
}

type Page = { readonly projectId: string; readonly limit: number };

export async function listNewest<Row extends Slugged>(
  em: EntityManager,
  table: Table<Row>,
  { projectId, limit }: Page,
): Promise<readonly Plain<Row, 'deletedAtMs'>[]> {
  const newest = { orderBy: { createdAtMs: 'desc', id: 'desc' }, limit } as const;
  const rows = await em.find(common(table), { projectId, deletedAtMs: null }, newest);
  return rows.map((row) => plain(row as unknown as Row, 'deletedAtMs'));
}

/** Whether a project has fewer records than `liveMax`. Locks the project, so that no other transaction counts them meanwhile. */
export async function hasRoom<Row extends Slugged>(
  em: EntityManager,
  table: Table<Row>,
  { projectId, liveMax }: { readonly projectId: string; readonly liveMax: number },
): Promise<boolean> {
  await lockProject(em, projectId);
  return (await em.count(common(table), { projectId, deletedAtMs: null })) < liveMax;
}

export async function lockProject(em: EntityManager, projectId: string): Promise<void> {
  await em.findOne(Project, { id: projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE, fields: ['id'] });
}

/** Without a project row there is no lock, and another transaction may have stored the slug first. */
export async function insertUnlessTaken<Row extends Slugged>(
  em: EntityManager,
  table: Table<Row>,
  row: Plain<Row>,
): Promise<'stored' | 'slug_taken'> {
  const known = row as unknown as Slugged;
  const { affectedRows } = await em
    .createQueryBuilder(common(table))
    .insert(known)
    .onConflict()
    .ignore()
    .execute('run');
  if (affectedRows > 0) return 'stored';
  const { projectId, slug, id } = known;
  const taken = await em.findOne(common(table), { projectId, slug, deletedAtMs: null });
  if (taken === null || taken.id === id) throw new Error(`the id in ${table.meta.tableName} is taken`);
  return 'slug_taken';
}

type Hiding = { readonly projectId: string; readonly id: string; readonly nowMs: number };

/** False when there is no such record. */
export async function hide<Row extends Slugged>(
  em: EntityManager,
  table: Table<Row>,
  { projectId, id, nowMs }: Hiding,
): Promise<boolean> {
  return (await em.nativeUpdate(common(table), { projectId, id, deletedAtMs: null }, { deletedAtMs: nowMs })) > 0;
}
