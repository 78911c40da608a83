/** REST, one more protocol over the same rpcs: routes and JSON follow from the protos alone. */

import type { Message } from '@bufbuild/protobuf';
import { Fault, type JsonValue, type Reason } from '../../domain/fault.ts';
import { maskTokens } from '../../domain/token-mask.ts';
import { malformed } from '../../json/json-text.ts';
import { hasRequiredField } from '../../rpc/field-rules.ts';
import { requireConnected, toFault } from '../../rpc/invoke.ts';
import type { CallerKind, Request, TolerantHandler } from '../../rpc/method.ts';
import type { RequestQuota } from '../../rpc/quotas.ts';
import { unknownMemberReasons } from '../../rpc/unknown-members.ts';
import type { Problem } from '../../rpc/validate.ts';
import { methodFault } from '../allowed-methods.ts';
import { expectationProblem } from '../expectation.ts';
import { firstHeader } from '../first-header.ts';
import type { CallDeps } from '../grpc.ts';
import { parseCooperatively, type Yielding } from '../json-parse.ts';
import { arrivalOf } from '../origin.ts';
import type { Wire } from '../otlp/wire.ts';
import { isClosed, responseSinkOf } from '../response-watch.ts';
import { type Family, familyOf } from '../status.ts';
import { type BodyLimits, checkDeclaredLength, checkJsonMediaType, isJsonMediaType, readBody } from './body.ts';
import type { BodyWatch } from './body-watch.ts';
import { decodeMessage } from './decode.ts';
import { familyOfPath, faultResponse } from './errors.ts';
import {
  checkSizes,
  type HeadLimits,
  JSON_MEDIA_TYPE,
  type RestRequest,
  type RestResponse,
  respond,
  sizeOf,
} from './exchange.ts';
import type { Inflate } from './inflate.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { type FoundPage, hasEtag, type Pages, pageResponse } from './page.ts';
import { splitTarget } from './path.ts';
import { buildResponseBody } from './response-body.ts';
import type { Route, RouteTable } from './routes.ts';
import { serveStream, watchDisconnect } from './streams/serve-stream.ts';
import { explainMethod, explainMissing, GATEWAY_ALONE } from './unserved.ts';

export type RestDeps = CallDeps &
  HeadLimits & {
    readonly watch: BodyWatch;
    readonly inflate: Inflate;
    /** Resolves in a turn of the event loop of its own. */
    readonly yieldToEventLoop: () => Promise<void>;
    readonly pages: Pages;
    readonly routes: RouteTable;
  };

type Headers = Readonly<Record<string, string>>;

/** Fields of a request with a body are not read from the query. */
const NO_QUERY = new URLSearchParams();
const PAGE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

export type RestHandler = (request: RestRequest, response: RestResponse) => void;

