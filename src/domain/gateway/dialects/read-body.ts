/** Reads the body of a request: as much as the gateway must know of it. */

import { type JsonFacts, parseJson, parseLargeJson, scanJson } from '../../../json/json-text.ts';
import {
  isArray,
  isObject,
  jsonTypeOf,
  type LosslessJson,
  type LosslessObject,
  readMember,
} from '../../../json/lossless-json.ts';
import { wholeNumberOf } from '../../../json/whole-number.ts';
import { TOO_WIDE_REASON } from '../../../json/wide-json.ts';
import { Fault, type JsonValue } from '../../fault.ts';
import type { Steps } from '../../steps.ts';
import { cutToCharacters, hasMoreCharactersThan } from '../../text-limits.ts';
import { type BodyProblem, dialectOf, type ReadBody, type RouteKind } from './dialect.ts';
import { INPUT_NAMES, inputOf } from './request-input.ts';
import { sizeOf } from './request-size.ts';

const MODEL_CHARACTERS_MAX = 512;
const END_USER_CHARACTERS_MAX = 256;

/** Parses the body once. What only the provider must understand is left to it. */
export function readBody(route: RouteKind, bytes: Buffer): ReadBody | BodyProblem {
  try {
    const facts = scanJson(bytes);
    return readParsed(route, { value: parseJson(bytes, facts, 'values'), facts });
  } catch (error) {
    return problemOf(error);
  }
}

/** As readBody, with pauses: for large bodies, which would hold the event loop for a tenth of a second and more. */
export function* readLargeBody(route: RouteKind, bytes: Buffer): Steps<ReadBody | BodyProblem> {
  try {
    const parsed = yield* parseLargeJson(bytes, 'values');
    yield;
    return readParsed(route, parsed);
  } catch (error) {
    return problemOf(error);
  }
}

type Parsed = { readonly value: JsonValue; readonly facts: JsonFacts };

function readParsed(route: RouteKind, { value, facts }: Parsed): ReadBody | BodyProblem {
  const body = value as LosslessJson;
  // It would not be built, and so not be counted.
  if (facts.hasWide) return invalid(null, `The request body ${TOO_WIDE_REASON}.`);
  if (!isObject(body)) return invalid(null, 'The request body must be a JSON object.');
  return findAmbiguity(body, facts) ?? findProblem(route, body) ?? toReadBody(route, body);
}

function problemOf(error: unknown): BodyProblem {
  if (error instanceof Fault) return invalid(null, error.message);
  throw error;
}

/**
 * Providers differ in which of several members of one name they read, and some take the case of names for nothing: such a body
 * could be another one for them than it is for the limits of the key.
 */
function findAmbiguity(body: LosslessObject, { rootMembers }: JsonFacts): BodyProblem | null {
  const names = Object.keys(body);
  if (names.length !== rootMembers) return invalid(null, 'The request body has two members of the same name.');
  const name = names.find((each) => !READ_NAMES.has(each) && READ_NAMES.has(each.toLowerCase()));
  return name === undefined ? null : invalid(name, `${name} must be written in lower case.`);
}

/** What decides which model is asked, what that may cost, and whom it counts for. */
const READ_NAMES: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'system', 'instructions', 'tools', 'functions', 'stream', 'stream_options'],
  ...['n', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'user', 'metadata', 'background'],
  ...['previous_response_id', 'prompt', 'conversation', 'web_search_options', 'mcp_servers', 'container'],
]);

function toReadBody(route: RouteKind, body: LosslessObject): ReadBody {
  const options = route === 'chat' ? readMember(body, 'stream_options') : null;
  const { input, system } = INPUT_NAMES[route];
  const model = readMember(body, 'model');
  return {
    model: typeof model === 'string' ? model : '',
    isStreamed: STREAMED.has(route) && readMember(body, 'stream') === true,
    isBackground: route === 'responses' && readMember(body, 'background') === true,
    asksForUsage: isObject(options) && readMember(options, 'include_usage') === true,
    endUserId: endUserOf(route, body),
    size: sizeOf(route, body, { choices: choicesOf(route, body), outputTokensMax: outputTokensMaxOf(route, body) }),
    input: inputOf(route, body),
    // fromEntries defines members instead of assigning them, so a member named __proto__ stays plain data.
    params: Object.fromEntries(Object.entries(body).filter(([name]) => name !== input && name !== system)),
  };
}

