import { describe, expect, it } from 'vitest';
import { sampleEvaluator } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const MANY = 1000;

export function evaluatorStoreConformance(open: OpenSubject): void {
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
      'prefers the id to the slug, and tells cases apart',
      withStore(open, async ({ evaluators }) => {
        const named = sampleEvaluator({ slug: 'a-slug' });
        const slugged = sampleEvaluator({ slug: named.id });
        await evaluators.insert(slugged, MANY);
        await evaluators.insert(named, MANY);
        expect((await evaluators.find(named.projectId, named.id))?.id).toBe(named.id);
        expect(await evaluators.find(named.projectId, 'A-Slug')).toBeNull();
        expect(await evaluators.find(named.projectId, '')).toBeNull();
      }),
    );

    it(
      'answers null for what another project has',
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
      'answers limit_reached without storing when the project is full',
      withStore(open, async ({ evaluators }) => {
        for (const slug of ['a', 'b']) expect(await evaluators.insert(sampleEvaluator({ slug }), 2)).toBe('stored');
        expect(await evaluators.insert(sampleEvaluator({ slug: 'c' }), 2)).toBe('limit_reached');
        expect(await evaluators.find('project_1', 'c')).toBeNull();
        expect(await evaluators.insert(sampleEvaluator({ projectId: 'project_2' }), 2)).toBe('stored');
      }),
    );
  });
}
