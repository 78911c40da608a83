/** google.api.http annotations -> a route table, compiled once. Throws at start where routes collide. */

import type { DescMessage, DescMethodServerStreaming } from '@bufbuild/protobuf';
import type { HttpRule } from '../../../gen/google/api/http_pb.js';
import { RestStream } from '../../../gen/spandrel/v1/options_pb.js';
import type { Method, StreamMethod, UnaryMethod } from '../../rpc/method.ts';
import { httpRule, pathParameters, restFlags, routeOf } from '../../rpc/rest-shape.ts';
import { openWire, type Wire } from '../otlp/wire.ts';
import { familyOf } from '../status.ts';
import { compileChunks, type WriteChunks } from './encode.ts';
import { familyOfPath } from './errors.ts';
import { JSON_MEDIA_TYPE } from './exchange.ts';
import { splitPath } from './path.ts';
import { compileArray } from './streams/array.ts';
import { compileEvents } from './streams/events.ts';
import type { StreamFormat } from './streams/format.ts';
import { compileLines } from './streams/lines.ts';

export type Route = {
  readonly method: Method;
  readonly verb: string;
  /** As it was declared. */
  readonly template: string;
  /** True when the whole body is the request. */
  readonly takesBody: boolean;
  /** Set on a deprecated route. */
  readonly legacy: { readonly successor: string } | null;
  /** Writes the response. */
  readonly encode: WriteChunks;
  readonly segments: readonly Segment[];
  /** The values of fields that this path implies, by field name. */
  readonly constants: Readonly<Record<string, string>>;
  /** Set where requests and responses are in the format of OpenTelemetry and not in that of this server. */
  readonly openWire?: (mediaType: string | undefined) => Wire;
  /** Set for a stream of responses, which is not written by `encode`. */
  readonly streamFormat?: StreamFormat;
};

type Segment = { readonly literal: string } | { readonly parameter: string };

type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  | { readonly kind: 'other_method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' };

export type RouteTable = { match(verb: string, path: string): Match };

/** `path` of a match is the raw path without its query. */
export function compileRoutes(methods: readonly Method[]): RouteTable {
  const routes = methods.map(writtenAs).flatMap(routesOfMethod);
  checkCollisions(routes);
  // The path with the most literal segments wins, for any verbs: /events/types is never an event named "types".
  const bySize = Map.groupBy(
    routes.toSorted((one, other) => literalCount(other) - literalCount(one)),
    (route) => route.segments.length,
  );
  const literal = new Map(
    routes.filter(isLiteral).map((route) => [`${route.verb} ${pathOf(route)}`, literalMatch(route)]),
  );
  return {
    match(verb, path) {
      const exact = literal.get(`${verb} ${path}`);
      if (exact) return exact;
      const segments = splitPath(path);
      if (!segments) return NONE;
      // A path with a trailing slash matches only the few routes that allow it.
      const dropped = segments.at(-1) === '' ? segments.slice(0, -1) : null;
      const candidates = dropped
        ? (bySize.get(dropped.length) ?? []).filter((route) => route.method.policy.trailingSlash)
        : (bySize.get(segments.length) ?? []);
      return pick(candidates, verb, dropped ?? segments);
    },
  };
}

const NONE: Match = { kind: 'none' };

/** A route without parameters. Most requests go to such a route, and are found without a search. */
function isLiteral(route: Route): boolean {
  return literalCount(route) === route.segments.length;
}

function pathOf(route: Route): string {
  return `/${route.segments.map((segment) => ('literal' in segment ? segment.literal : '')).join('/')}`;
}

function literalMatch(route: Route): Match {
  return { kind: 'route', route, parameters: route.constants };
}

/** `candidates` begin with those that have the most literal segments. */
function pick(candidates: readonly Route[], verb: string, segments: readonly string[]): Match {
  const wanted = verb === 'HEAD' ? 'GET' : verb;
  const others: string[] = [];
  let literals = 0;
  for (const route of candidates) {
    if (!fits(route, segments)) continue;
    if (others.length > 0 && literalCount(route) < literals) break;
    if (route.verb === wanted) return { kind: 'route', route, parameters: parametersOf(route, segments) };
    literals = literalCount(route);
    others.push(route.verb);
  }
  if (others.length === 0) return NONE;
  const verbs = new Set(others);
  if (verbs.has('GET')) verbs.add('HEAD');
  return { kind: 'other_method', allow: [...verbs, 'OPTIONS'] };
}

function fits({ segments: expected }: Route, segments: readonly string[]): boolean {
  for (let at = 0; at < expected.length; at += 1) {
    const segment = expected[at] as Segment;
    const actual = segments[at];
    if ('literal' in segment ? segment.literal !== actual : actual === undefined || actual === '') return false;
  }
  return true;
}

function literalCount(route: Route): number {
  return route.segments.filter((segment) => 'literal' in segment).length;
}

function parametersOf(route: Route, segments: readonly string[]): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = { ...route.constants };
  for (const [at, segment] of route.segments.entries()) {
    const actual = segments[at];
    if (!('parameter' in segment) || actual === undefined) continue;
    const { parameter } = segment;
    // Two segments of one parameter are its parts before and after a slash.
    const before = isParameter(route.segments[at - 1], parameter) ? `${parameters[parameter]}/` : '';
    parameters[parameter] = before + actual;
  }
  return parameters;
}

