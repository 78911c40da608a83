import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Evaluator } from '../../../src/domain/evaluators/evaluator.ts';
import { catalogue, catalogueIds } from '../../../src/domain/evaluators/evaluator-catalogue.ts';
import { Fault } from '../../../src/domain/fault.ts';
import type { CursorPage } from '../../../src/domain/management/listing.ts';
import { byLastUpdate } from '../../../src/domain/resources.ts';
import { bleuConfig, faultOf, NOW_MS, project, setUp } from '../../support/evaluators.ts';

const bleu = bleuConfig();

describe('creating an evaluator', () => {
  it('keeps what was sent and fills in the rest', async () => {
    const { create } = setUp();
    const evaluator = await create({
      name: '  My Évaluator #1!  ',
      configJson:
        '{"evaluatorType":"langevals/exact_match","settings":{"case_sensitive":true},"onError":"block","else":1}',
      copiedFromEvaluatorId: 'evaluator_x',
    });
    expect(evaluator).toEqual({
      id: expect.stringMatching(/^evaluator_[0-9A-Za-z]{21}$/),
      projectId: 'project_1',
      name: 'My Évaluator #1!',
      slug: expect.stringMatching(/^my-evaluator-1-[0-9a-z]{5}$/),
      type: 'evaluator',
      configJson:
        '{"evaluatorType":"langevals/exact_match","settings":{"case_sensitive":true,"trim_whitespace":true,"remove_punctuation":true},"onError":"block"}',
      workflowId: null,
      workflowName: null,
      workflowIcon: null,
      copiedFromEvaluatorId: 'evaluator_x',
      fields: [
        { identifier: 'output', type: 'str', optional: true },
        { identifier: 'expected_output', type: 'str', optional: true },
      ],
      outputFields: [{ identifier: 'passed', type: 'bool', optional: false }],
      createdAtMs: NOW_MS,
      updatedAtMs: NOW_MS,
    });
  });

  it.each(catalogueIds)('can save %s with its defaults alone', async (id) => {
    const { create } = setUp();
    const evaluator = await create({ configJson: JSON.stringify({ evaluatorType: id }) });
    const entry = catalogue.find((each) => each.id === id);
    const defaults = Object.entries(entry?.settings ?? {}).filter(([, known]) => known.default !== null);
    expect(JSON.parse(evaluator.configJson)).toEqual({
      evaluatorType: id,
      settings: Object.fromEntries(defaults.map(([key, known]) => [key, known.default])),
    });
    expect(evaluator.outputFields.length).toBeGreaterThan(0);
  });

  it('accepts its own defaults when they are sent back', async () => {
    const { create } = setUp();
    for (const id of catalogueIds) {
      const first = await create({ configJson: JSON.stringify({ evaluatorType: id }) });
      expect((await create({ configJson: first.configJson })).configJson).toBe(first.configJson);
    }
  });

  it.each([
    ['langevals/exact_match', 'output str opt, expected_output str opt', 'passed bool'],
    ['ragas/bleu_score', 'output str, expected_output str', 'score float'],
    ['ragas/context_f1', 'contexts list, expected_contexts list', 'score float'],
    ['langevals/llm_boolean', 'input str opt, output str opt, contexts list opt', 'passed bool'],
    ['langevals/query_resolution', 'conversation list', 'score float, passed bool, label str'],
    ['azure/prompt_injection', 'input str, contexts list opt', 'passed bool'],
    ['langevals/off_topic', 'input str', 'score float, passed bool, label str'],
    [
      'langevals/select_best_compare',
      'input str opt, golden str opt, candidates list opt, row_index str opt',
      'score float, label str',
    ],
  ])('lists the inputs and outputs of %s', async (id, inputs, outputs) => {
    const { create } = setUp();
    const evaluator = await create({ configJson: JSON.stringify({ evaluatorType: id }) });
    expect(describeFields(evaluator.fields)).toBe(inputs);
    expect(describeFields(evaluator.outputFields)).toBe(outputs);
  });

  it('lets settings replace defaults one by one, and takes null for a known one as not sent', async () => {
    const { create } = setUp();
    const settings = { rouge_type: 'rougeL', measure_type: null, mine: null };
    const evaluator = await create({ configJson: JSON.stringify({ evaluatorType: 'ragas/rouge_score', settings }) });
    expect(JSON.parse(evaluator.configJson).settings).toEqual({
      rouge_type: 'rougeL',
      measure_type: 'fmeasure',
      mine: null,
    });
  });

  it('keeps unknown settings letter by letter', async () => {
    const { create } = setUp();
    const settings =
      '{"z":null,"a":[12345678901234567890,-0,1.0,1e300,0.1],"__proto__":{"constructor":1},"toString":"é","nested":{"y":1,"x":{}}}';
    const evaluator = await create({ configJson: `{"evaluatorType":"ragas/bleu_score","settings": ${settings} }` });
    expect(evaluator.configJson).toBe(`{"evaluatorType":"ragas/bleu_score","settings":${settings}}`);
  });

  it('loses nothing of any JSON value in unknown settings', async () => {
    const { create } = setUp();
    const text = fc.string({ unit: 'grapheme' });
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), text, async (value, key) => {
        const settings = { [`own ${key}`]: value };
        const config = { evaluatorType: 'ragas/bleu_score', settings };
        const { configJson } = await create({ configJson: JSON.stringify(config) });
        expect(JSON.parse(configJson).settings).toEqual(JSON.parse(JSON.stringify(settings)));
      }),
    );
  });

  it('stores an unpaired surrogate as the replacement character', async () => {
    const { create } = setUp();
    const evaluator = await create({
      name: 'a\ud800b',
      configJson: '{"evaluatorType":"ragas/bleu_score","settings":{"k\\ud800":["\\udc00"]}}',
    });
    expect(evaluator.name).toBe('a\ufffdb');
    expect(JSON.parse(evaluator.configJson).settings).toEqual({ 'k\ufffd': ['\ufffd'] });
  });

  it('keeps code as a definition with normalised inputs and outputs', async () => {
    const { create } = setUp();
    const evaluator = await create({
      type: 'code',
      configJson:
        '{"code":"return 1","inputs":[{"identifier":"a","extra":1},{"identifier":"b","type":"list","optional":true}],"outputs":null}',
    });
    const inputs = [
      { identifier: 'a', type: 'str', optional: false },
      { identifier: 'b', type: 'list', optional: true },
    ];
    expect(JSON.parse(evaluator.configJson)).toEqual({ code: 'return 1', inputs, outputs: [] });
    expect(evaluator.fields).toEqual(inputs);
    expect(evaluator.outputFields).toEqual([]);
  });

  it('keeps a workflow with its fields and an empty config', async () => {
    const { create } = setUp();
    const evaluator = await create({
      type: 'workflow',
      configJson: '{"evaluatorType":"whatever"}',
      workflowId: 'workflow_1',
      workflowName: 'Flow',
      fields: [{ identifier: 'question', type: null, optional: null }],
      outputFields: [{ identifier: 'grade', type: 'float', optional: true }],
    });
    expect(evaluator).toMatchObject({
      type: 'workflow',
      configJson: '{}',
      workflowId: 'workflow_1',
      workflowName: 'Flow',
      workflowIcon: null,
      fields: [{ identifier: 'question', type: 'str', optional: false }],
      outputFields: [{ identifier: 'grade', type: 'float', optional: true }],
    });
  });

  it('draws another slug when the first is taken', async () => {
    const { create, store } = setUp();
    store.outcomes.push('slug_taken', 'slug_taken');
    const evaluator = await create(bleu);
    expect(store.tried).toHaveLength(3);
    expect(new Set(store.tried.map((each) => each.slug)).size).toBe(3);
    expect(evaluator.slug).toBe(store.tried[2]?.slug);
  });

  it('gives up on a random source that never yields a free slug', async () => {
    const { create, store } = setUp();
    store.outcomes.push(...Array.from({ length: 100 }, () => 'slug_taken' as const));
    await expect(create(bleu)).rejects.not.toBeInstanceOf(Fault);
    expect(store.tried.length).toBeLessThan(100);
  });

  it('refuses the one beyond 1,000 in a project', async () => {
    const { create, store } = setUp();
    store.outcomes.push('limit_reached');
    const fault = await faultOf(create(bleu));
    expect(fault).toMatchObject({ code: 'evaluator_limit_reached', kind: 'invalid' });
    expect(store.liveMax).toBe(1000);
  });
});

