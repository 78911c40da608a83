/** The spans of the model as the product holds them. */

import { numberOfName, packRates } from '../../../../src/domain/pricing/usage-facts.ts';
import type { SpanSummary } from '../../../../src/domain/traces/trace.ts';
import type { ModelSpan } from '../../../support/share-model/shares.ts';
import { summary } from '../summaries.ts';

export function toSummary({ id, parent, type, row, start, input, output, cost, rates }: ModelSpan): SpanSummary {
  return summary({
    spanId: id,
    parentId: parent,
    type: type as SpanSummary['type'],
    model: row,
    callRow: row === null ? 0 : numberOfName(row),
    startedAtMs: 1000 + start,
    promptTokens: input,
    completionTokens: output,
    costNanoUsd: cost?.nano ?? null,
    costSource: cost?.source ?? null,
    shareRates:
      row !== null || rates === null
        ? null
        : packRates({
            inputPicoUsd: rates.input * 1000,
            outputPicoUsd: rates.output * 1000,
            cacheReadPicoUsd: 0,
            cacheWritePicoUsd: 0,
            tiers: [],
          }),
  });
}
