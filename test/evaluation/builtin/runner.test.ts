import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EvaluationOutcome } from '../../../src/domain/evaluations/outcome.ts';
import { patternProblems } from '../../../src/domain/evaluators/text-rules.ts';
import { type BuiltinRunner, createBuiltinRunner } from '../../../src/evaluation/builtin/runner.ts';
import { isObject, parseFreeJson } from '../../../src/json/free-json.ts';
import { type RunInput, runOf } from './running.ts';

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const PERMIT = { tenant: { organizationId: 'organization_1', projectId: 'project_1' }, isUrgent: false };

let runner: BuiltinRunner;
beforeAll(() => {
  runner = createBuiltinRunner({ timeoutMs: 500 });
});
afterAll(() => runner.close());

const run = (evaluatorType: string, input: RunInput) => runner.run(runOf(evaluatorType, input), never);

const deepSchema = `${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}`;

/** What would take minutes, hours, or the whole stack. */
const HOSTILE: readonly (readonly [name: string, evaluatorType: string, input: RunInput])[] = [
  [
    'a pattern that backtracks',
    'langevals/basic',
    {
      data: { output: `${'a'.repeat(MIB)}!` },
      settings: { rules: [{ field: 'output', rule: 'matches_regex', value: '(a+)+$' }] },
    },
  ],
  [
    'two long contexts',
    'ragas/context_f1',
    { data: { contexts: ['a'.repeat(MIB)], expected_contexts: ['b'.repeat(MIB)] } },
  ],
  [
    'two long summaries',
    'ragas/rouge_score',
    {
      data: { output: 'a b '.repeat(MIB / 4), expected_output: 'b c '.repeat(MIB / 4) },
      settings: { rouge_type: 'rougeL' },
    },
  ],
  [
    'parentheses without end',
    'langevals/valid_format',
    { data: { output: `SELECT ${'('.repeat(60)}1` }, settings: { format: 'sql' } },
  ],
  [
    'brackets without end',
    'langevals/valid_format',
    { data: { output: '['.repeat(MIB) }, settings: { format: 'markdown' } },
  ],
  ['a deep schema', 'langevals/valid_format', { data: { output: '1' }, settings: { json_schema: deepSchema } }],
  ['half a million tokens', 'langwatch/api_keys_and_secrets_detection', { data: { output: 'eyJ-'.repeat(MIB / 4) } }],
];

describe('the runner of evaluators in this process', () => {
  it('runs each as it runs by itself, here or in a thread', async () => {
    const short = await run('ragas/bleu_score', { data: { output: 'the cat', expected_output: 'the cat' } });
    expect(short).toMatchObject({ status: 'processed', score: 1 });
    const long = 'the cat sat on the mat '.repeat(200);
    expect(await run('ragas/bleu_score', { data: { output: long, expected_output: long } })).toEqual(short);
  });

  it('ends for any input, and hardly uses the event loop', async () => {
    // The first loads the code, and starts a thread.
    await run('langwatch/api_keys_and_secrets_detection', {});
    const before = process.threadCpuUsage();
    // One after another: on a busy machine, those that wait for a thread would give up.
    const outcomes: EvaluationOutcome[] = [];
    for (const [, evaluatorType, input] of HOSTILE) outcomes.push(await run(evaluatorType, input));
    const { user, system } = process.threadCpuUsage(before);
    const late = outcomes.filter((outcome) => outcome.status === 'error' && outcome.errorType === 'EVALUATOR_TIMEOUT');
    expect(late.length).toBeGreaterThan(0);
    // Milliseconds of this thread; what it was spared are seconds.
    expect((user + system) / 1000).toBeLessThan(500);
  });

  it('refuses texts that could take more memory than a thread has', async () => {
    const output = 'a\n\n'.repeat(MIB);
    expect(await run('langevals/valid_format', { data: { output }, settings: { format: 'markdown' } })).toEqual({
      status: 'error',
      errorType: 'EVALUATOR_ERROR',
      details: 'The texts have more than 2097152 characters',
      isRetryable: false,
      isUnread: true,
    });
  });

  it('runs with settings whose numbers keep their spelling', async () => {
    const settings = parseFreeJson('{"x":9007199254740993,"list":[1.0,{"y":12345678901234567890}]}');
    if (!isObject(settings)) throw new Error('not an object');
    const secret = await run('langwatch/api_keys_and_secrets_detection', {
      data: { output: 'key AKIAIOSFODNN7EXAMPLE ok' },
      settings,
    });
    expect(secret).toMatchObject({ status: 'processed', passed: false, score: 1 });
  });

  it('rejects what nobody will judge, because too many wait or it is closed, instead of calling it an error', async () => {
    const busy = createBuiltinRunner({ threads: 1, timeoutMs: 60_000 });
    const contexts = { contexts: ['a'.repeat(MIB / 2)], expected_contexts: ['b'.repeat(MIB / 2)] };
    const asked = Array.from({ length: 70 }, () => busy.run(runOf('ragas/context_f1', { data: contexts }), never));
    const ended = Promise.allSettled(asked);
    await expect(Promise.race(asked)).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
    await busy.close();
    for (const end of await ended) {
      expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', retryAfterSeconds: 1 } });
    }
  });

  it('reports invalid patterns of RE2', async () => {
    const rules = ['a+', '(?=a)b', String.raw`(a)\1`, '(?<=a)b', '(a', '^b$'].map((value) => ({
      field: 'output',
      rule: 'matches_regex',
      value,
    }));
    const subject = {
      ...PERMIT,
      evaluatorType: 'langevals/basic',
      settings: { rules },
      path: 'config.settings',
    };
    const problems = await patternProblems(runner.checkPatterns, subject);
    const bad = [1, 2, 3, 4].map((index) => `config.settings.rules.${index}.value`);
    expect(problems.map(({ field }) => field)).toEqual(bad);
    expect(problems[0]?.message).toBe(
      'config.settings.rules.1.value must be a pattern of RE2: invalid or unsupported Perl syntax: `(?=`',
    );
  });

  it('takes a text that is contained for no pattern', async () => {
    const rules = [{ field: 'output', rule: 'contains', value: '(?=' }];
    const subject = { ...PERMIT, evaluatorType: 'langevals/basic', settings: { rules }, path: 'settings' };
    expect(await patternProblems(runner.checkPatterns, subject)).toEqual([]);
  });
});
