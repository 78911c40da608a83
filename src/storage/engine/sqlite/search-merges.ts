/**
 * Merges the parts of the index, a few pages at a time. FTS5 itself merges within commits, and one of those takes many
 * seconds once a tenth of a large part was replaced or removed.
 */

import type { Database } from './connection.ts';

/** One merge of texts takes some ten milliseconds. */
const PAGES = 16;
/** FTS5: with fewer changes there was nothing to merge. */
const CHANGES_MIN = 2;

/** Merges once; returns whether there may be more to merge. */
export type Merge = () => boolean;

export function prepareMerge(file: Database): Merge {
  const merges = ['facets', 'texts'].map((table) =>
    file.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ${PAGES})`),
  );
  const changes = file.prepare<[], number>('SELECT total_changes()').pluck();
  return () => {
    const worked = merges.map((merge) => {
      const before = changes.get() ?? 0;
      merge.run();
      return (changes.get() ?? 0) - before >= CHANGES_MIN;
    });
    return worked.includes(true);
  };
}