function isParameter(segment: Segment | undefined, name: string): boolean {
  return segment !== undefined && 'parameter' in segment && segment.parameter === name;
}

/** A response that its handler opens in parts is written as a stream. */
function writtenAs(method: Method): Method {
  return method.kind === 'unary' ? (method.inParts ?? method) : method;
}

function routesOfMethod(method: Method): Route[] {
  if (method.kind === 'unary' && method.otlpPaths) return method.otlpPaths.map((path) => otlpRoute(method, path));
  const rule = httpRule(method.desc);
  const current = leaveOutOthers([rule, ...rule.additionalBindings].map((each) => routeOfRule(method, each)));
  const legacy = method.policy.legacy.map(({ path, successor, omit }) =>
    createRoute(method, path, { legacy: { successor }, encode: compileChunks(method.desc.output, new Set(omit)) }),
  );
  return [...current, ...legacy].flatMap(withSlash);
}

/** A second route for a parameter that may have a slash. */
function withSlash(route: Route): readonly Route[] {
  const { input } = route.method.desc;
  const slashed = new Set(input.fields.filter((field) => restFlags(field).oneSlash).map(({ name }) => name));
  const twice = route.segments.flatMap((segment) =>
    'parameter' in segment && slashed.has(segment.parameter) ? [segment, segment] : [segment],
  );
  return twice.length === route.segments.length ? [route] : [route, { ...route, segments: twice }];
}

/** A route that reads and has no constants, unless `parts` say otherwise. */
function createRoute(method: Method, template: string, parts: Partial<Route>): Route {
  const { constants = {} } = parts;
  return {
    method,
    verb: 'GET',
    template,
    takesBody: false,
    legacy: null,
    encode: compileChunks(method.desc.output),
    segments: parseTemplate(method, template, constants),
    constants,
    ...parts,
  };
}

/** A parameter that only another path of the same rpc has is set to empty, so that the body cannot set it. */
function leaveOutOthers(routes: readonly Route[]): Route[] {
  const none = Object.fromEntries(routes.flatMap(({ template }) => pathParameters(template)).map((name) => [name, '']));
  return routes.map((route) => ({ ...route, constants: { ...none, ...route.constants } }));
}

function routeOfRule(method: Method, rule: HttpRule): Route {
  const { verb, template, constants } = routeOf(rule);
  if (rule.body !== '' && rule.body !== '*') throw new Error(`${method.path}: a body must be "*" or absent`);
  if (familyOfPath(template) !== familyOf(method.policy)) {
    throw new Error(`${method.path}: the error family of the policy is not that of ${template}`);
  }
  const parts = { verb, constants, takesBody: rule.body === '*' };
  if (method.kind === 'unary') return createRoute(method, template, parts);
  return createRoute(method, template, { ...parts, streamFormat: compileStreamFormat(method) });
}

/** Throws where the response messages do not fit the format of their stream. */
function compileStreamFormat({ desc, policy }: StreamMethod): StreamFormat {
  const compile = STREAM_FORMATS.get(policy.stream);
  if (compile === undefined) throw new Error(`${desc.name}: the policy does not say how the stream leaves over REST`);
  return compile(desc);
}

type Compile = (desc: DescMethodServerStreaming) => StreamFormat;

const STREAM_FORMATS: ReadonlyMap<RestStream, Compile> = new Map<RestStream, Compile>([
  [
    RestStream.UNSPECIFIED,
    ({ output }) => ({ mediaType: JSON_MEDIA_TYPE, isLive: false, start: compileArray(output) }),
  ],
  [
    RestStream.LINES,
    ({ output }) => ({ mediaType: 'application/x-ndjson', isLive: false, start: compileLines(output) }),
  ],
  [
    RestStream.EVENTS,
    ({ output }) => ({ mediaType: 'text/event-stream; charset=utf-8', isLive: true, start: compileEvents(output) }),
  ],
]);

function otlpRoute(method: UnaryMethod, path: string): Route {
  return createRoute(method, path, {
    verb: 'POST',
    takesBody: true,
    openWire: (mediaType) => openWire(method, mediaType),
  });
}

function parseTemplate(method: Method, template: string, constants: Route['constants']): Segment[] {
  const names = [...pathParameters(template), ...Object.keys(constants)];
  for (const name of names) checkField(method.desc.input, name, method);
  return template
    .slice(1)
    .split('/')
    .map((part) => (part.startsWith('{') ? { parameter: part.slice(1, -1) } : { literal: part }));
}

function checkField(input: DescMessage, name: string, method: Method): void {
  const field = input.fields.find((each) => each.name === name);
  if (!field) throw new Error(`${method.path}: the route names an unknown field ${name}`);
}

function checkCollisions(routes: readonly Route[]): void {
  const seen = new Map<string, Method>();
  for (const route of routes) {
    const shape = route.segments.map((segment) => ('literal' in segment ? segment.literal : '{}')).join('/');
    const key = `${route.verb} /${shape}`;
    const other = seen.get(key);
    if (other) throw new Error(`${key} is the route of both ${other.path} and ${route.method.path}`);
    seen.set(key, route.method);
  }
}
