/** Random traces that share many values, and random searches. */

import { foldText } from '../../../src/domain/traces/search/fold-text.ts';
import type { Condition, FilterName } from '../../../src/domain/traces/search/trace-filter.ts';
import { TRACE_SORTS } from '../../../src/domain/traces/search/trace-search-query.ts';
import {
  type InstantRange,
  type SearchQuery,
  TOTAL_MAX,
} from '../../../src/domain/traces/search/trace-search-store.ts';
import type { Evaluation, Span, TraceAppend } from '../../../src/domain/traces/trace.ts';
import type { MetadataPatch } from '../../../src/domain/traces/trace-metadata-patch.ts';
import { seeded } from '../../support/scenario.ts';
import { LINKED, PROMPT_NAMES } from './linked-prompts.ts';
import { bareSpan, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleEvaluation } from './samples.ts';

const HOUR_MS = 3_600_000;
const EVER = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
const TRACES = 2_300;
const WORDS = ['Invoice', 'réfund', 'ΣΊΣΥΦΟΣ', '100%', 'under_score', '日本語の質問', 'order', 'border', 'a"quote\\'];
const KEYS = ['plan', 'region', '__proto__', 'constructor'];
const NAMES = ['chat', 'plan', 'tool call', ''];
const TYPES = ['llm', 'span', 'tool', 'agent'] as const;

