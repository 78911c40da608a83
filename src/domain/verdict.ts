/** What is recorded of an attempt. */

import type { Verdict } from './delivery.ts';
import type { AttemptResult } from './destination.ts';
import { cutToCharacters } from './text-limits.ts';

const ERROR_CHARACTERS_MAX = 500;
const BODY_CHARACTERS_MAX = 1_000;

export function verdictOf(result: AttemptResult): Verdict {
  const measured = { responseStatus: result.responseStatus, latencyMs: Math.round(result.latencyMs) };
  if (result.kind === 'accepted') {
    return { ...measured, kind: 'success', error: null, responseBody: null, terminalHint: false, retryAfterMs: null };
  }
  const { error, responseText, terminalHint, retryAfterMs } = result;
  return {
    ...measured,
    kind: kindOf(result),
    error: cutToCharacters(error, ERROR_CHARACTERS_MAX),
    // Not every store can keep U+0000.
    responseBody:
      responseText === null ? null : cutToCharacters(responseText.replaceAll('\0', ''), BODY_CHARACTERS_MAX),
    terminalHint,
    retryAfterMs,
  };
}

function kindOf({ isOurs, isGone }: Extract<AttemptResult, { kind: 'refused' }>): Verdict['kind'] {
  if (isOurs) return 'ours';
  return isGone ? 'gone' : 'failure';
}
