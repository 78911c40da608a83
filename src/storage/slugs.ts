/** Records with slugs: the same for datasets, evaluators, experiments and monitors. */

import type { Change, Query, QueryRunner, Transaction } from './queries.ts';

/** The verbs of a store that write, as the writer names them: `insert` of a Dataset is `insertDataset`. */
export type Verbs<Store, Verb extends keyof Store & string, Noun extends string> = {
  readonly [Each in Verb as `${Each}${Noun}`]: Store[Each];
};

type InProject = { readonly projectId: string };

type SlugQueries<Row> = {
  readonly findById: Query<InProject & { readonly id: string }, Row>;
  readonly findBySlug: Query<InProject & { readonly slug: string }, Row>;
};

/** By id first, then by slug. */
export async function findByIdOrSlug<Row>(
  { queries: { findById, findBySlug }, runQuery }: Pick<QueryRunner<SlugQueries<Row>>, 'queries' | 'runQuery'>,
  projectId: string,
  idOrSlug: string,
): Promise<Row | null> {
  const [found] = await runQuery(findById, { projectId, id: idOrSlug });
  return found ?? (await runQuery(findBySlug, { projectId, slug: idOrSlug }))[0] ?? null;
}

/** Whether a project has fewer records than `liveMax`. Locks the project, so that no other transaction counts them meanwhile. */
export async function hasRoom(
  { runQuery, queries: { organization } }: Transaction,
  { countLive }: { readonly countLive: Query<InProject, { readonly count: number }> },
  { projectId, liveMax }: InProject & { readonly liveMax: number },
): Promise<boolean> {
  await runQuery(organization.lockProject, { projectId });
  const [live] = await runQuery(countLive, { projectId });
  return live !== undefined && live.count < liveMax;
}

type Slugged<Row> = {
  readonly queries: Pick<SlugQueries<{ readonly id: string }>, 'findBySlug'> & {
    readonly insertUnlessTaken: Change<Row>;
  };
  readonly kind: 'a monitor';
};

/** Without a project row there is no lock, and another transaction may have stored the slug first. */
export async function insertUnlessTaken<Row extends InProject & { readonly id: string; readonly slug: string }>(
  { runQuery, change }: Transaction,
  { queries, kind }: Slugged<Row>,
  row: Row,
): Promise<'stored' | 'slug_taken'> {
  if ((await change(queries.insertUnlessTaken, row)) > 0) return 'stored';
  const [taken] = await runQuery(queries.findBySlug, { projectId: row.projectId, slug: row.slug });
  if (taken === undefined || taken.id === row.id) throw new Error(`the id of ${kind} is taken`);
  return 'slug_taken';
}
