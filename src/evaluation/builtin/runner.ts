/** Runs the evaluators that need no model and no network: cheap runs on the event loop, others in a thread. */

import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import {
  type EvaluationOutcome,
  type EvaluationRun,
  permitRequestOf,
  unreadOutcome,
} from '../../domain/evaluations/outcome.ts';
import { type CheckPatterns, readTextRules } from '../../domain/evaluators/text-rules.ts';
import { unavailableFault } from '../../domain/fault.ts';
import { type Rendered, type RenderInThread, unrendered } from '../../domain/prompts/prompt-template.ts';
import { isArray, readMember, stringifyLossless } from '../../json/lossless-json.ts';
import { createPool, type Pool } from '../pool/pool.ts';
import type { PoolAnswer } from '../pool/pool-thread.ts';
import { loadEvaluator } from './evaluators.ts';
import { failed } from './outcomes.ts';
import type { Task } from './thread.ts';

type BuiltinRunnerOptions = {
  /** Most threads; each starts when it is first needed. */
  readonly threads?: number;
  /** The time limit of one run, after its code is loaded. */
  readonly timeoutMs?: number;
};

const THREADS = 4;
const TIMEOUT_MS = 1000;
const QUEUE_MAX = 256;
const WAIT_MAX_MS = 5000;
const LOAD_MAX_MS = 10_000;
const IDLE_MS = 60_000;
/**
 * A thread that reaches its heap limit is ended. A single huge allocation at that moment, such as growing a list of
 * millions, would crash the whole process: CHARACTERS_MAX prevents it.
 */
const MEMORY_MAX_MB = 512;
const CHARACTERS_MAX = 2 * 1024 * 1024;

export type BuiltinRunner = ReturnType<typeof createBuiltinRunner>;

export function createBuiltinRunner(options: BuiltinRunnerOptions = {}) {
  const { threads = THREADS, timeoutMs = TIMEOUT_MS } = options;
  const pool = createPool({
    threadsMax: threads,
    queueMax: QUEUE_MAX,
    waitMaxMs: WAIT_MAX_MS,
    timeoutMs,
    loadMaxMs: LOAD_MAX_MS,
    idleMs: IDLE_MS,
    spawn: spawnThread,
  });
  return {
    async run(run: EvaluationRun, signal: AbortSignal): Promise<EvaluationOutcome> {
      if (isCheap(run)) return runHere(run);
      if (countCharacters(run) > CHARACTERS_MAX) {
        return unreadOutcome('EVALUATOR_ERROR', `The texts have more than ${CHARACTERS_MAX} characters`);
      }
      const task: Task = { kind: 'evaluate', run: { ...run, settings: stringifyLossless(run.settings) } };
      return outcomeOf(await pool.run({ ...permitRequestOf(run), task }, signal), timeoutMs);
    },
    checkPatterns: createPatternCheck(pool),
    renderTexts: createRendering(pool, timeoutMs),
    /** Aborts running and waiting runs. */
    close: pool.close,
  };
}

function spawnThread(): Worker {
  return new Worker(new URL('./thread-launch.js', import.meta.url), {
    workerData: { compileCacheFolder: getCompileCacheDir() ?? null },
    name: 'spandrel-evaluator',
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MAX_MB, maxYoungGenerationSizeMb: 32 },
  });
}

async function runHere(run: EvaluationRun): Promise<EvaluationOutcome> {
  try {
    const loaded = loadEvaluator(run);
    const evaluate = loaded instanceof Promise ? await loaded : loaded;
    return evaluate(run);
  } catch (error) {
    return failed('EVALUATOR_ERROR', error instanceof Error ? error.message : String(error));
  }
}

const RETRY_AFTER_SECONDS = 1;
const TOO_MUCH = 'Too much is being evaluated; try again.';