describe('reading an evaluator', () => {
  it('finds it by id and by slug', async () => {
    const { create, evaluators } = setUp();
    const evaluator = await create(bleu);
    expect(await evaluators.get(project, evaluator.id)).toEqual(evaluator);
    expect(await evaluators.get(project, evaluator.slug)).toEqual(evaluator);
  });

  it('gives unknown, foreign and overlong names one answer', async () => {
    const { create, evaluators } = setUp();
    const evaluator = await create(bleu);
    const foreign = { ...project, id: 'project_2' };
    const faults = [
      await faultOf(evaluators.get(project, 'evaluator_unknown')),
      await faultOf(evaluators.get(foreign, evaluator.id)),
      await faultOf(evaluators.get(foreign, evaluator.slug)),
      await faultOf(evaluators.get(project, evaluator.slug.toUpperCase())),
      await faultOf(evaluators.get(project, 'x'.repeat(201))),
    ];
    for (const fault of faults) {
      expect(fault).toMatchObject({
        code: 'evaluator_not_found',
        kind: 'not_found',
        message: 'Evaluator not found',
        flatError: 'Evaluator not found',
        meta: {},
      });
    }
  });

  it('never queries the store for a name longer than 200 characters', async () => {
    const { evaluators, store } = setUp();
    await faultOf(evaluators.get(project, '😀'.repeat(200)));
    expect(store.pagesRead).toBe(1);
    await faultOf(evaluators.get(project, '😀'.repeat(201)));
    expect(store.pagesRead).toBe(1);
  });

  it('refuses U+0000 in the name', async () => {
    const { evaluators, store } = setUp();
    const fault = await faultOf(evaluators.get(project, 'a\0b'));
    expect(fault).toMatchObject({ code: 'validation_error', meta: { target: 'param', fields: ['idOrSlug'] } });
    expect(store.pagesRead).toBe(0);
  });
});

