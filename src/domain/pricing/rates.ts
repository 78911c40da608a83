/** Rates of a price, and the shares of them that other service tiers cost. */

/** Whole pico-USD per token or request. The largest published rate is far below 2^53, so plain numbers are exact. */
export type TokenRates = {
  readonly inputPicoUsd: number;
  readonly outputPicoUsd: number;
  readonly cacheReadPicoUsd: number;
  /** Writes to a cache that lives five minutes. */
  readonly cacheWritePicoUsd: number;
  readonly cacheWrite1hPicoUsd: number;
  readonly audioInputPicoUsd: number;
  readonly audioOutputPicoUsd: number;
  readonly requestPicoUsd: number;
};

/** The rates that every price states. */
export type GivenRates = Pick<TokenRates, 'inputPicoUsd' | 'outputPicoUsd'>;

/** Rates as a price states them; `completeRates` says what the others are. */
export type ListedRates = GivenRates & Partial<TokenRates>;

/** The rates of every token of a span whose total input is greater than `aboveTokens`. */
export type RateBand = TokenRates & { readonly aboveTokens: number };

/** The band of an input, if it reaches one. */
export function findBand(tiers: readonly RateBand[], inputTokens: number): RateBand | undefined {
  return tiers.length === 0 ? undefined : tiers.findLast(({ aboveTokens }) => inputTokens > aboveTokens);
}

/** The ways to be served that cost other rates than the standard ones. */
export type ServiceTier = 'flex' | 'batch' | 'priority';

/** What a service tier of a model costs. */
export type ServiceRate = {
  readonly tier: ServiceTier;
  /** The share of the standard rates, as numerator and denominator. */
  readonly share: readonly [numerator: number, denominator: number];
  /** Tokens read from a cache cost their standard rate. */
  readonly keepsCacheReads?: boolean;
  /** Inputs that reach a band of their own are served, and priced, in the standard way. */
  readonly isBaseOnly?: boolean;
};

/** Later names of a tier, and its own. */
const tiersByName: ReadonlyMap<string, ServiceTier> = new Map([
  ['flex', 'flex'],
  ['batch', 'batch'],
  ['priority', 'priority'],
  ['fast', 'priority'],
]);

/** The tier that a sender names; null for the standard one and for names without a price. */
export function serviceTierOf(name: string): ServiceTier | null {
  return tiersByName.get(name.toLowerCase()) ?? null;
}

/** Adds the rates that a price does not state: of caches and audio those of the text, of requests none. */
export function completeRates(listed: ListedRates): TokenRates {
  const { inputPicoUsd, outputPicoUsd } = listed;
  const cacheWritePicoUsd = listed.cacheWritePicoUsd ?? inputPicoUsd;
  return {
    inputPicoUsd,
    outputPicoUsd,
    cacheReadPicoUsd: listed.cacheReadPicoUsd ?? inputPicoUsd,
    cacheWritePicoUsd,
    cacheWrite1hPicoUsd: listed.cacheWrite1hPicoUsd ?? cacheWritePicoUsd,
    audioInputPicoUsd: listed.audioInputPicoUsd ?? inputPicoUsd,
    audioOutputPicoUsd: listed.audioOutputPicoUsd ?? outputPicoUsd,
    requestPicoUsd: listed.requestPicoUsd ?? 0,
  };
}

/** The rates of a service tier, half up; a request costs the same in all. */
export function rateService(rates: TokenRates, { share: [numerator, denominator], keepsCacheReads }: ServiceRate) {
  const scale = (picoUsd: number) => Math.floor((picoUsd * numerator * 2 + denominator) / (denominator * 2));
  return {
    inputPicoUsd: scale(rates.inputPicoUsd),
    outputPicoUsd: scale(rates.outputPicoUsd),
    cacheReadPicoUsd: keepsCacheReads === true ? rates.cacheReadPicoUsd : scale(rates.cacheReadPicoUsd),
    cacheWritePicoUsd: scale(rates.cacheWritePicoUsd),
    cacheWrite1hPicoUsd: scale(rates.cacheWrite1hPicoUsd),
    audioInputPicoUsd: scale(rates.audioInputPicoUsd),
    audioOutputPicoUsd: scale(rates.audioOutputPicoUsd),
    requestPicoUsd: rates.requestPicoUsd,
  };
}
