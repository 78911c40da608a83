import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogueIds } from '../../../src/domain/evaluators/evaluator-catalogue.ts';
import type { EvaluatorDraft } from '../../../src/domain/evaluators/evaluators.ts';
import { Fault } from '../../../src/domain/fault.ts';
import { bleuConfig, faultOf, setUp } from '../../support/evaluators.ts';

describe('refusing a draft', () => {
  it('names every catalogue id when the evaluator type is unknown', async () => {
    const reasons = await reasonsOf({ configJson: '{"evaluatorType":"langevals/nope"}' });
    expect(reasons).toEqual([
      expect.objectContaining({
        field: 'config.evaluatorType',
        type: 'invalid_enum_value',
        expected: catalogueIds,
        received: 'langevals/nope',
      }),
    ]);
    expect(catalogueIds).toHaveLength(36);
  });

  it.each([
    ['langevals/exact-match', ', the nearest is langevals/exact_match'],
    ['exact_match', ', the nearest is langevals/exact_match'],
    ['nothing like it', ''],
  ])('says of the evaluator type %s what is nearest, and who lists all', async (evaluatorType, suggestion) => {
    const [reason] = await reasonsOf({ configJson: JSON.stringify({ evaluatorType }) });
    expect(reason?.message).toBe(
      `config.evaluatorType must be one of the expected values${suggestion}; GET /api/evaluations/list lists them all`,
    );
  });

  it('repeats no more than 100 characters of an unknown evaluator type', async () => {
    const [reason] = await reasonsOf({ configJson: JSON.stringify({ evaluatorType: '😀'.repeat(300) }) });
    expect(reason?.received).toBe('😀'.repeat(100));
  });

  it('reports all problems at once', async () => {
    const reasons = await reasonsOf({
      name: null,
      workflowId: 'workflow_1',
      configJson: '{"evaluatorType":"langevals/exact_match","settings":{"case_sensitive":"yes"},"onError":"stop"}',
    });
    expect(reasons.map((reason) => [reason.field, reason.type])).toEqual([
      ['name', 'invalid_type'],
      ['workflowId', 'custom'],
      ['config.onError', 'invalid_enum_value'],
      ['config.settings.case_sensitive', 'invalid_type'],
    ]);
    expect(reasons[0]).toMatchObject({ message: 'name is required', expected: 'string', received: 'undefined' });
  });

  it.each<[string, Partial<EvaluatorDraft>, string, string]>([
    ['a blank name', { ...bleuConfig(), name: ' \t ' }, 'name', 'invalid_length'],
    ['a name of 256 characters', { ...bleuConfig(), name: 'n'.repeat(256) }, 'name', 'invalid_length'],
    ['U+0000 in the name', { ...bleuConfig(), name: 'a\0' }, 'name', 'invalid_format'],
    ['U+0000 in an id', { ...bleuConfig(), copiedFromEvaluatorId: '\0' }, 'copiedFromEvaluatorId', 'invalid_format'],
    ['U+0000 in a setting', bleuConfig('{"a":[{"b":"\\u0000"}]}'), 'config.settings.a.0.b', 'invalid_format'],
    ['U+0000 in the name of a setting', bleuConfig('{"a\\u0000":1}'), 'config.settings', 'invalid_format'],
    ['no config', {}, 'config.evaluatorType', 'invalid_type'],
    ['a null config', { configJson: 'null' }, 'config.evaluatorType', 'invalid_type'],
    ['a config that is a list', { configJson: '[]' }, 'config', 'invalid_type'],
    ['a config that is a number', { configJson: '12345678901234567890' }, 'config', 'invalid_type'],
    ['a number no double can reach', bleuConfig('{"a":[-1e400]}'), 'config.settings.a.0', 'too_big'],
    ['a config that is not JSON', { configJson: '{"a":}' }, 'config', 'invalid_format'],
    [
      'an evaluator type that is a number',
      { configJson: '{"evaluatorType":5}' },
      'config.evaluatorType',
      'invalid_type',
    ],
    [
      'an inherited name as evaluator type',
      { configJson: '{"evaluatorType":"constructor"}' },
      'config.evaluatorType',
      'invalid_enum_value',
    ],
    ['settings that are a list', bleuConfig('[]'), 'config.settings', 'invalid_type'],
    ['workflow fields on another type', { ...bleuConfig(), fields: [field('x')] }, 'fields', 'custom'],
    ['a workflow without its id', { type: 'workflow' }, 'workflowId', 'invalid_type'],
    ['a workflow with an empty id', { type: 'workflow', workflowId: '' }, 'workflowId', 'invalid_length'],
    [
      'a workflow field without a name',
      { type: 'workflow', workflowId: 'w', outputFields: [field('a'), field('')] },
      'outputFields.1.identifier',
      'invalid_length',
    ],
    [
      'U+0000 in a workflow field',
      { type: 'workflow', workflowId: 'w', fields: [field('a\0')] },
      'fields.0.identifier',
      'invalid_format',
    ],
    ['code without code', { type: 'code', configJson: '{}' }, 'config.code', 'invalid_type'],
    ['code inputs that are not a list', codeConfig('{}'), 'config.inputs', 'invalid_type'],
    ['a code input that is not an object', codeConfig('["a"]'), 'config.inputs.0', 'invalid_type'],
    ['a code input without a name', codeConfig('[{"type":"str"}]'), 'config.inputs.0.identifier', 'invalid_type'],
    [
      'a code input with an empty name',
      codeConfig('[{"identifier":""}]'),
      'config.inputs.0.identifier',
      'invalid_length',
    ],
    [
      'a code input with a wrong type',
      codeConfig('[{"identifier":"a","type":1}]'),
      'config.inputs.0.type',
      'invalid_type',
    ],
    [
      'a code input with a wrong optional',
      codeConfig('[{"identifier":"a","optional":"no"}]'),
      'config.inputs.0.optional',
      'invalid_type',
    ],
  ])('refuses %s', async (_what, draft, path, type) => {
    const reasons = await reasonsOf(draft);
    expect(reasons.map((reason) => [reason.field, reason.type])).toEqual([[path, type]]);
  });

  it.each<[string, string, string, string]>([
    ['langevals/basic', '{"rules":{}}', 'rules', 'invalid_type'],
    ['langevals/basic', '{"rules":[{"field":"output","rule":"contains"}]}', 'rules.0.value', 'invalid_type'],
    [
      'langevals/basic',
      '{"rules":[{"field":"output","rule":"contains","value":""}]}',
      'rules.0.value',
      'invalid_length',
    ],
    [
      'langevals/basic',
      '{"rules":[{"field":"x","rule":"contains","value":"a"}]}',
      'rules.0.field',
      'invalid_enum_value',
    ],
    ['langevals/competitor_blocklist', '{"competitors":[]}', 'competitors', 'invalid_length'],
    ['langevals/competitor_blocklist', '{"competitors":["a"," "]}', 'competitors.1', 'invalid_length'],
    ['langevals/competitor_blocklist', '{"competitors":[1]}', 'competitors.0', 'invalid_type'],
    ['langevals/valid_format', '{"format":"xml"}', 'format', 'invalid_enum_value'],
    ['langevals/valid_format', '{"json_schema":{}}', 'json_schema', 'invalid_type'],
    ['ragas/rouge_score', '{"rouge_type":"rouge2"}', 'rouge_type', 'invalid_enum_value'],
    ['langevals/llm_boolean', '{"prompt":1}', 'prompt', 'invalid_type'],
    ['langevals/llm_boolean', '{"temperature":"hot"}', 'temperature', 'invalid_type'],
    ['langevals/llm_score', '{"max_tokens":1.5}', 'max_tokens', 'invalid_type'],
    ['langevals/llm_category', '{"categories":[{"name":"one","description":""}]}', 'categories', 'invalid_length'],
    ['langevals/off_topic', '{"allowed_topics":[null]}', 'allowed_topics.0', 'invalid_type'],
    ['ragas/rubrics_based_scoring', '{"rubrics":[{"description":"a"},{}]}', 'rubrics.1.description', 'invalid_type'],
    ['presidio/pii_detection', '{"entities":{"crypto":1}}', 'entities.crypto', 'invalid_type'],
    ['langevals/similarity', '{"threshold":"0.3"}', 'threshold', 'invalid_type'],
  ])('refuses for %s the settings %s', async (id, settings, path, type) => {
    const reasons = await reasonsOf({ configJson: `{"evaluatorType":"${id}","settings":${settings}}` });
    expect(reasons.map((reason) => [reason.field, reason.type])).toEqual([[`config.settings.${path}`, type]]);
  });

  it('accepts known settings of the right shape, with any spelling of their numbers', async () => {
    const { create } = setUp();
    const kept =
      '{"evaluatorType":"langevals/llm_boolean","settings":{"model":"m","temperature":0.50,"max_tokens":64,"prompt":"p"}}';
    expect(JSON.parse((await create({ configJson: kept })).configJson)).toEqual(JSON.parse(kept));
    await create({ configJson: '{"evaluatorType":"langevals/basic","settings":{"rules":[]}}' });
    await create({ configJson: '{"evaluatorType":"presidio/pii_detection","settings":{"entities":{"crypto":false}}}' });
  });

  it('takes a config of 127 levels and refuses one level more, however deep it goes', async () => {
    const { create } = setUp();
    const nested = (levels: number) => bleuConfig(`{"a":${'['.repeat(levels)}"]]\\"["${']'.repeat(levels)}}`);
    await create(nested(125));
    for (const levels of [126, 1_000_000]) {
      const reasons = await reasonsOf(nested(levels));
      expect(reasons).toEqual([expect.objectContaining({ field: 'config', type: 'too_big', expected: 127 })]);
    }
  });

  it('stores nothing', async () => {
    const { create, store } = setUp();
    await expect(create({ name: null })).rejects.toBeInstanceOf(Fault);
    expect(store.tried).toEqual([]);
  });

  it('answers any config with a stored evaluator or a validation error', async () => {
    const { create } = setUp();
    const member = fc.constantFrom('evaluatorType', 'settings', 'onError', 'code', 'inputs', 'outputs', 'rules');
    const config = fc.dictionary(member, fc.oneof(fc.jsonValue(), fc.constantFrom(...catalogueIds)));
    const type = fc.constantFrom('evaluator', 'workflow', 'code', null);
    await fc.assert(
      fc.asyncProperty(
        type,
        fc.oneof(
          fc.string(),
          fc.json(),
          config.map((each) => JSON.stringify(each)),
        ),
        async (type, configJson) => {
          const outcome = await create({ type, configJson }).catch((error: unknown) => error);
          if (outcome instanceof Fault) expect(outcome.code).toBe('validation_error');
          else expect(outcome).toHaveProperty('slug');
        },
      ),
    );
  });
});

type ShownReason = { field: string; type: string; message: string; expected?: unknown; received?: unknown };

async function reasonsOf(draft: Partial<EvaluatorDraft>): Promise<ShownReason[]> {
  const fault = await faultOf(setUp().create(draft));
  expect(fault).toMatchObject({ code: 'validation_error', meta: { target: 'json' } });
  const reasons = fault.meta.reasons as { meta: ShownReason }[];
  return reasons.map((reason) => reason.meta);
}

function codeConfig(inputs: string): Partial<EvaluatorDraft> {
  return { type: 'code', configJson: `{"code":"","inputs":${inputs}}` };
}

function field(identifier: string): EvaluatorDraft['fields'][number] {
  return { identifier, type: null, optional: null };
}
