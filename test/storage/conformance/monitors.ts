import { describe, expect, it } from 'vitest';
import { sampleEvaluator, sampleMonitor } from './samples.ts';
import { type OpenManagement, withStore } from './subject.ts';

const MANY = { liveMax: 100 };

export function monitorStoreConformance(open: OpenManagement): void {
  monitorDigitsConformance(open);
  describe('monitors', () => {
    it(
      'finds a monitor by id and by slug, whole, and lists those of the project',
      withStore(open, async ({ monitors, evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, 10);
        const plain = sampleMonitor(evaluator);
        const rich = sampleMonitor(evaluator, {
          slug: 'rich',
          enabled: false,
          sample: 0.1,
          preconditions: [{ field: 'metadata.x', value: 3 }],
          mappings: { output: 'span.llm.output' },
          parametersJson: '{"a":12345678901234567890}',
          executionMode: 'MANUALLY',
        });
        for (const each of [plain, rich]) expect(await monitors.insert(each, MANY)).toBe('stored');
        expect(await monitors.find(plain.projectId, plain.id)).toEqual(plain);
        expect(await monitors.find(plain.projectId, 'rich')).toEqual(rich);
        const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
        expect([...(await monitors.list(plain.projectId))].sort(byId)).toEqual([plain, rich].sort(byId));
        expect(await monitors.find('project_2', plain.id)).toBeNull();
        expect(await monitors.list('project_2')).toEqual([]);
      }),
    );

    it(
      'MUST keep slugs unique, return limit_reached of a full project and evaluator_gone without an evaluator, storing nothing',
      withStore(open, async ({ monitors, evaluators }) => {
        const evaluator = sampleEvaluator();
        expect(await monitors.insert(sampleMonitor(evaluator), MANY)).toBe('evaluator_gone');
        await evaluators.insert(evaluator, 10);
        const rivals = Array.from({ length: 4 }, () => sampleMonitor(evaluator, { slug: 'wanted' }));
        const answers = await Promise.all(rivals.map((rival) => monitors.insert(rival, MANY)));
        expect(answers.toSorted()).toEqual(['slug_taken', 'slug_taken', 'slug_taken', 'stored']);
        expect(await monitors.insert(sampleMonitor(evaluator, { slug: 'b' }), { liveMax: 1 })).toBe('limit_reached');
        expect(await monitors.list('project_1')).toHaveLength(1);
      }),
    );

    it(
      'MUST return stale when the monitor was updated at another instant or is deleted, and store nothing',
      withStore(open, async ({ monitors, evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, 10);
        const monitor = sampleMonitor(evaluator);
        await monitors.insert(monitor, MANY);
        const changed = {
          ...monitor,
          name: 'Other',
          sample: 0.5,
          enabled: false,
          updatedAtMs: monitor.updatedAtMs + 1,
        };
        expect(await monitors.replace(changed, monitor.updatedAtMs + 9)).toBe('stale');
        expect(await monitors.replace(changed, monitor.updatedAtMs)).toBe('stored');
        expect(await monitors.replace(monitor, monitor.updatedAtMs)).toBe('stale');
        expect(await monitors.find('project_1', monitor.id)).toEqual(changed);
        expect(await monitors.remove('project_2', monitor.id, 5)).toBe(false);
        expect(await monitors.remove('project_1', monitor.id, 5)).toBe(true);
        expect(await monitors.remove('project_1', monitor.id, 5)).toBe(false);
        expect(await monitors.replace(changed, changed.updatedAtMs)).toBe('stale');
        expect(await monitors.find('project_1', monitor.slug)).toBeNull();
        expect(await monitors.insert(sampleMonitor(evaluator, { slug: monitor.slug }), { liveMax: 1 })).toBe('stored');
      }),
    );

    it(
      'MUST disable the monitors of an evaluator that is removed, which nothing enables again',
      withStore(open, async ({ monitors, evaluators }) => {
        const [evaluator, other] = [sampleEvaluator(), sampleEvaluator({ slug: 'other' })];
        for (const each of [evaluator, other]) await evaluators.insert(each, 10);
        const [monitor, untouched] = [sampleMonitor(evaluator), sampleMonitor(other, { slug: 'b' })];
        for (const each of [monitor, untouched]) await monitors.insert(each, MANY);
        await evaluators.remove('project_1', evaluator.id, monitor.updatedAtMs);
        const disabled = { ...monitor, enabled: false, updatedAtMs: monitor.updatedAtMs + 1 };
        expect(await monitors.find('project_1', monitor.id)).toEqual(disabled);
        expect(await monitors.find('project_1', untouched.id)).toEqual(untouched);
        expect(await monitors.replace({ ...disabled, enabled: true }, disabled.updatedAtMs)).toBe('evaluator_gone');
        expect(await monitors.replace({ ...disabled, name: 'Kept' }, disabled.updatedAtMs)).toBe('stored');
      }),
    );
  });
}

export function monitorDigitsConformance(open: OpenManagement): void {
  describe('monitors', () => {
    it(
      'keeps the digits of numbers in preconditions',
      withStore(open, async ({ monitors, evaluators }) => {
        const evaluator = sampleEvaluator();
        await evaluators.insert(evaluator, 10);
        const value = JSON.rawJSON('12345678901234567890');
        const monitor = sampleMonitor(evaluator, { preconditions: [{ field: 'metadata.account', value }] });
        expect(await monitors.insert(monitor, MANY)).toBe('stored');
        const changed = { ...monitor, name: 'Other', updatedAtMs: monitor.updatedAtMs + 1 };
        expect(await monitors.replace(changed, monitor.updatedAtMs)).toBe('stored');
        const [found = null] = await monitors.list(monitor.projectId);
        expect(found).toEqual(changed);
        expect(JSON.stringify(found?.preconditions)).toBe(JSON.stringify(changed.preconditions));
      }),
    );
  });
}
