/** What the console makes of triggers. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  type Trigger,
  TriggerAction,
  TriggerKind,
  TriggerSchema,
  TriggerService,
  UpdateTriggerRequestSchema,
} from '../../gen/spandrel/v1/triggers_pb.js';
import { describeConditions, readConditions, sentConditions } from '../../src/console/triggers/conditions.ts';
import { emptyDraft, isComplete, toDraft, toTrigger, toTriggerChange } from '../../src/console/triggers/draft.ts';
import { maskProblems } from '../../src/rpc/update-mask.ts';

const FILTERS = [
  { name: 'metadata.labels', values: ['shop'] },
  { name: 'metadata.value', key: 'team', values: ['a b'] },
  { name: 'metadata.value', key: 'tier', values: [''] },
  { name: 'metadata.prompt_ids', values: ['greeting'] },
  { name: 'events.event_type', values: ['thumbs_up_down'] },
  { name: 'events.metrics', key: 'vote', values: ['-1', ''] },
  { name: 'annotations.score', key: 'Helpfulness', values: ['1', '2'] },
  { name: 'annotations.hasAnnotation', values: ['true'] },
  { name: 'traces.duration_ms', values: ['2001', ''] },
];

const trigger = (filters: typeof FILTERS, query = ''): Trigger =>
  create(TriggerSchema, {
    ...{ id: 'trigger_1', name: 'Votes', kind: TriggerKind.TRACE, action: TriggerAction.SEND_WEBHOOK },
    ...{ filters, query, actionParams: {} },
  });

const problemsOf = (change: ReturnType<typeof toTriggerChange>) =>
  maskProblems(TriggerService.method.updateTrigger, create(UpdateTriggerRequestSchema, { id: 'trigger_1', ...change }));

describe('the conditions of a trigger', () => {
  it('are all kept, though the line cannot write each of them', () => {
    const conditions = readConditions(trigger(FILTERS, 'say "hi"'));
    expect(conditions.line).toBe('"say \\"hi\\"" label:shop meta.team:"a b" duration:2001..');
    expect(conditions.kept.map(({ name, key }) => [name, key].join(' ').trim())).toEqual([
      ...['metadata.value tier', 'metadata.prompt_ids', 'events.event_type', 'events.metrics vote'],
      ...['annotations.score Helpfulness', 'annotations.hasAnnotation'],
    ]);
    const { filters, query } = sentConditions(conditions);
    expect(query).toBe('say "hi"');
    expect(filters).toHaveLength(FILTERS.length);
    expect(filters).toEqual(expect.arrayContaining(FILTERS));
    expect(describeConditions(conditions)).toContain('duration:2001.. metadata.value.tier: ""');
  });

  it('are joined with what is written for the same name', () => {
    const { kept } = readConditions(trigger([{ name: 'metadata.user_id', values: [''] }]));
    expect(sentConditions({ line: 'user:ada', kept }).filters).toEqual([
      { name: 'metadata.user_id', values: ['', 'ada'] },
    ]);
  });

  it('are sent by a change only where they differ, and the mask names what is sent', () => {
    const start = toDraft(trigger(FILTERS, 'two  spaces'));
    const renamed = toTriggerChange({ ...start, name: 'Votes of users' }, start);
    expect(renamed.updateMask.paths).not.toContain('filters');
    expect(renamed.trigger).not.toHaveProperty('filters');
    expect(problemsOf(renamed)).toEqual([]);
    const narrowed = toTriggerChange({ ...start, line: 'label:shop model:gpt-5' }, start);
    expect(narrowed.updateMask.paths).toEqual(expect.arrayContaining(['filters', 'query']));
    expect(narrowed.trigger).toHaveProperty(
      'filters',
      expect.arrayContaining([
        { name: 'events.metrics', key: 'vote', values: ['-1', ''] },
        { name: 'spans.model', values: ['gpt-5'] },
      ]),
    );
    expect(problemsOf(narrowed)).toEqual([]);
    const [, ...others] = start.kept;
    expect(toTriggerChange({ ...start, kept: others }, start).updateMask.paths).toContain('filters');
  });

  it('of a metric are sent with its rule', () => {
    const start = { ...emptyDraft({ metric: 'errors' }), name: 'Errors', alert: '5' };
    const change = toTriggerChange({ ...start, line: 'label:shop' }, start);
    expect(problemsOf(change)).toEqual([]);
    expect(toTrigger(start)).toMatchObject({ filters: [], query: '' });
  });
});

describe('a trigger', () => {
  const named = { ...emptyDraft({}), name: 'Votes' };

  it.each([
    ['label:shop', true],
    ['refund label:shop', true],
    ['', false],
    ['label:shop user:', false],
    ['label:shop duration:fast', false],
  ])('on traces with the line “%s” can be saved: %s', (line, expected) => {
    expect(isComplete({ ...named, line })).toBe(expected);
  });

  it('whose conditions are not part of the line can be saved', () => {
    expect(isComplete(toDraft(trigger([{ name: 'events.event_type', values: ['thumbs_up_down'] }])))).toBe(true);
  });

  it.each([
    ['', true],
    ['label:shop', true],
    ['refund label:shop', false],
    ['label:', false],
  ])('on a metric with the line “%s” can be saved: %s', (line, expected) => {
    expect(isComplete({ ...named, kind: TriggerKind.METRIC, alert: '5', line })).toBe(expected);
  });
});