/** The handler of every path that is not an rpc path. */
export function createRest(deps: RestDeps): RestHandler {
  const { routes: table } = deps;
  return (request, response) => {
    const header = firstHeader(request.headers, request.rawHeaders);
    const ids = deps.ids.next(header);
    const startedAtMs = deps.callLog.nowMs();
    const { path, query } = splitTarget(request.url ?? '/');
    // Set once the route is known. `routeHeaders` mark every response of a deprecated route.
    let family: Family | null = null;
    let wire: Wire | null = null;
    let routeHeaders: Headers = {};
    let routeName: string | null = null;
    let caller: CallerKind = 'none';
    serve().catch((error: unknown) => {
      const fault = toFault(error);
      const answer = wire ? wire.refuse(fault, ids) : faultResponse(fault, family ?? familyOfPath(path), ids);
      end(answer.status, fault);
      respond(request, response, ids, { ...answer, headers: { ...routeHeaders, ...answer.headers } });
    });

    function end(status: number, fault: Fault | null): void {
      const { method = null } = request;
      const arrival = arrivalOf(request, false);
      const about = { transport: 'rest' as const, method, route: routeName, path, status, fault, caller };
      deps.callLog.ended({ ...about, arrival, ids, startedAtMs });
    }

    async function serve(): Promise<void> {
      checkSizes(deps, request);
      const unmet = expectationProblem(request);
      if (unmet) throw unmet;
      const match = table.match(request.method ?? 'GET', path);
      const found = match.kind === 'none' ? deps.pages.find(path) : null;
      if (found) {
        await servePage(found);
        return;
      }
      if (match.kind !== 'route') {
        refuseUnrouted(match.kind === 'none' ? null : match.allow);
        return;
      }
      const { route, parameters } = match;
      routeName = route.template;
      family = familyOf(route.method.policy);
      wire = route.openWire?.(request.headers['content-type']) ?? null;
      if (route.legacy) routeHeaders = legacyHeaders(route.legacy.successor, parameters);
      checkDeclaredLength(request, route.method.sizeMaxBytes);
      const { method } = route;
      const origin = deps.originOf(arrivalOf(request, route.takesBody));
      const { quota } = origin;
      const outlet = responseSinkOf(response);
      const call = {
        ...origin,
        isDisconnected: () => isClosed(outlet),
        transport: 'rest' as const,
        header,
        ids,
        onCaller: (kind: CallerKind) => {
          caller = kind;
        },
        pathMessage: () => decodePathMessage(route, parameters),
      };
      const read = () => decode(deps, { request, response, header, route, parameters, query, quota, wire });
      if (method.kind === 'stream') {
        const responses = await deps.invokeStream(method, { ...call, ...watchDisconnect(response) }, read);
        end(method.policy.successStatus, null);
        if (route.streamFormat)
          await serveStream(
            { request, response, ids, family, format: route.streamFormat, secret: method.policy.secret },
            responses,
          );
        return;
      }
      const { message, headers } = await deps.invoke(method, call, read);
      const { conditional, successStatus } = method.policy;
      if (conditional && headers.etag !== undefined && hasEtag(header('if-none-match'), headers.etag)) {
        quota.release();
        end(304, null);
        respond(request, response, ids, { status: 304, headers, body: [], mediaType: JSON_MEDIA_TYPE });
        return;
      }
      try {
        const { yieldToEventLoop } = deps;
        const built = wire
          ? wire.encode(message)
          : successStatus === 204
            ? []
            : buildResponseBody(route.encode(message), {
                yieldToEventLoop,
                requireConnected: () => requireConnected(call),
              });
        const body = built instanceof Promise ? await built : built;
        const bytes = sizeOf(body);
        deps.responses.send({ quota, sink: outlet, bytes, force: !method.isRead });
        end(successStatus, null);
        respond(request, response, ids, {
          status: successStatus,
          headers: { ...routeHeaders, ...headers },
          body,
          mediaType: wire ? wire.mediaType() : JSON_MEDIA_TYPE,
          secret: method.policy.secret,
        });
      } catch (error) {
        quota.release();
        throw error;
      }
    }

    async function servePage({ route, load }: FoundPage): Promise<void> {
      routeName = route;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        refuseUnrouted(PAGE_METHODS);
        return;
      }
      const { remoteAddress, network, isSecure } = deps.originOf(arrivalOf(request, false));
      const page = await load({ query, header, ids, remoteAddress, network, isSecure });
      const answer = pageResponse(page, header('if-none-match'));
      end(answer.status, page.fault ?? null);
      respond(request, response, ids, answer);
    }

    function refuseUnrouted(allow: readonly string[] | null): void {
      if (request.method === 'OPTIONS') {
        const headers = { allow: (allow ?? ['OPTIONS']).join(', ') };
        end(204, null);
        respond(request, response, ids, { status: 204, headers, body: [], mediaType: JSON_MEDIA_TYPE });
        return;
      }
      throw allow === null
        ? new Fault('route_not_found', deps.methods.length === 0 ? GATEWAY_ALONE : explainMissing(path))
        : methodFault(allow, explainMethod(path));
    }
  };
}

type JsonReading = Pick<TolerantHandler, 'spelling' | 'anyMediaType' | 'reword'>;
type Reading = BodyLimits & Yielding;

type Exchange = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly header: (name: string) => string | undefined;
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: string;
  readonly quota: RequestQuota;
  /** Set on the routes of OpenTelemetry. */
  readonly wire: Wire | null;
};

