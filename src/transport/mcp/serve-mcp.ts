/** The Model Context Protocol at POST /mcp: streamable HTTP without sessions, so that any process can serve any request. */

import { create } from '@bufbuild/protobuf';
import { Credential } from '../../../gen/spandrel/v1/options_pb.js';
import { Fault } from '../../domain/fault.ts';
import { toFault } from '../../rpc/invoke.ts';
import type { CallerKind, CallIds, Request as DecodedRequest, UnaryMethod } from '../../rpc/method.ts';
import { methodFault } from '../allowed-methods.ts';
import { firstHeader } from '../first-header.ts';
import type { CallDeps } from '../grpc.ts';
import { parseCooperatively, type Yielding } from '../json-parse.ts';
import { arrivalOf } from '../origin.ts';
import { isClosed, responseSinkOf } from '../response-watch.ts';
import { checkDeclaredLength, checkJsonMediaType, readBody } from '../rest/body.ts';
import type { BodyWatch } from '../rest/body-watch.ts';
import { decodeMessage } from '../rest/decode.ts';
import { faultResponse } from '../rest/errors.ts';
import { JSON_MEDIA_TYPE, type RestRequest, type RestResponse, respond } from '../rest/exchange.ts';
import type { Inflate } from '../rest/inflate.ts';
import { isJsonObject, type JsonObject } from '../rest/json-object.ts';
import { splitTarget } from '../rest/path.ts';
import type { RestHandler } from '../rest/rest.ts';
import type { RouteTable } from '../rest/routes.ts';
import { statusOf } from '../status.ts';
import { callTool, queryOf, type ToolDeps } from './call-tool.ts';
import type { ToolRequest } from './tool-parts.ts';
import { TOOLS } from './tools.ts';

export type McpDeps = CallDeps &
  Yielding & {
    readonly watch: BodyWatch;
    readonly inflate: Inflate;
    readonly version: string;
    readonly routes: RouteTable;
  };

const PATH = '/mcp';
const BODY_MAX_BYTES = 1_048_576;
/** Pages of routes end after about as many bytes; answers to callers have a tenth of them. */
const PAGE_MAX_BYTES = 262_144;
/** Encoded in one turn of the event loop, or a little more. */
const TURN_BYTES = 65_536;
/** Any credential of a header may read whose it is. */
const WHO = ['GET', '/api/auth/session'] as const;
/** Headers of the protocol itself. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version'];
const NO_QUERY = new URLSearchParams();
const ABOUT =
  'Traces, analytics, spend, evaluators and datasets of applications that use language models. Begin with search_traces or analytics; answers are short, and go on with next_cursor.';

/** Serves /mcp, and passes all else on. */
export function withMcp(next: RestHandler, deps: McpDeps): RestHandler {
  const { routes: table } = deps;
  const found = table.match(...WHO);
  // A gateway alone has no such method, and no tools.
  if (found.kind !== 'route' || found.route.method.kind !== 'unary') return next;
  const reading = found.route.method;
  // The tools are those of a project: a key that names none is refused before its message is read.
  const whoami = { ...reading, policy: { ...reading.policy, credential: Credential.PROJECT } };
  return (request, response) => {
    if (splitTarget(request.url ?? '/').path !== PATH || request.method === 'OPTIONS') next(request, response);
    else serve(request, response);
  };

  function serve(request: RestRequest, response: RestResponse): void {
    const sentHeader = firstHeader(request.headers, request.rawHeaders);
    const ids = deps.ids.next(sentHeader);
    const exchange = { request, response, ids, startedAtMs: deps.callLog.nowMs(), caller: 'none' as CallerKind };
    // A page of another site could use the session of a browser, so a cookie is not a credential here.
    const header = (name: string) => (name === 'cookie' ? undefined : sentHeader(name));
    answer(exchange, header).catch((error: unknown) => {
      const fault = toFault(error);
      end(exchange, PATH, fault);
      respond(request, response, ids, faultResponse(fault, 'flat', ids));
    });
  }

  async function answer(exchange: Exchange, header: Header): Promise<void> {
    const { request, response, ids } = exchange;
    if (request.method !== 'POST') throw methodFault(['POST'], 'There are no sessions and no streams: send POST.');
    checkDeclaredLength(request, BODY_MAX_BYTES);
    const message = await receive(exchange, header);
    let tool: string | null = null;
    const onTool = (name: string) => {
      tool = name;
    };
    const headers = new Headers();
    for (const name of PROTOCOL_HEADERS) {
      const sent = header(name);
      // An empty version is refused, and one that is not sent is the first.
      if (sent !== undefined) headers.set(name, sent);
    }
    const { status, body } = await converse(message, headers, {
      tools: { ask: askAs(exchange, header), runCooperatively: deps.runCooperatively },
      version: deps.version,
      onTool,
    });
    end(exchange, tool === null ? PATH : `${PATH} ${tool}`, null, status);
    respond(request, response, ids, { status, headers: {}, body: [body], mediaType: JSON_MEDIA_TYPE });
  }

  /** The body of a caller who has proved who it is. */
  async function receive(exchange: Exchange, header: Header): Promise<JsonObject> {
    const { request, response } = exchange;
    let message: JsonObject | null = null;
    await invoke(whoami, { exchange, header, hasBody: true }, async (quota) => {
      if (request.headers.expect !== undefined) response.writeContinue();
      const { watch, inflate, reading } = deps;
      const limits = { watch, inflate, reading, sizeMaxBytes: BODY_MAX_BYTES };
      const bytes = await readBody(request, { ...limits, owner: quota.owner, onBytes: quota.receive });
      checkJsonMediaType(request.headers['content-type']);
      const { value } = await parseCooperatively(bytes, 'values', deps);
      if (!isJsonObject(value)) throw new Fault('malformed_request', 'The request body must be one JSON-RPC message.');
      message = value;
      return { kind: 'message', message: create(whoami.desc.input), problems: [] };
    });
    if (message === null) throw new Error('the body was not read');
    return message;
  }

  function askAs(exchange: Exchange, header: Header): ToolDeps['ask'] {
    return async ({ verb, path, query = {}, body }: ToolRequest, maxBytes) => {
      const match = table.match(verb, path);
      const method = match.kind === 'route' ? match.route.method : null;
      if (match.kind !== 'route' || method?.kind !== 'unary')
        throw new Fault('route_not_found', 'There is no such route.');
      const { route, parameters } = match;
      const { message } = await invoke(method, { exchange, header, hasBody: false }, async () => {
        const bytes = Buffer.from(JSON.stringify(body ?? {}));
        if ('readJson' in method.handler) {
          const parsed = await parseCooperatively(bytes, method.handler.spelling, deps);
          return { kind: 'json', ...parsed };
        }
        const { nullIsAbsent, nullUnsets } = method.policy;
        const parsed = route.takesBody ? (await parseCooperatively(bytes, 'tokens', deps)).value : null;
        const parts = { parameters, header, query: route.takesBody ? NO_QUERY : queryOf(query) };
        return {
          kind: 'message',
          ...decodeMessage(method.desc.input, {
            ...parts,
            body: parsed as JsonObject | null,
            nullIsAbsent,
            nullUnsets,
          }),
        };
      });
      return await read(route.encode(message), maxBytes);
    };
  }

  /** Answers may be large: they are encoded and parsed over several turns of the event loop. */
  async function read(texts: Iterable<string>, maxBytes: number): Promise<JsonObject | null> {
    const parts: Buffer[] = [];
    let [bytes, sinceTurn] = [0, 0];
    for (const text of texts) {
      const part = Buffer.from(text);
      parts.push(part);
      bytes += part.length;
      sinceTurn += part.length;
      if (bytes > maxBytes) return null;
      if (sinceTurn < TURN_BYTES) continue;
      await deps.yieldToEventLoop();
      sinceTurn = 0;
    }
    try {
      const { value } = await parseCooperatively(Buffer.concat(parts), 'values', deps);
      return isJsonObject(value) ? value : null;
    } catch (error) {
      // It has more parts than may be parsed.
      if (error instanceof Fault) return null;
      throw error;
    }
  }

  async function invoke(method: UnaryMethod, { exchange, header, hasBody }: Calling, decode: Decoding) {
    const { request, response, ids } = exchange;
    const origin = deps.originOf(arrivalOf(request, hasBody));
    const sink = responseSinkOf(response);
    const call = {
      ...origin,
      ...{
        transport: 'rest' as const,
        header,
        ids,
        isDisconnected: () => isClosed(sink),
        answerMaxBytes: PAGE_MAX_BYTES,
      },
      onCaller: (kind: CallerKind) => {
        exchange.caller = kind;
      },
    };
    try {
      return await deps.invoke(method, call, () => decode(origin.quota));
    } finally {
      origin.quota.release();
    }
  }

  function end(exchange: Exchange, route: string, fault: Fault | null, status?: number): void {
    const { request, ids, startedAtMs, caller } = exchange;
    const { method = null } = request;
    const about = { transport: 'rest' as const, method, route, path: PATH, fault, caller, ids, startedAtMs };
    const ended = status ?? (fault === null ? 200 : statusOf(fault, 'flat'));
    deps.callLog.ended({ ...about, status: ended, arrival: arrivalOf(request, false) });
  }
}