const change = { name: null, type: null, configJson: null };

describe('updating an evaluator', () => {
  it('decides again on what others have changed meanwhile', async () => {
    const { create, evaluators, store } = setUp();
    const { id } = await create(bleu);
    store.stale = 3;
    const update = { idOrSlug: id, change: { ...change, name: 'New' }, nowMs: NOW_MS + 5 };
    expect(await evaluators.update(project, update)).toMatchObject({ name: 'New', updatedAtMs: NOW_MS + 5 });
    expect(store.replaced).toBe(4);
  });

  it('gives up where others never stop', async () => {
    const { create, evaluators, store } = setUp();
    const { id } = await create(bleu);
    store.stale = Number.POSITIVE_INFINITY;
    const update = { idOrSlug: id, change: { ...change, name: 'New' }, nowMs: NOW_MS };
    expect(await faultOf(evaluators.update(project, update))).toMatchObject({ code: 'unavailable' });
  });

  it('moves the instant on even where the clock does not', async () => {
    const { create, evaluators } = setUp();
    const { id, createdAtMs } = await create(bleu);
    for (const [index, nowMs] of [NOW_MS, NOW_MS, NOW_MS - 9].entries()) {
      const update = { idOrSlug: id, change: { ...change, name: `New ${index}` }, nowMs };
      const { updatedAtMs, ...updated } = await evaluators.update(project, update);
      expect([updatedAtMs, updated.createdAtMs]).toEqual([NOW_MS + 1 + index, createdAtMs]);
    }
  });

  it('keeps numbers of settings letter by letter', async () => {
    const { create, evaluators } = setUp();
    const { id } = await create(bleuConfig('{"n":1.0,"big":12345678901234567890}'));
    const configJson = '{"onError":"block"}';
    const { configJson: stored } = await evaluators.update(project, {
      idOrSlug: id,
      change: { ...change, configJson },
      nowMs: NOW_MS,
    });
    expect(stored).toContain('{"n":1.0,"big":12345678901234567890}');
  });

  it('does not validate stored settings again when only the name changes', async () => {
    const { create, evaluators, store } = setUp();
    const made = await create(bleu);
    const configJson = '{"evaluatorType":"gone/for-ever","settings":{}}';
    await store.replace({ ...made, configJson }, made.updatedAtMs);
    const update = { idOrSlug: made.id, change: { ...change, name: 'New' }, nowMs: NOW_MS };
    expect(await evaluators.update(project, update)).toMatchObject({ name: 'New', configJson });
  });
});

