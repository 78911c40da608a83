/** The store of datasets. Entries are read in steps of bounded size, so that no step keeps SQLite's writer for long. */

import type { Dataset, DatasetStore, DatasetVersion } from '../../domain/datasets/dataset.ts';
import { cutIntoBatches, readAllPages } from '../long-reads.ts';

type DatasetKey = Pick<Dataset, 'projectId' | 'id'>;

/** What the object mapper serves of the store. */
export type DatasetRoom = Omit<DatasetStore, 'versions'> & {
  /** Of the versions after one, up to another, at most `limit`, by ascending version. */
  readonly sizes: (dataset: DatasetKey, range: VersionRange, limit: number) => Promise<readonly VersionSize[]>;
  /** By ascending version. */
  readonly lines: (dataset: DatasetKey, wanted: WantedLines) => Promise<readonly VersionLines[]>;
};

type VersionRange = { readonly after: number; readonly upTo: number };
type VersionSize = Omit<DatasetVersion, 'entryLines'> & { readonly bytes: number };

/** Of each version from one to another, so many characters of its entries after others. */
type WantedLines = { readonly from: number; readonly to: number; readonly after: number; readonly limit: number };
type VersionLines = { readonly version: number; readonly lines: string };

const SIZES_AT_ONCE = 1_000;
const VERSIONS_AT_ONCE = 1_000;
const STEP_MAX_BYTES = 2 * 1024 * 1024;
/** The longest is four bytes. */
const CHARACTERS_AT_ONCE = STEP_MAX_BYTES / 4;

export function createDatasetStore(room: DatasetRoom): DatasetStore {
  return {
    ...room,
    async versions({ projectId, id }, version) {
      const key = { projectId, id };
      const sizes = await readAllPages<VersionSize>(SIZES_AT_ONCE, (last) =>
        room.sizes(key, { after: last?.version ?? 0, upTo: version }, SIZES_AT_ONCE),
      );
      const versions: DatasetVersion[] = [];
      for (const batch of cutIntoBatches(sizes, ({ bytes }) => [bytes, 1], [STEP_MAX_BYTES, VERSIONS_AT_ONCE])) {
        const lines = await readLines(room, key, batch);
        // It was removed meanwhile.
        if (lines.length < batch.length) return [];
        versions.push(...batch.map(({ bytes: _, ...head }, index) => ({ ...head, entryLines: lines[index] ?? '' })));
      }
      return versions;
    },
  };
}

/** The entries of consecutive versions; fewer than these where the dataset is removed. */
async function readLines(
  room: DatasetRoom,
  key: DatasetKey,
  batch: readonly VersionSize[],
): Promise<readonly string[]> {
  const [first, last] = [batch[0], batch.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { from: first.version, to: last.version };
  if (batch.length > 1 || first.bytes <= STEP_MAX_BYTES) {
    const found = await room.lines(key, { ...range, after: 0, limit: STEP_MAX_BYTES });
    return found.map(({ lines }) => lines);
  }
  const pieces: string[] = [];
  for (let leftBytes = first.bytes; leftBytes > 0; ) {
    const after = pieces.length * CHARACTERS_AT_ONCE;
    const [piece] = await room.lines(key, { ...range, after, limit: CHARACTERS_AT_ONCE });
    if (piece === undefined) return [];
    pieces.push(piece.lines);
    leftBytes -= Buffer.byteLength(piece.lines);
  }
  return [pieces.join('')];
}