function decode(deps: RestDeps, exchange: Exchange): Request | Promise<Request> {
  const { request, response, route, wire } = exchange;
  const { handler } = route.method;
  if (!route.takesBody) return { kind: 'message', ...decodeMessage(route.method.desc.input, partsOf(exchange)) };
  if (request.headers.expect !== undefined) response.writeContinue();
  const limits: Reading = {
    runCooperatively: deps.runCooperatively,
    yieldToEventLoop: deps.yieldToEventLoop,
    sizeMaxBytes: route.method.sizeMaxBytes,
    watch: deps.watch,
    reading: deps.reading,
    inflate: deps.inflate,
    owner: exchange.quota.owner,
    onBytes: exchange.quota.receive,
  };
  if (wire) return readBody(request, limits).then((bytes) => wire.decode(bytes, limits));
  return 'readJson' in handler ? decodeJson(request, limits, handler) : decodeTyped(exchange, limits);
}

/** The request message with the path parameters alone. */
function decodePathMessage({ method }: Route, parameters: Exchange['parameters']): Message {
  const nothing = { query: NO_QUERY, body: null, nullIsAbsent: false };
  return decodeMessage(method.desc.input, { parameters, ...nothing }).message;
}

/** The parts of a request without a body. */
function partsOf({ parameters, query, header }: Exchange) {
  return { parameters, query: new URLSearchParams(query), header, body: null, nullIsAbsent: false };
}

async function decodeJson(request: RestRequest, limits: Reading, handler: JsonReading): Promise<Request> {
  const { spelling, anyMediaType, reword } = handler;
  const contentType = request.headers['content-type'];
  try {
    const bytes = await readBody(request, limits);
    if (anyMediaType !== true || isJsonMediaType(contentType)) checkJsonMediaType(contentType);
    try {
      const parsed = parseCooperatively(bytes, spelling, limits);
      const { value, facts } = parsed instanceof Promise ? await parsed : parsed;
      return { kind: 'json', value, facts };
    } catch (error) {
      // A body that is not JSON is refused for its media type first.
      if (error instanceof Fault && error.code === 'malformed_request') checkJsonMediaType(contentType);
      throw error;
    }
  } catch (error) {
    throw reword && error instanceof Fault ? reword(error) : error;
  }
}

async function decodeTyped({ request, header, route, parameters }: Exchange, limits: Reading): Promise<Request> {
  const { method, verb } = route;
  const { input } = method.desc;
  const { nullIsAbsent, nullUnsets } = method.policy;
  const bytes = await readBody(request, limits);
  const isLeftOut = bytes.length === 0 && verb !== 'PATCH' && !hasRequiredField(input);
  const body = isLeftOut ? {} : await readObject(request, bytes, limits);
  const parts = { parameters, query: NO_QUERY, header, body, nullIsAbsent, nullUnsets };
  const { message, problems } = decodeMessage(input, parts);
  const unknown = method.policy.refuseUnknown ? unknownMemberReasons(body, method.desc, { nullIsAbsent }) : [];
  return { kind: 'message', message, problems: [...problems, ...unknown.map(inBody)] };
}

function inBody(reason: Reason): Problem {
  return { ...reason, target: 'json' };
}

function readObject(request: RestRequest, bytes: Buffer, limits: Reading): JsonObject | Promise<JsonObject> {
  checkJsonMediaType(request.headers['content-type']);
  const parsed = parseCooperatively(bytes, 'tokens', limits);
  return parsed instanceof Promise ? parsed.then(requireObject) : requireObject(parsed);
}

function requireObject({ value }: { readonly value: JsonValue }): JsonObject {
  if (!isJsonObject(value)) throw malformed('The request body must be a JSON object.', 'not an object');
  return value;
}

/** The headers that name the successor of a deprecated route. */
function legacyHeaders(successor: string, parameters: Readonly<Record<string, string>>): Headers {
  const link = successor.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) =>
    encodeURIComponent(maskTokens(parameters[name] ?? '')),
  );
  return { deprecation: 'true', link: `<${link}>; rel="successor-version"` };
}
