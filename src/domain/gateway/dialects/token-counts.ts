/** Counts of tokens in what providers tell of the usage. */

import { isObject, type LosslessObject, readMember } from '../../../json/lossless-json.ts';
import { NO_PARTS, type PricedParts } from './dialect.ts';

/** The count of that name, or inside the object of that name; null: none was told. */
export function readTokens(usage: LosslessObject, name: string, inner?: string): number | null {
  const value = readMember(usage, name);
  if (inner !== undefined) return isObject(value) ? readTokens(value, inner) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The tokens of audio, which OpenAI tells in an object for the input and one for the output. */
export function readAudio(usage: LosslessObject, input: string, output: string): PricedParts {
  const [inputAudioTokens, outputAudioTokens] = [input, output].map((name) => readTokens(usage, name, 'audio_tokens'));
  return { ...NO_PARTS, inputAudioTokens: inputAudioTokens ?? 0, outputAudioTokens: outputAudioTokens ?? 0 };
}
