/** Compares two texts: as numbers when both are numbers, else as texts normalized by the settings. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { normalizeText } from '../../domain/normalize-text.ts';
import { isOn, textOf } from './fields.ts';
import { verdictOf } from './outcomes.ts';

export function matchExactly(run: EvaluationRun): EvaluationOutcome {
  const output = textOf(run, 'output');
  const expected = textOf(run, 'expected_output');
  const equality = `${output} == ${expected}`;
  const [one, other] = [readDecimal(output), readDecimal(expected)];
  if (one !== null && other !== null) {
    return one === other
      ? verdictOf(true, equality)
      : verdictOf(false, `Expected ${output} to be equal to ${expected}`);
  }
  return areEqualTexts(run, output, expected)
    ? verdictOf(true, equality)
    : verdictOf(false, `Expected:\n${output}\nTo be exactly equal to:\n${expected}`);
}

const DECIMAL = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,3}))?$/;

/** The canonical form of a decimal number; null for other texts. */
function readDecimal(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === 'true') return '1e0';
  if (trimmed === 'false') return '0';
  const match = DECIMAL.exec(trimmed);
  if (match === null) return null;
  const [, sign, whole = '', fraction = match[4] ?? '', , exponent = '0'] = match;
  const digits = trimZeros(`${whole}${fraction}`);
  if (digits.kept === '') return '0';
  const scale = Number(exponent) - fraction.length + digits.trailing;
  return `${sign === '-' ? '-' : ''}${digits.kept}e${scale}`;
}

/** Without a pattern: one for trailing zeros takes quadratic time. */
function trimZeros(digits: string): { readonly kept: string; readonly trailing: number } {
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  return { kept: digits.slice(start, end), trailing: digits.length - end };
}

function areEqualTexts(run: EvaluationRun, output: string, expected: string): boolean {
  const trim = (text: string) => (isOn(run, 'trim_whitespace') ? text.trim() : text);
  let [one, other] = [trim(normalizeText(output, 'NFC')), trim(normalizeText(expected, 'NFC'))];
  if (isOn(run, 'remove_punctuation')) {
    const [plainOne, plainOther] = [trim(removePunctuation(one)), trim(removePunctuation(other))];
    // Without this, all texts of only punctuation would be equal.
    if (plainOne !== '' && plainOther !== '') [one, other] = [plainOne, plainOther];
  }
  return isOn(run, 'case_sensitive') ? one === other : one.toLowerCase() === other.toLowerCase();
}

function removePunctuation(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{Nd}\s]+/gu, '');
}
