import { describe, expect, it } from 'vitest';
import { sampleEvaluator } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MANY = 1000;

export function evaluatorStoreConformance(open: OpenManagement): void {
  describe('evaluators', () => {
    it(
      'finds an evaluator by id and by slug, whole',
      withStore(open, async ({ evaluators }) => {
        const plain = sampleEvaluator();
        const workflow = sampleEvaluator({
          slug: 'other',
          type: 'workflow',
          workflowId: 'w',
          workflowName: 'W',
          workflowIcon: '🧪',
          copiedFromEvaluatorId: 'evaluator_0',
          fields: [],
        });
        expect(await evaluators.insert(plain, MANY)).toBe('stored');
        expect(await evaluators.insert(workflow, MANY)).toBe('stored');
        expect(await evaluators.find(plain.projectId, plain.id)).toEqual(plain);
        expect(await evaluators.find(plain.projectId, plain.slug)).toEqual(plain);
        expect(await evaluators.find(workflow.projectId, workflow.id)).toEqual(workflow);
      }),
    );

    it(
      'prefers the id to the slug, and is case-sensitive',
      withStore(open, async ({ evaluators }) => {
        const named = sampleEvaluator({ slug: 'a-slug' });
        const slugged = sampleEvaluator({ slug: named.id });
        await evaluators.insert(slugged, MANY);
        await evaluators.insert(named, MANY);
        expect((await evaluators.find(named.projectId, named.id))?.id).toBe(named.id);
        expect(await evaluators.find(named.projectId, 'A-Slug')).toBeNull();
        expect(await evaluators.find(named.projectId, '')).toBeNull();
        expect(await evaluators.find(named.projectId, 'a\u0000b')).toBeNull();
      }),
    );

    it(
      'returns null for what another project has',
      withStore(open, async ({ evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, MANY);
        expect(await evaluators.find('project_2', evaluator.id)).toBeNull();
        expect(await evaluators.find('project_2', evaluator.slug)).toBeNull();
        expect(await evaluators.insert({ ...evaluator, projectId: 'project_2' }, MANY)).toBe('stored');
      }),
    );

    it(
      'MUST keep slugs unique in the project, also when several come at once',
      withStore(open, async ({ evaluators }) => {
        const rivals = Array.from({ length: 8 }, () => sampleEvaluator({ slug: 'wanted' }));
        const answers = await Promise.all(rivals.map((rival) => evaluators.insert(rival, MANY)));
        expect(answers.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'slug_taken'), 'stored']);
        const winner = rivals[answers.indexOf('stored')];
        expect((await evaluators.find('project_1', 'wanted'))?.id).toBe(winner?.id);
      }),
    );

    it(
      'MUST keep ids unique in the project',
      withStore(open, async ({ evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, MANY);
        await expect(evaluators.insert({ ...evaluator, slug: 'another' }, MANY)).rejects.toThrow();
        expect(await evaluators.find(evaluator.projectId, evaluator.id)).toEqual(evaluator);
      }),
    );

    it(
      'returns limit_reached without storing when the project is full',
      withStore(open, async ({ evaluators }) => {
        for (const slug of ['a', 'b']) expect(await evaluators.insert(sampleEvaluator({ slug }), 2)).toBe('stored');
        expect(await evaluators.insert(sampleEvaluator({ slug: 'c' }), 2)).toBe('limit_reached');
        expect(await evaluators.find('project_1', 'c')).toBeNull();
        expect(await evaluators.insert(sampleEvaluator({ projectId: 'project_2' }), 2)).toBe('stored');
      }),
    );

    it(
      'measures all evaluators of the project, and finds those that are named, only of the project',
      withStore(open, async ({ evaluators }) => {
        const ids = ['evaluator_B', 'evaluator_a', 'evaluator_b', 'evaluator_c'];
        const kept = ids.map((id) => sampleEvaluator({ id, slug: `slug-${id}` }));
        for (const evaluator of kept.toReversed()) await evaluators.insert(evaluator, MANY);
        await evaluators.insert(sampleEvaluator({ projectId: 'project_2' }), MANY);
        const sizes = await evaluators.measure('project_1');
        expect(sizes.map(({ id }) => id).toSorted()).toEqual(ids);
        expect(sizes.every(({ updatedAtMs }) => updatedAtMs === kept[0]?.updatedAtMs)).toBe(true);
        const found = await evaluators.findAll('project_1', ['evaluator_c', 'evaluator_B', 'evaluator_0']);
        expect(found.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([kept[0], kept[3]]);
        expect(await evaluators.findAll('project_2', ids)).toEqual([]);
        expect(await evaluators.findAll('project_1', [])).toEqual([]);
      }),
    );

    it(
      'measures the bytes of the texts, not their characters',
      withStore(open, async ({ evaluators }) => {
        const small = sampleEvaluator({ slug: 'small', configJson: '{"a":""}' });
        const large = sampleEvaluator({ slug: 'large', configJson: `{"a":"${'é'.repeat(100_000)}"}` });
        for (const each of [small, large]) await evaluators.insert(each, MANY);
        const bytes = new Map((await evaluators.measure('project_1')).map((size) => [size.id, size.bytes]));
        expect((bytes.get(large.id) ?? 0) - (bytes.get(small.id) ?? 0)).toBe(200_000);
      }),
    );

    it(
      'replaces name, config and fields',
      withStore(open, async ({ evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, MANY);
        const changed = {
          ...evaluator,
          name: 'Other',
          configJson: '{"a":1}',
          fields: [],
          outputFields: [],
          updatedAtMs: evaluator.updatedAtMs + 1,
        };
        expect(await evaluators.replace(changed, evaluator.updatedAtMs)).toBe('stored');
        expect(await evaluators.find('project_1', evaluator.slug)).toEqual(changed);
      }),
    );

    it(
      'MUST return stale and store nothing when the evaluator was updated at another instant, also when several come at once',
      withStore(open, async ({ evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, MANY);
        const rivals = Array.from({ length: 8 }, (_, index) => ({
          ...evaluator,
          name: `Rival ${index}`,
          updatedAtMs: evaluator.updatedAtMs + 1 + index,
        }));
        const answers = await Promise.all(rivals.map((rival) => evaluators.replace(rival, evaluator.updatedAtMs)));
        expect(answers.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'stale'), 'stored']);
        expect(await evaluators.find('project_1', evaluator.id)).toEqual(rivals[answers.indexOf('stored')]);
        expect(await evaluators.replace({ ...evaluator, id: 'evaluator_unknown' }, evaluator.updatedAtMs)).toBe(
          'stale',
        );
      }),
    );

    it(
      'MUST hide the evaluator from every read, free its slug and its place, and keep what was stored',
      withStore(open, async ({ evaluators }, { execute }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, 1);
        const { projectId, id, slug, updatedAtMs } = evaluator;
        expect(await evaluators.remove('project_2', id, updatedAtMs)).toBe(false);
        expect(await evaluators.remove(projectId, slug, updatedAtMs)).toBe(false);
        expect(await evaluators.remove(projectId, id, updatedAtMs)).toBe(true);
        expect(await evaluators.remove(projectId, id, updatedAtMs)).toBe(false);
        expect(await evaluators.find(projectId, id)).toBeNull();
        expect(await evaluators.find(projectId, slug)).toBeNull();
        expect(await evaluators.measure(projectId)).toEqual([]);
        expect(await evaluators.findAll(projectId, [id])).toEqual([]);
        expect(await evaluators.replace({ ...evaluator, name: 'Back' }, updatedAtMs)).toBe('stale');
        await expect(evaluators.insert(evaluator, 1)).rejects.toThrow();
        expect(await evaluators.insert(sampleEvaluator({ slug }), 1)).toBe('stored');
        await execute(`UPDATE evaluators SET deleted_at = NULL, slug = 'kept' WHERE id = '${id}'`);
        expect(await evaluators.find(projectId, id)).toEqual({ ...evaluator, slug: 'kept' });
      }),
    );
  });
}
