/** The content of a request besides its ids, from a span or a report; admissions are stored. */

/** Whole numbers of tokens. */
export const USAGE_NAMES = [
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheCreationInputTokens',
  'reasoningTokens',
] as const;
export type RequestUsage = { readonly [Name in (typeof USAGE_NAMES)[number]]: number };

export type RequestError = { readonly class: string | null; readonly httpStatus: number | null };

export type RequestCost = {
  readonly nanoUsd: number;
  /** The version of the price list; null when the cost is not from the list. */
  readonly rateVersion: string | null;
};

/** Null, and an empty text, list or object, mean "not reported". */
export type RequestContent = {
  readonly occurredAtMs: number;
  readonly virtualKeyId: string;
  readonly principalUserId: string | null;
  readonly endUserId: string | null;
  readonly traceId: string;
  readonly model: string | null;
  readonly modelProviderId: string | null;
  readonly requestType: string | null;
  readonly usage: RequestUsage | null;
  readonly error: RequestError | null;
  readonly durationMs: number | null;
  /** Compact JSON text of a list of strings. */
  readonly labelsJson: string;
  /** Compact JSON text of an object. */
  readonly metadataJson: string;
};

/** The part of an admitted request that later events need. */
export type Admission = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly content: RequestContent;
  readonly cost: RequestCost | null;
};

export function packAdmission(admission: Admission): string {
  return JSON.stringify(admission);
}

export function unpackAdmission(text: string): Admission {
  return JSON.parse(text) as Admission;
}

/** Fills the missing fields of an outcome from its admission; instant and error always come from the outcome. */
export function completeContent(reported: RequestContent, admitted: RequestContent): RequestContent {
  return {
    occurredAtMs: reported.occurredAtMs,
    virtualKeyId: reported.virtualKeyId === '' ? admitted.virtualKeyId : reported.virtualKeyId,
    principalUserId: reported.principalUserId ?? admitted.principalUserId,
    endUserId: reported.endUserId ?? admitted.endUserId,
    traceId: reported.traceId === '' ? admitted.traceId : reported.traceId,
    model: reported.model ?? admitted.model,
    modelProviderId: reported.modelProviderId ?? admitted.modelProviderId,
    requestType: reported.requestType ?? admitted.requestType,
    usage: reported.usage ?? admitted.usage,
    error: reported.error,
    durationMs: reported.durationMs ?? admitted.durationMs,
    labelsJson: reported.labelsJson === '[]' ? admitted.labelsJson : reported.labelsJson,
    metadataJson: reported.metadataJson === '{}' ? admitted.metadataJson : reported.metadataJson,
  };
}

export function isSameUsage(one: RequestUsage | null, other: RequestUsage | null): boolean {
  if (one === null || other === null) return one === other;
  for (const name of USAGE_NAMES) if (one[name] !== other[name]) return false;
  return true;
}