describe('listing evaluators', () => {
  const text = 'x'.repeat(1_000_000);
  const first = { cursor: '', limit: null };

  async function setUpLarge(count: number) {
    const { create, evaluators, store } = setUp();
    const made: Evaluator[] = [];
    for (let index = 0; index < count; index += 1) {
      made.push(await create(bleuConfig(`{"own":"${text}"}`)));
      store.stored[index] = { ...(made[index] as Evaluator), updatedAtMs: NOW_MS + (index % 7) };
    }
    const ids = store.stored.toSorted(byLastUpdate).map(({ id }) => id);
    return { evaluators, store, ids };
  }

  it('ends a page before it grows too large, and continues with the next', async () => {
    const { evaluators, ids } = await setUpLarge(150);
    const listed: string[] = [];
    const pages: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      let bytes = 0;
      const count = (more: number) => {
        bytes += more;
      };
      const page: CursorPage<Evaluator> = await evaluators.list(project, { cursor, limit: null }, count);
      listed.push(...page.items.map(({ id }) => id));
      pages.push(bytes);
      cursor = page.nextCursor;
    }
    expect(listed).toEqual(ids);
    expect(pages).toHaveLength(10);
    expect(Math.max(...pages)).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(pages.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(150_000_000);
  });

  it('gives a page of the requested size, and a cursor of its own project only', async () => {
    const { evaluators, ids } = await setUpLarge(5);
    const count = () => {};
    const { items, nextCursor } = await evaluators.list(project, { cursor: '', limit: 3 }, count);
    expect(items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const rest = await evaluators.list(project, { cursor: nextCursor ?? '', limit: 3 }, count);
    expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([ids.slice(3), null]);
    const other = evaluators.list({ ...project, id: 'project_2' }, { cursor: nextCursor ?? '', limit: 3 }, count);
    expect(await faultOf(other)).toMatchObject({ code: 'invalid_cursor' });
    expect((await evaluators.list(project, first, count)).nextCursor).toBeNull();
  });

  it('opens the whole list in parts of few megabytes, and counts each before it is read', async () => {
    const { evaluators, store, ids } = await setUpLarge(150);
    const listed: string[] = [];
    let counted = 0;
    const parts = await evaluators.open(project, (bytes) => {
      expect(bytes).toBeLessThan(2_100_000);
      counted += 1;
      expect(store.stepsRead).toBe(counted - 1);
    });
    for await (const part of parts) listed.push(...part.map(({ id }) => id));
    expect(listed).toEqual(ids);
  });

  it('opens the list as it is: what changes meanwhile is there once, what is deleted is not', async () => {
    const { evaluators, store, ids } = await setUpLarge(20);
    const parts = await evaluators.open(project, () => {});
    const [changed, deleted] = [ids[18], ids[19]];
    const index = store.stored.findIndex(({ id }) => id === changed);
    store.stored[index] = { ...(store.stored[index] as Evaluator), updatedAtMs: NOW_MS + 100 };
    await store.remove(project.id, deleted ?? '');
    const listed: string[] = [];
    for await (const part of parts) listed.push(...part.map(({ id }) => id));
    expect(listed).toEqual(ids.filter((id) => id !== deleted));
  });
});

function describeFields(fields: Evaluator['fields']): string {
  return fields.map(({ identifier, type, optional }) => `${identifier} ${type}${optional ? ' opt' : ''}`).join(', ');
}
