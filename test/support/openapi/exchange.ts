/** Checks requests and answers of tests against the OpenAPI document, to keep it correct. */

import { answerCheck, type Check, OPENAPI, requestCheck } from './document.ts';

export type Exchange = {
  readonly verb: string;
  /** With its query. */
  readonly path: string;
  /** The body sent; undefined without one, or if it was not a text. */
  readonly body: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** Throws an Error that lists how document and exchange differ. */
export function checkExchange(exchange: Exchange): void {
  const problems = findProblems(exchange);
  if (problems.length === 0) return;
  const { verb, path, status, text, body } = exchange;
  const sent = body === undefined ? '' : `\nsent: ${body.slice(0, 1_000)}`;
  throw new Error(
    `gen/openapi.json does not have this: ${verb} ${path} ${status}\n${problems.slice(0, 10).join('\n')}${sent}\nanswered: ${text.slice(0, 2_000)}`,
  );
}

function findProblems(exchange: Exchange): string[] {
  const { verb, path, status } = exchange;
  if (verb === 'HEAD' || verb === 'OPTIONS') return [];
  if (BEFORE_ROUTES.has(status)) return checkAnswer(exchange, `#/components/responses/${BEFORE_ROUTES.get(status)}`);
  const template = findTemplate(path);
  if (template === null) return checkAnswer(exchange, '#/components/responses/RouteNotFound', 404);
  const operation = OPENAPI.paths[template][verb.toLowerCase()];
  if (operation === undefined) return checkAnswer(exchange, '#/components/responses/MethodNotAllowed', 405);
  const pointer = `#/paths/${escapePointer(template)}/${verb.toLowerCase()}`;
  const response = operation.responses[status];
  if (response === undefined) return [`the operation has no answer ${status}`];
  if (WITHOUT_BODY.has(status)) return [];
  const answered = checkAnswer(exchange, response.$ref ?? `${pointer}/responses/${status}`);
  return status < 300 ? [...answered, ...checkSent(exchange, operation, pointer)] : answered;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

/** Statuses of refusals before routing. */
const BEFORE_ROUTES: ReadonlyMap<number, string> = new Map([
  [414, 'UriTooLong'],
  [417, 'ExpectationFailed'],
  [431, 'HeadersTooLarge'],
]);

function checkAnswer({ status, text, headers }: Exchange, pointer: string, expected = status): string[] {
  if (status !== expected) return [`there is no such route in the document, and the answer is not ${expected}`];
  const response = resolve(pointer);
  const mediaType = mediaTypeOf(headers);
  if (!(mediaType in response.content)) return [`the media type ${mediaType} is not in the document`];
  const missing = Object.keys(response.headers ?? {}).filter((name) => headers.get(name) === null);
  const problems = missing.map((name) => `the header ${name} is missing`);
  if (mediaType !== 'application/json' && mediaType !== LINES) return problems;
  const check = answerCheck(`${pointer}/content/${escapePointer(mediaType)}/schema`);
  return [...problems, ...valuesOf(mediaType, text).flatMap((value) => check(value))];
}

const LINES = 'application/x-ndjson';

function valuesOf(mediaType: string, text: string): unknown[] {
  const texts = mediaType === LINES ? text.split('\n').filter((line) => line !== '') : [text];
  return texts.map((each) => JSON.parse(each));
}

function mediaTypeOf(headers: Headers): string {
  return headers.get('content-type')?.split(';')[0] ?? '';
}

function checkSent({ path, body, text, headers }: Exchange, operation: Operation, pointer: string): string[] {
  const problems = checkQuery(path, operation, pointer);
  if (body === undefined || body === '' || operation.requestBody === undefined) return problems;
  if (mediaTypeOf(headers) === 'application/json' && refusedItems(JSON.parse(text))) return problems;
  const check = requestCheck(`${pointer}/requestBody/content/application~1json/schema`);
  return [...problems, ...check(JSON.parse(body.replace(/^\uFEFF/, '')))];
}

// biome-ignore lint/suspicious/noExplicitAny: an operation holds arbitrary JSON.
type Operation = any;

/** Whether the server refused items of the body; those need not match the document. */
function refusedItems({ partialSuccess, rejected }: Operation): boolean {
  const isPartial = (partialSuccess?.rejectedSpans ?? 0) + (partialSuccess?.rejectedEvaluations ?? 0) > 0;
  return isPartial || (partialSuccess?.errorMessage ?? '') !== '' || (Array.isArray(rejected) && rejected.length > 0);
}

function checkQuery(path: string, operation: Operation, pointer: string): string[] {
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  const parameters: Operation[] = operation.parameters ?? [];
  return parameters.flatMap(({ name, in: location, schema, content, required }, index) => {
    if (location !== 'query') return [];
    const value = query.get(name);
    if (value === null) return required ? [`the query lacks ${name}`] : [];
    // Any JSON is valid.
    if (content !== undefined) return [];
    const check: Check = requestCheck(`${pointer}/parameters/${index}/schema`);
    return check(readText(value, schema.type)).map((problem) => `query ${name}: ${problem}`);
  });
}

function readText(text: string, type: string): unknown {
  if (type === 'array') return text.split(',');
  if (type === 'integer' && /^\d+$/.test(text)) return Number(text);
  return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

type Template = { readonly template: string; readonly segments: readonly string[] };

const TEMPLATES: readonly Template[] = Object.keys(OPENAPI.paths).map((template) => ({
  template,
  segments: template.slice(1).split('/'),
}));

/** The match with fewest parameters. */
function findTemplate(path: string): string | null {
  const actual = segmentsOf(path);
  if (actual === null) return null;
  const fitting = TEMPLATES.filter(({ segments }) => fits(segments, actual));
  const best = fitting.toSorted((one, other) => parametersIn(one) - parametersIn(other));
  return best[0]?.template ?? null;
}

/** Decodes segments and joins repeated slashes; null for a broken escape. Only the collector and OTLP allow a final slash. */
function segmentsOf(path: string): string[] | null {
  const [raw = ''] = path.split('?');
  const segments = raw
    .replace(/\/{2,}/g, '/')
    .replace(/^(\/api\/collector|.*\/v1\/(?:traces|logs|metrics))\/$/, '$1')
    .slice(1)
    .split('/');
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return null;
  }
}

function fits(segments: readonly string[], actual: readonly string[]): boolean {
  if (segments.length !== actual.length) return false;
  return segments.every((segment, index) => (isParameter(segment) ? actual[index] !== '' : segment === actual[index]));
}

function parametersIn({ segments }: Template): number {
  return segments.filter(isParameter).length;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function resolve(pointer: string): Operation {
  return pointer
    .slice(2)
    .split('/')
    .map((part) => decodeURI(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, part) => value[part], OPENAPI);
}

function escapePointer(part: string): string {
  return encodeURI(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