export function createSearchSamples(seed: number) {
  const random = seeded(seed);
  const below = (count: number) => Math.floor(random() * count);
  const chance = (share: number) => random() < share;
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const some = <T>(values: readonly T[], most: number): T[] =>
    Array.from({ length: below(most + 1) }, () => pick(values));
  let nowMs = RECEIVED_AT_MS;

  function metadata(): Record<string, unknown> {
    const pairs: [string, unknown][] = [];
    if (chance(0.8)) pairs.push(['user_id', `user ${below(30)}`]);
    if (chance(0.5)) pairs.push(['thread_id', `thread "${below(300)}"`]);
    if (chance(0.6)) pairs.push(['labels', some(['a', 'b%', '😀', 'rare'], 3)]);
    if (chance(0.2)) pairs.push(['origin', pick(['evaluation', 'application', 7])]);
    if (chance(0.2)) pairs.push(['prompt_ids', pick(LINKED).sent]);
    for (const key of some(KEYS, 2)) pairs.push([key, pick([1, true, null, 'x', { deep: [1] }])]);
    // More keys than the index holds.
    if (chance(0.01)) for (let each = 0; each < 600; each += 1) pairs.push([`key ${each}`, each]);
    return Object.fromEntries(pairs);
  }

  function text(): string {
    return JSON.stringify({ type: 'text', value: [...some(WORDS, 3), `n${below(50)}`].join(' ') });
  }

  function span(index: number, startedAtMs: number): Span {
    const isLate = chance(0.1);
    return bareSpan({
      spanId: `span ${index}`,
      parentId: index === 0 ? null : 'span 0',
      type: pick(TYPES),
      name: pick([...NAMES, null]),
      model: pick(['gpt-5', 'claude', null]),
      startedAtMs,
      finishedAtMs: startedAtMs + (isLate ? -5 : below(3) * 100),
      firstTokenAtMs: chance(0.3) ? startedAtMs + below(4) * 10 : null,
      inputJson: chance(0.8) ? text() : null,
      outputJson: chance(0.7) ? text() : null,
      promptTokens: chance(0.3) ? below(3) * 5 : null,
      completionTokens: chance(0.3) ? below(4) * 5 : null,
      costNanoUsd: chance(0.6) ? below(5) * 1_000_000_000 : null,
      errorJson: chance(0.1)
        ? JSON.stringify({ has_error: true, message: `failed ${pick(WORDS)}`, stacktrace: [] })
        : null,
    });
  }

  function evaluation(): Evaluation {
    return sampleEvaluation({
      evaluationId: `evaluation ${below(3)}`,
      evaluatorId: pick(['tone', 'facts']),
      isGuardrail: chance(0.5),
      status: pick(['processed', 'skipped', 'error']),
      passed: pick([true, false, null]),
      score: pick([0, 0.25, 1, null]),
      label: pick(['good', 'bad', null]),
    });
  }

  const CONDITIONS: Readonly<Record<FilterName, () => Omit<Condition, 'name'>>> = {
    'metadata.user_id': () => plain(`user ${below(35)}`, `user ${below(35)}`),
    'metadata.thread_id': () => plain(`thread "${below(300)}"`),
    'metadata.customer_id': () => plain('nobody'),
    'metadata.labels': () => plain(pick(['a', 'b%', '😀', 'rare', 'none'])),
    'metadata.key': () => plain(pick([...KEYS, 'user_id', 'key 5'])),
    'metadata.prompt_ids': () => plain(pick(PROMPT_NAMES)),
    'prompt.id': () => plain(pick([...PROMPT_NAMES, '7'])),
    'prompt.version': () => plain(pick(PROMPT_NAMES), 'none'),
    'metadata.value': () => ({ of: pick(KEYS), values: some(['1', 'true', 'null', 'x', '{"deep":[1]}'], 3) }),
    'traces.origin': () => plain(pick(['application', 'evaluation', '7'])),
    'traces.error': () => plain(pick(['true', 'false'])),
    'traces.name': () => plain(...some([...NAMES, 'span'], 2)),
    'traces.duration_ms': () => plain(pick(['', '0', '100']), pick(['', '100', '150'])),
    'traces.total_cost': () => plain(pick(['', '0', '1.5']), pick(['', '3'])),
    'traces.total_tokens': () => plain(pick(['', '10']), pick(['', '10', '20'])),
    'traces.first_token_ms': () => plain(pick(['', '10']), pick(['', '20'])),
    'spans.type': () => plain(...some(TYPES, 2)),
    'spans.model': () => plain(pick(['gpt-5', 'claude', 'other'])),
    'evaluations.evaluator_id': () => plain(pick(['tone', 'facts'])),
    'evaluations.evaluator_id.guardrails_only': () => plain(pick(['tone', 'facts'])),
    'evaluations.evaluator_id.has_passed': () => plain(pick(['tone', 'facts'])),
    'evaluations.evaluator_id.has_score': () => plain(pick(['tone', 'facts'])),
    'evaluations.evaluator_id.has_label': () => plain(pick(['tone', 'facts'])),
    'evaluations.passed': () => ({ of: 'tone', values: [pick(['true', 'false'])] }),
    'evaluations.state': () => ({ of: 'facts', values: [pick(['processed', 'error'])] }),
    'evaluations.label': () => ({ of: 'tone', values: ['good'] }),
    'annotations.hasAnnotation': () => plain(pick(['true', 'false'])),
    'annotations.score': () => ({ of: 'helpful', values: ['1', ''] }),
    'events.event_type': () => plain(pick(['thumbs_up_down', 'opened'])),
    'events.metrics': () => ({ of: 'vote', values: [pick(['', '-1']), pick(['', '0'])] }),
    'evaluations.score': () => ({ of: 'tone', values: [pick(['0', '0.2']), pick(['0.25', '2'])] }),
  };

  function condition(): Condition {
    const name = pick(Object.keys(CONDITIONS) as FilterName[]);
    const { of, values } = CONDITIONS[name]();
    return { name, of, values: values.length === 0 ? ['x'] : values };
  }

  function within(share: number): InstantRange {
    if (chance(share)) return EVER;
    const fromMs = RECEIVED_AT_MS - below(60) * HOUR_MS;
    return { fromMs, toMs: fromMs + below(40) * HOUR_MS };
  }

  function query(): string {
    if (chance(0.6)) return '';
    const word = pick([...WORDS, 'failed', 'n4', 'nowhere', 'tool call']);
    return foldText(chance(0.3) ? word.slice(0, 1 + below(3)) : word);
  }

  return {
    index: () => below(TRACES),
    nowMs: () => nowMs,
    patch: (): MetadataPatch => ({ setJson: JSON.stringify(metadata()), removed: some(KEYS, 1) }),

    trace(index: number): TraceAppend {
      const count = 1 + below(3);
      // Many share an instant; some arrive long after their start.
      const startedAtMs = RECEIVED_AT_MS - (chance(0.1) ? below(60) : Math.floor(index / 100)) * HOUR_MS;
      nowMs += 1;
      return sampleAppend({
        traceId: index % 2 === 0 ? index.toString(16).padStart(32, '0') : `trace ${index}`,
        receivedAtMs: nowMs,
        metadataJson: JSON.stringify(metadata()),
        spans: Array.from({ length: count }, (_, each) => span(each, startedAtMs + each)),
        evaluations: chance(0.2) ? [evaluation(), evaluation()] : [],
        requests: [],
      });
    },

    question: (): SearchQuery => ({
      projectNumber: PROJECT.number,
      expiredBeforeMs: chance(0.8) ? null : RECEIVED_AT_MS + below(TRACES),
      started: within(0.6),
      updated: chance(0.8) ? EVER : { fromMs: RECEIVED_AT_MS + below(TRACES), toMs: RECEIVED_AT_MS + 2 * TRACES },
      sort: pick(TRACE_SORTS),
      isAscending: chance(0.5),
      traceIds: null,
      filter: {
        conditions: Array.from({ length: below(4) }, condition),
        isNegated: chance(0.25),
        text: query(),
      },
      after: null,
      limit: pick([150, 1000]),
      countMax: TOTAL_MAX,
    }),
  };
}

function plain(...values: readonly string[]) {
  return { of: '', values };
}
