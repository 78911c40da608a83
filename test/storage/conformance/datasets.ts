import { describe, expect, it } from 'vitest';
import type { Dataset, DatasetVersion } from '../../../src/domain/datasets/dataset.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MANY = 1000;
const AT_MS = 1_760_000_000_000;

function sampleDataset(changes: Partial<Dataset> = {}): Dataset {
  return {
    id: 'dataset_1',
    projectId: 'project_1',
    name: 'Größe',
    slug: 'a-slug',
    version: 1,
    entryCount: 1,
    totalBytes: 7,
    createdAtMs: AT_MS,
    updatedAtMs: AT_MS,
    ...changes,
  };
}

const samplePart = (version = 1): DatasetVersion => ({
  version,
  firstPosition: version - 1,
  entryLines: `{"z":1.50,"a":"Ü"}\n{"version":${version}}`,
  createdAtMs: AT_MS + version,
});

export function datasetConformance(open: OpenManagement): void {
  describe('datasets', () => {
    it(
      'are found by id and by slug, whole, and by no other project',
      withStore(open, async ({ datasets }) => {
        const dataset = sampleDataset();
        expect(await datasets.insert(dataset, samplePart(), MANY)).toBe('stored');
        expect(await datasets.find('project_1', dataset.id)).toEqual(dataset);
        expect(await datasets.find('project_1', dataset.slug)).toEqual(dataset);
        expect(await datasets.find('project_1', 'A-Slug')).toBeNull();
        expect(await datasets.find('project_2', dataset.id)).toBeNull();
        expect(await datasets.versions(dataset, 1)).toEqual([samplePart()]);
        expect(await datasets.versions({ projectId: 'project_2', id: dataset.id }, 1)).toEqual([]);
      }),
    );

    it(
      'keep slugs unique in the project, and to its limit',
      withStore(open, async ({ datasets }) => {
        await datasets.insert(sampleDataset(), samplePart(), MANY);
        const other = { id: 'dataset_2', createdAtMs: AT_MS + 1 };
        expect(await datasets.insert(sampleDataset(other), samplePart(), MANY)).toBe('slug_taken');
        expect(await datasets.insert(sampleDataset({ ...other, projectId: 'project_2' }), samplePart(), 1)).toBe(
          'stored',
        );
        expect(await datasets.insert(sampleDataset({ ...other, slug: 'b' }), samplePart(), 1)).toBe('limit_reached');
        expect(await datasets.insert(sampleDataset({ ...other, slug: 'b' }), samplePart(), 2)).toBe('stored');
        const ids = (await datasets.list('project_1', MANY)).map(({ id }) => id);
        expect(ids).toEqual(['dataset_2', 'dataset_1']);
        expect(await datasets.list('project_1', 1)).toHaveLength(1);
      }),
    );

    it(
      'take a part only where it follows the newest one',
      withStore(open, async ({ datasets }) => {
        await datasets.insert(sampleDataset(), samplePart(), MANY);
        const grown = sampleDataset({ version: 2, entryCount: 2, totalBytes: 14, updatedAtMs: AT_MS + 2 });
        expect(await datasets.append(grown, samplePart(2))).toBe('stored');
        expect(await datasets.append(grown, samplePart(2))).toBe('stale');
        expect(await datasets.append({ ...grown, projectId: 'project_2' }, samplePart(3))).toBe('stale');
        expect(await datasets.find('project_1', 'dataset_1')).toEqual(grown);
        expect(await datasets.versions(grown, 2)).toEqual([samplePart(1), samplePart(2)]);
        expect(await datasets.versions(grown, 1)).toEqual([samplePart(1)]);
      }),
    );

    it(
      'are read whole, however long their entries are, and however many versions they have',
      withStore(open, async ({ datasets }, { execute }) => {
        const dataset = sampleDataset();
        const long = { ...samplePart(), entryLines: JSON.stringify({ a: 'aß日😀"\\'.repeat(300_000) }) };
        await datasets.insert(dataset, long, MANY);
        await execute(`INSERT INTO dataset_parts
          (project_id, dataset_id, version, first_position, entry_lines, created_at)
          WITH RECURSIVE numbers (number) AS (SELECT 2 UNION ALL SELECT number + 1 FROM numbers WHERE number < 2500)
          SELECT 'project_1', 'dataset_1', number, number - 1, '{"n":' || number || '}', number FROM numbers`);
        const versions = await datasets.versions(dataset, 2_400);
        expect(versions).toHaveLength(2_400);
        expect(versions[0]).toEqual(long);
        expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
        expect(versions.at(-1)).toEqual({
          ...{ version: 2_400, firstPosition: 2_399, entryLines: '{"n":2400}', createdAtMs: 2_400 },
        });
      }),
    );

    it(
      'are hidden from every read once they are removed, with their entries, and free their slug',
      withStore(open, async ({ datasets }) => {
        const dataset = sampleDataset();
        await datasets.insert(dataset, samplePart(), MANY);
        expect(await datasets.remove('project_2', dataset.id, AT_MS)).toBe(false);
        expect(await datasets.remove('project_1', dataset.id, AT_MS)).toBe(true);
        expect(await datasets.remove('project_1', dataset.id, AT_MS)).toBe(false);
        expect(await datasets.find('project_1', dataset.id)).toBeNull();
        expect(await datasets.find('project_1', dataset.slug)).toBeNull();
        expect(await datasets.list('project_1', MANY)).toEqual([]);
        expect(await datasets.versions(dataset, 1)).toEqual([]);
        expect(await datasets.append(sampleDataset({ version: 2 }), samplePart(2))).toBe('stale');
        expect(await datasets.insert(sampleDataset({ id: 'dataset_2' }), samplePart(), 1)).toBe('stored');
      }),
    );
  });
}
