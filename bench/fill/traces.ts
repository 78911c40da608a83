/** The traces of a fill: three spans each, many users, threads, models and words. Pure, so that rows know them. */

import type { Evaluation, Span, TraceAppend } from '../../src/domain/traces/trace.ts';

export type TracePlan = { readonly traces: number; readonly fromMs: number; readonly toMs: number };

/** The project of the traces. */
export type TraceOwner = Pick<TraceAppend, 'organizationId' | 'organizationNumber' | 'projectId' | 'projectNumber'>;

const DAYS = 30;
const DAY_MS = 86_400_000;
// The last trace lies before now.
const BEHIND_MS = 60_000;
const SPANS_MAX = 100_000;

export const USERS = 5_000;
const TRACES_PER_THREAD = 5;
export const MODELS = ['gpt-5', 'gpt-5-mini', 'gpt-4o-mini', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gemini-2.5-pro'];
export const LABELS = ['production', 'staging', 'support', 'sales', 'beta', 'canary'];
const NAMES = ['answer question', 'summarise document', 'plan trip', 'triage ticket', 'write mail'];
/** A word that one of RARE_EVERY traces holds. */
export const RARE_WORD = 'quizzaciously';
export const RARE_EVERY = 100_000;
const WORDS = 4_000;
const TEXT_WORDS = 48;
/** The number of texts: making a text per trace would take longer than storing it. */
const TEXTS = 20_000;

/** Thirty days up to now. */
export function planTraces(traces: number, nowMs: number): TracePlan {
  return { traces, fromMs: nowMs - DAYS * DAY_MS, toMs: nowMs - BEHIND_MS };
}

export function makeTrace(plan: TracePlan, owner: TraceOwner, index: number): TraceAppend {
  const random = randomOf(index);
  const below = (count: number) => Math.floor(random() * count);
  const startedAtMs = Math.floor(plan.fromMs + (index / plan.traces) * (plan.toMs - plan.fromMs));
  const question = textOf(below(TEXTS)) + (index % RARE_EVERY === RARE_EVERY / 2 ? ` ${RARE_WORD}` : '');
  const answer = textOf(below(TEXTS));
  const isFailed = below(50) === 0;
  const span = (name: string, changes: Partial<Span>): Span => ({
    ...EMPTY,
    spanId: hex(index, name.length, 16),
    name,
    startedAtMs,
    finishedAtMs: startedAtMs + 200 + below(4_000),
    ...changes,
  });
  const rootId = hex(index, 0, 16);
  return {
    ...owner,
    traceId: hex(index, 1, 32),
    receivedAtMs: startedAtMs + 5_000,
    expiredBeforeMs: null,
    spansMax: SPANS_MAX,
    metadataJson: JSON.stringify({
      user_id: `user_${below(USERS)}`,
      thread_id: `thread_${Math.floor(index / TRACES_PER_THREAD)}`,
      customer_id: `customer_${below(200)}`,
      labels: [LABELS[below(2)], LABELS[2 + below(4)]],
      plan: ['free', 'team', 'enterprise'][below(3)],
      release: `2026.${below(12)}.${below(4)}`,
    }),
    expectedOutput: undefined,
    spans: [
      span(NAMES[below(NAMES.length)] ?? '', {
        spanId: rootId,
        type: 'agent',
        inputJson: typedText(question),
        outputJson: typedText(answer),
        errorJson: isFailed ? '{"has_error":true,"message":"upstream timed out","stacktrace":[]}' : null,
      }),
      span('search documents', { parentId: rootId, type: 'rag', contextsJson: '[]' }),
      span('chat', {
        parentId: rootId,
        type: 'llm',
        vendor: 'openai',
        model: MODELS[below(MODELS.length)] ?? null,
        inputJson: typedText(question),
        outputJson: typedText(answer),
        promptTokens: 100 + below(900),
        completionTokens: 10 + below(400),
        costNanoUsd: 1_000 * (1 + below(100_000)),
        costSource: 'registry',
        firstTokenAtMs: startedAtMs + 100 + below(900),
      }),
    ],
    evaluations: index % 10 === 0 ? [evaluation(index, startedAtMs, random())] : [],
    requests: [],
  };
}

const EMPTY = {
  startedNs: null,
  finishedNs: null,
  parentId: null,
  type: 'span',
  vendor: null,
  model: null,
  firstTokenAtMs: null,
  inputJson: null,
  outputJson: null,
  paramsJson: null,
  cachedTokensInPrompt: null,
  otherMetricsJson: null,
  promptTokens: null,
  completionTokens: null,
  reasoningTokens: null,
  cacheReadInputTokens: null,
  cacheCreationInputTokens: null,
  costNanoUsd: null,
  costSource: null,
  callRow: 0,
  totalInput: null,
  totalOutput: null,
  shareRates: null,
  tokensEstimated: false,
  errorJson: null,
  contextsJson: null,
  telemetryJson: null,
} as const;

function evaluation(index: number, insertedAtMs: number, score: number): Evaluation {
  return {
    evaluationId: hex(index, 9, 16),
    evaluatorId: 'faithfulness',
    name: 'faithfulness',
    type: null,
    spanId: null,
    threadId: null,
    isGuardrail: false,
    status: 'processed',
    passed: score > 0.2,
    score,
    label: null,
    details: null,
    errorJson: null,
    inputsJson: null,
    costJson: null,
    monitorId: null,
    insertedAtMs,
    startedAtMs: null,
    finishedAtMs: null,
  };
}

function typedText(value: string): string {
  return JSON.stringify({ type: 'text', value });
}

const texts: string[] = [];

/** A text of about 300 bytes with few frequent and many rare words. */
function textOf(number: number): string {
  const random = randomOf(number);
  texts[number] ??= Array.from({ length: TEXT_WORDS }, () => wordOf(Math.floor(WORDS * random() ** 3))).join(' ');
  return texts[number];
}

const SYLLABLES = [
  'ta',
  'ri',
  'lo',
  'men',
  'sa',
  'ket',
  'vo',
  'din',
  'pa',
  'ule',
  'gor',
  'shi',
  'be',
  'nal',
  'qu',
  'ex',
];

export function wordOf(number: number): string {
  let word = '';
  for (let left = number + 16; left > 0; left = Math.floor(left / 16)) word += SYLLABLES[left % 16] ?? '';
  return word;
}

/** Random numbers that the index determines. */
function randomOf(index: number): () => number {
  let state = Math.imul(index + 1, 0x9e37_79b1);
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random-looking ids, like those of senders. */
function hex(index: number, salt: number, digits: number): string {
  const random = randomOf(index * 16 + salt);
  let text = '';
  while (text.length < digits)
    text += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return text.slice(0, digits);
}