type Header = (name: string) => string | undefined;
type Exchange = {
  readonly request: RestRequest;
  readonly response: RestResponse;
  readonly ids: CallIds;
  readonly startedAtMs: number;
  caller: CallerKind;
};
type Calling = { readonly exchange: Exchange; readonly header: Header; readonly hasBody: boolean };
type Quota = ReturnType<CallDeps['originOf']>['quota'];
type Decoding = (quota: Quota) => Promise<DecodedRequest>;

type Conversation = { readonly tools: ToolDeps; readonly version: string; readonly onTool: (name: string) => void };

/** Passes one message to the library of the protocol, which is loaded with the first one, and returns its answer. */
async function converse(message: JsonObject, headers: Headers, { tools, version, onTool }: Conversation) {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const server = new Server({ name: 'spandrel', version }, { capabilities: { tools: {} }, instructions: ABOUT });
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: listTools() }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined) throw new types.McpError(types.ErrorCode.InvalidParams, `there is no tool ${params.name}`);
    onTool(tool.name);
    try {
      return {
        content: [{ type: 'text' as const, text: await callTool(tool, (params.arguments ?? {}) as JsonObject, tools) }],
      };
    } catch (error) {
      const fault = toFault(error);
      const { reasons } = fault.meta;
      const more = reasons === undefined ? '' : ` ${JSON.stringify(reasons).slice(0, 2_000)}`;
      return { content: [{ type: 'text' as const, text: `${fault.code}: ${fault.message}${more}` }], isError: true };
    }
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const request = new Request(`http://localhost${PATH}`, { method: 'POST', headers });
    const response = await transport.handleRequest(request, { parsedBody: message });
    return { status: response.status, body: await response.text() };
  } finally {
    await server.close();
  }
}

function listTools() {
  return TOOLS.map(({ name, description, isRead, properties, required }) => ({
    ...{ name, description, annotations: { readOnlyHint: isRead, destructiveHint: false } },
    inputSchema: {
      type: 'object' as const,
      properties: { ...properties },
      required: [...required],
      additionalProperties: false,
    },
  }));
}
