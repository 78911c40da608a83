/** Converts the result of an attempt into its record. */

import type { AttemptResult } from '../endpoints/destination.ts';
import { cutToCharacters } from '../text-limits.ts';
import type { Verdict } from './delivery.ts';

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
    // PostgreSQL cannot store U+0000.
    responseBody:
      responseText === null ? null : cutToCharacters(responseText.replaceAll('\0', ''), BODY_CHARACTERS_MAX),
    terminalHint,
    retryAfterMs,
  };
}

function kindOf({ isSenderFault, isGone }: Extract<AttemptResult, { kind: 'refused' }>): Verdict['kind'] {
  if (isSenderFault) return 'sender_fault';
  return isGone ? 'gone' : 'failure';
}