const STREAMED: ReadonlySet<RouteKind> = new Set(['chat', 'responses', 'messages']);

function choicesOf(route: RouteKind, body: LosslessObject): number {
  return (route === 'chat' ? wholeNumberOf(readMember(body, 'n')) : null) ?? 1;
}

function outputTokensMaxOf(route: RouteKind, body: LosslessObject): number | null {
  if (route === 'embeddings' || route === 'count_tokens') return 0;
  const sent = OUTPUT_LIMITS[route].map((name) => wholeNumberOf(readMember(body, name))).filter((max) => max !== null);
  return sent.length === 0 ? null : Math.max(...sent);
}

/** The largest that is sent counts: some providers know only one of them. */
const OUTPUT_LIMITS: { readonly [route in RouteKind]: readonly string[] } = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  embeddings: [],
  messages: ['max_tokens'],
  count_tokens: [],
};

function endUserOf(route: RouteKind, body: LosslessObject): string | null {
  const metadata = readMember(body, 'metadata');
  const isMessages = dialectOf(route) === 'anthropic';
  const sent = isMessages ? isObject(metadata) && readMember(metadata, 'user_id') : readMember(body, 'user');
  if (typeof sent !== 'string' || sent === '') return null;
  // Budgets have columns of its text, which no database keeps as it is.
  return cutToCharacters(sent, END_USER_CHARACTERS_MAX).replaceAll('\0', '\ufffd').toWellFormed();
}

/** What the gateway itself would misread. A provider might read text as a number or as true. */
function findProblem(route: RouteKind, body: LosslessObject): BodyProblem | null {
  return (
    findModelProblem(body) ??
    findInputProblem(route, body) ??
    findWrong(body, ['stream', 'background'], 'true or false', (value) => typeof value === 'boolean') ??
    findWrong(body, route === 'chat' ? ['stream_options'] : [], 'an object', isObject) ??
    findWrong(body, route === 'chat' ? ['n'] : [], 'a whole number from 1', (value) => isWholeFrom(1, value)) ??
    findWrong(body, OUTPUT_LIMITS[route], 'a whole number', (value) => isWholeFrom(0, value))
  );
}

function findModelProblem(body: LosslessObject): BodyProblem | null {
  const model = readMember(body, 'model');
  if (model === null || model === '') {
    return { code: 'missing_model', message: 'The request body has no model.', param: 'model' };
  }
  if (typeof model !== 'string') return wrongType('model', 'a string', model);
  if (!hasMoreCharactersThan(model, MODEL_CHARACTERS_MAX)) return null;
  return invalid('model', `model must have at most ${MODEL_CHARACTERS_MAX} characters.`);
}

function findInputProblem(route: RouteKind, body: LosslessObject): BodyProblem | null {
  const { input } = INPUT_NAMES[route];
  const value = readMember(body, input);
  // Responses may continue others, and some providers embed messages.
  if (input === 'messages') return isArray(value) ? null : wrongType(input, 'an array', value);
  return findWrong(body, [input], 'a string or an array', (sent) => typeof sent === 'string' || isArray(sent));
}

/** Of members that may be absent or null. */
function findWrong(
  body: LosslessObject,
  names: readonly string[],
  expected: string,
  isRight: (value: LosslessJson) => boolean,
): BodyProblem | null {
  for (const name of names) {
    const value = readMember(body, name);
    if (value !== null && !isRight(value)) return wrongType(name, expected, value);
  }
  return null;
}

function isWholeFrom(min: number, value: LosslessJson): boolean {
  const number = wholeNumberOf(value);
  return number !== null && number >= min;
}

function wrongType(param: string, expected: string, value: LosslessJson): BodyProblem {
  const type = jsonTypeOf(value);
  const sent = type === 'number' || value === null ? '' : `, not ${VOWEL.test(type) ? 'an' : 'a'} ${type}`;
  return invalid(param, `${param} must be ${expected}${sent}.`);
}

const VOWEL = /^[ao]/;

function invalid(param: string | null, message: string): BodyProblem {
  return { code: 'invalid_request', message, param };
}
