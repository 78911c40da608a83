/** The metrics of a span. All counts come from one convention: each counts cached tokens in its own way. */

import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { isUnreadable, type MetricsDraft, type Sent, type Unreadable } from '../collector/collector-draft.ts';
import { isBlank, toBoolean, toFigure } from '../collector/collector-json.ts';
import { METRIC_NAMES } from '../collector/collector-metrics.ts';
import { CACHED_TOKENS_IN_PROMPT, COST, MODEL, SERVICE_TIER, TOKENS_ESTIMATED, VENDOR } from './attribute-table.ts';
import type { Convention, ReadConvention, UsageField, UsageSource } from './conventions/convention.ts';
import { conventionsOf } from './conventions/conventions.ts';
import { memberAt, sumOf } from './conventions/sources.ts';
import { first, type SpanView } from './span-view.ts';

type Figures = { readonly [Field in UsageField]?: LosslessJson };

type Usage = { readonly figures: Figures; readonly cachedTokensInPrompt: boolean | undefined };

const NO_USAGE: Usage = { figures: {}, cachedTokensInPrompt: undefined };

/** Counts in langwatch.metrics, which are of no other convention. */
const OWN_COUNTS = [
  'prompt_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const satisfies readonly UsageField[];

export type MetricsRead = {
  readonly metrics: MetricsDraft | undefined;
  /** Figures without a column that cannot be read. */
  readonly dropped: readonly Unreadable[];
};

export function metricsOf(view: SpanView): MetricsRead {
  const { figures, cachedTokensInPrompt } = usageOf(view);
  const count = (name: UsageField) => toFigure(figures[name], `metrics.${name}`);
  const { others, dropped } = othersOf(view, figures);
  const metrics: MetricsDraft = {
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
    reasoningTokens: count('reasoning_tokens'),
    cacheReadInputTokens: count('cache_read_input_tokens'),
    cacheCreationInputTokens: count('cache_creation_input_tokens'),
    cost: toFigure(first(view, COST), 'metrics.cost'),
    tokensEstimated: toBoolean(first(view, TOKENS_ESTIMATED), 'metrics.tokens_estimated'),
    cachedTokensInPrompt:
      toBoolean(first(view, CACHED_TOKENS_IN_PROMPT), 'metrics.cached_tokens_in_prompt') ?? cachedTokensInPrompt,
    others,
  };
  return { metrics: Object.values(metrics).every((value) => value === undefined) ? undefined : metrics, dropped };
}

function usageOf(view: SpanView): Usage {
  const { span, marks, metrics } = view;
  if (OWN_COUNTS.some((name) => !isBlank(metrics[name]))) return { figures: metrics, cachedTokensInPrompt: undefined };
  for (const convention of conventionsOf(marks, span)) {
    const figures = figuresOf(view, convention);
    if (figures !== undefined) return { figures, cachedTokensInPrompt: cachedIn(view, convention) };
  }
  return NO_USAGE;
}

/** undefined without any. */
function figuresOf(view: SpanView, convention: ReadConvention): Figures | undefined {
  let figures: { [Field in UsageField]?: LosslessJson } | undefined;
  for (const { field, sources } of convention.sources) {
    const value = figureIn(view, sources);
    if (value === undefined) continue;
    figures ??= {};
    figures[field] = value;
  }
  return figures;
}

function figureIn(view: SpanView, sources: readonly UsageSource[]): LosslessJson | undefined {
  for (const source of sources) {
    const value = readSource(view, source);
    if (!isBlank(value)) return value;
  }
  return undefined;
}

function readSource(view: SpanView, source: UsageSource): LosslessJson | undefined {
  const { attributes } = view.span;
  if (typeof source === 'string') return attributes.get(source);
  if (typeof source === 'function') return source(view);
  const details = view.json.object(attributes.get(source.json));
  return details && sumOf(source.members.map((member) => memberAt(details, member)));
}

/** undefined where the convention does not say. */
function cachedIn(view: SpanView, convention: Convention): boolean | undefined {
  const { cachedTokensInPrompt, cachedTokensInPromptOfClaude: ofClaude } = convention;
  const says = ofClaude !== undefined && isOfAnthropic(view) ? ofClaude : cachedTokensInPrompt;
  return (typeof says === 'function' ? says(view) : says) ?? undefined;
}

function isOfAnthropic(view: SpanView): boolean {
  return [first(view, MODEL), first(view, VENDOR)].some((text) => typeof text === 'string' && ANTHROPIC.test(text));
}

const ANTHROPIC = /claude|anthropic/i;

type Others = { readonly others: LosslessObject | undefined; readonly dropped: readonly Unreadable[] };

/** Metrics without a column of their own: unknown members of langwatch.metrics, and what else the price depends on. */
function othersOf(view: SpanView, figures: Figures): Others {
  const others: { [name: string]: LosslessJson } = {};
  const dropped: Unreadable[] = [];
  for (const [name, value] of Object.entries(view.metrics)) if (!METRIC_NAMES.has(name)) others[name] = value;
  const readCount = (field: UsageField): number | undefined => {
    const figure: Sent<number> = toFigure(figures[field], `metrics.${field}`);
    if (!isUnreadable(figure)) return figure;
    dropped.push(figure);
    return undefined;
  };
  const keep = (name: string, value: LosslessJson | undefined) => {
    if (value !== undefined && !(name in others)) others[name] = value;
  };
  keep('input_audio_tokens', readCount('input_audio_tokens'));
  keep('output_audio_tokens', readCount('output_audio_tokens'));
  keep('cache_creation', lifetimesOf(readCount));
  // The total only tells whether reasoning is part of the completion.
  if (figures.reasoning_tokens !== undefined) keep('total_tokens', readCount('total_tokens'));
  keep('service_tier', tierOf(view));
  return { others: Object.keys(others).length === 0 ? undefined : others, dropped };
}

/** Cache writes by their lifetime. */
function lifetimesOf(readCount: (field: UsageField) => number | undefined): LosslessObject | undefined {
  const [short, long] = [readCount('ephemeral_5m_input_tokens'), readCount('ephemeral_1h_input_tokens')];
  if (short === undefined && long === undefined) return undefined;
  return { ephemeral_5m_input_tokens: short ?? 0, ephemeral_1h_input_tokens: long ?? 0 };
}

function tierOf(view: SpanView): string | undefined {
  const tier = first(view, SERVICE_TIER);
  return typeof tier === 'string' ? tier : undefined;
}