/** Throws unavailable. */
function outcomeOf(answer: PoolAnswer, timeoutMs: number): EvaluationOutcome {
  switch (answer.kind) {
    case 'done':
      return answer.value as EvaluationOutcome;
    case 'failed':
      return failed('EVALUATOR_ERROR', answer.message);
    case 'timeout':
      return failed('EVALUATOR_TIMEOUT', `The evaluator took longer than ${timeoutMs} ms`);
    case 'out_of_memory':
      return failed('EVALUATOR_ERROR', `The evaluator took more than ${MEMORY_MAX_MB} MiB of memory`);
    case 'full':
    case 'aborted':
      throw unavailableFault(TOO_MUCH, RETRY_AFTER_SECONDS);
  }
}

const GOOD_PATTERNS_MAX = 500;
const neverAborted = new AbortController().signal;

/** Remembers valid patterns, because every run checks the rules of its evaluator. */
function createPatternCheck(pool: Pool): CheckPatterns {
  const good = new Set<string>();
  return async (request, patterns) => {
    if (patterns.every((pattern) => good.has(pattern))) return patterns.map(() => null);
    const task: Task = { kind: 'check_patterns', patterns };
    const answer = await pool.run({ ...request, task }, neverAborted);
    if (answer.kind === 'timeout' || answer.kind === 'out_of_memory') {
      return patterns.map(() => 'it takes too long to compile, alone or with the others');
    }
    if (answer.kind !== 'done') throw unavailableFault(TOO_MUCH, RETRY_AFTER_SECONDS);
    const problems = answer.value as readonly (string | null)[];
    if (good.size >= GOOD_PATTERNS_MAX) good.clear();
    patterns.forEach((pattern, index) => {
      if (problems[index] === null) good.add(pattern);
    });
    return problems;
  };
}

function createRendering(pool: Pool, timeoutMs: number): RenderInThread {
  return async (request, texts) => {
    const task: Task = { kind: 'render', ...texts };
    const answer = await pool.run({ ...request, task }, neverAborted);
    switch (answer.kind) {
      case 'done':
        return answer.value as Rendered;
      case 'failed':
        return unrendered(answer.message);
      case 'timeout':
        return unrendered(`it takes longer than ${timeoutMs} ms`);
      case 'out_of_memory':
        return unrendered(`it takes more than ${MEMORY_MAX_MB} MiB of memory`);
      case 'full':
      case 'aborted':
        throw unavailableFault('Too many prompts are being rendered; try again.', RETRY_AFTER_SECONDS);
    }
  };
}

/** Code units of all texts, up to which a run took about a millisecond in a measurement. */
const CHEAP_CHARACTERS_MAX: { readonly [evaluatorType: string]: (run: EvaluationRun) => number } = {
  'langevals/exact_match': () => 20_000,
  'langevals/basic': ({ settings }) => {
    const rules = readTextRules(settings);
    return rules.some(({ isPattern }) => isPattern) ? 0 : 200_000 / Math.max(1, rules.length);
  },
  'langevals/competitor_blocklist': ({ settings }) => {
    const names = readMember(settings, 'competitors');
    return isArray(names) ? 10_000 / Math.max(1, names.length) : 0;
  },
  'langevals/valid_format': ({ settings: { format, json_schema: schema } }) =>
    format === 'json' && typeof schema !== 'string' ? 20_000 : 0,
  'ragas/bleu_score': () => 1000,
  'ragas/rouge_score': () => 1000,
  'ragas/context_precision': () => 200,
  'ragas/context_recall': () => 200,
  'ragas/context_f1': () => 200,
};

/** Whether the run stays on the event loop, because passing it to a thread would take longer. */
function isCheap(run: EvaluationRun): boolean {
  const charactersMax = CHEAP_CHARACTERS_MAX[run.evaluatorType]?.(run) ?? 0;
  return charactersMax > 0 && countCharacters(run) <= charactersMax;
}

/** Code units of all texts and the schema, plus one per list item. */
function countCharacters({ data, settings }: EvaluationRun): number {
  let count = typeof settings.json_schema === 'string' ? settings.json_schema.length : 0;
  for (const value of Object.values(data)) {
    if (typeof value === 'string') count += value.length;
    else for (const item of value) count += 1 + (typeof item === 'string' ? item.length : 0);
  }
  return count;
}
