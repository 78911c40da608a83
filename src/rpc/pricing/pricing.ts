/** PricingService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateOverrideRequest,
  OverrideMatch,
  type PriceMatchSchema,
  type PriceOverrideSchema,
  type PriceRatesSchema,
  PriceSource,
  type PricingService,
} from '../../../gen/spandrel/v1/pricing_pb.js';
import { picoToUsdNumber } from '../../domain/pricing/money.ts';
import type { PriceOverride } from '../../domain/pricing/override.ts';
import { type OverrideDraft, overrideProblems } from '../../domain/pricing/override-draft.ts';
import type { PriceOverrides } from '../../domain/pricing/overrides.ts';
import type { PriceResolver } from '../../domain/pricing/prices.ts';
import type { PriceMatch } from '../../domain/pricing/pricing.ts';
import type { TokenRates } from '../../domain/pricing/rates.ts';
import { numbersOf, wordOf } from '../enums.ts';
import { msOfTimestamp, toTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import { managementCallOf } from '../management-call.ts';
import type { Implementation } from '../method.ts';
import { organizationOf } from '../scope.ts';

type PricingRpcDeps = { readonly overrides: PriceOverrides; readonly prices: PriceResolver };

export function createPricingRpc({ overrides, prices }: PricingRpcDeps): Implementation<typeof PricingService> {
  return {
    listOverrides: async (_request, context) => ({
      data: (await overrides.list(managementCallOf(context))).map(toOverride),
    }),
    createOverride: {
      check: (request) => overrideProblems(draftOf(request)),
      handle: async (request, context) => ({
        override: toOverride(await overrides.create(managementCallOf(context), draftOf(request))),
      }),
    },
    async deleteOverride({ id }, context) {
      await overrides.remove(managementCallOf(context), id);
      return {};
    },
    async matchPrice({ model = '', vendor, at }, context) {
      const { match } = await prices.of(organizationOf(context), () => [model]);
      const found = match(model, vendor ?? null, at === undefined ? context.nowMs : msOfTimestamp(at));
      return found === null ? {} : { match: toMatch(found) };
    },
  };
}

const MATCHES = numbersOf(OverrideMatch);
const SOURCES = numbersOf(PriceSource);

function draftOf(request: CreateOverrideRequest): OverrideDraft {
  return {
    model: request.model ?? '',
    match: wordOf(OverrideMatch, request.match) ?? 'exact',
    effectiveFromMs: request.effectiveFrom === undefined ? null : msOfTimestamp(request.effectiveFrom),
    rates: {
      inputCostPerToken: request.inputCostPerToken ?? 0,
      outputCostPerToken: request.outputCostPerToken ?? 0,
      cacheReadCostPerToken: request.cacheReadCostPerToken ?? null,
      cacheWriteCostPerToken: request.cacheWriteCostPerToken ?? null,
    },
  };
}

function toOverride(override: PriceOverride): MessageInitShape<typeof PriceOverrideSchema> {
  const { match, cacheReadPicoUsd, cacheWritePicoUsd, effectiveFromMs } = override;
  return {
    ...fieldsOf(override),
    match: MATCHES[match],
    inputCostPerToken: picoToUsdNumber(override.inputPicoUsd),
    outputCostPerToken: picoToUsdNumber(override.outputPicoUsd),
    ...(cacheReadPicoUsd === null ? {} : { cacheReadCostPerToken: picoToUsdNumber(cacheReadPicoUsd) }),
    ...(cacheWritePicoUsd === null ? {} : { cacheWriteCostPerToken: picoToUsdNumber(cacheWritePicoUsd) }),
    effectiveFrom: toTimestamp(effectiveFromMs),
  };
}

function toMatch(match: PriceMatch): MessageInitShape<typeof PriceMatchSchema> {
  const { source, provider, id, matchedForm, rates, services } = match;
  const served = Object.fromEntries(services.map((service) => [service.tier, toRates(service.rates)]));
  return {
    source: SOURCES[source],
    provider: provider ?? undefined,
    id,
    matchedForm,
    rates: toRates(rates),
    flexRates: served.flex,
    batchRates: served.batch,
    priorityRates: served.priority,
  };
}

function toRates({ tiers, ...rates }: PriceMatch['rates']): MessageInitShape<typeof PriceRatesSchema> {
  return {
    ...toTokenRates(rates),
    ...(rates.requestPicoUsd === 0 ? {} : { costPerRequest: picoToUsdNumber(rates.requestPicoUsd) }),
    tiers: tiers.map((band) => ({ aboveTokens: BigInt(band.aboveTokens), ...toTokenRates(band) })),
  };
}

/** Leaves out the rates that are those of plain tokens. */
function toTokenRates(rates: TokenRates) {
  const { inputPicoUsd, outputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd } = rates;
  const other = (picoUsd: number, plainPicoUsd: number) =>
    picoUsd === plainPicoUsd ? undefined : picoToUsdNumber(picoUsd);
  return {
    inputCostPerToken: picoToUsdNumber(inputPicoUsd),
    outputCostPerToken: picoToUsdNumber(outputPicoUsd),
    cacheReadCostPerToken: picoToUsdNumber(cacheReadPicoUsd),
    cacheWriteCostPerToken: picoToUsdNumber(cacheWritePicoUsd),
    cacheWrite1hCostPerToken: other(rates.cacheWrite1hPicoUsd, cacheWritePicoUsd),
    audioInputCostPerToken: other(rates.audioInputPicoUsd, inputPicoUsd),
    audioOutputCostPerToken: other(rates.audioOutputPicoUsd, outputPicoUsd),
  };
}
